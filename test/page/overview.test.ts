import { describe, expect, onTestFinished, test } from 'vitest'
import { findGaps } from '../../src/findings/findGaps.ts'
import { htmlText } from '../../src/page/html.ts'
import { readOverview } from '../../src/page/queries/overviewData.ts'
import { readNamedLine } from '../../src/page/queries/series/seriesQuery.ts'
import { readCoverage, readSeriesCoverage } from '../../src/page/views/coverageData.ts'
import { seriesCoverageView } from '../../src/page/views/coveragePage.ts'
import { WORDS } from '../../src/page/words/words.ts'
import { findFailedRuns } from '../../src/state/lastRuns.ts'
import { StoreError } from '../../src/util/errors.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { emulate, judgeAgain, ms, runJob, tempStore } from '../support/kit.ts'
import { onlyInFile } from '../support/onServer.ts'
import { openReader, type Store } from '../support/testStore.ts'
import { requestOf } from './askPage.ts'
import { scansOf } from './plans.ts'
import { filledFile, servePage, sharedFile } from './site.ts'

const get = async (address: string, headers: Record<string, string> = {}): Promise<string> =>
  (await fetch(address, { headers })).text()

describe('the overview', () => {
  test('the overview shows failed requests with their error and what to do', async () => {
    const { url } = await servePage(await sharedFile())
    const text = await get(`${url}/`)
    expect(text).toContain('Practice data, not real: 4 series from a server on this computer, such as the emulator.')
    expect(text).toContain('1 request failed and has not succeeded since.')
    expect(text).toContain('/offer_indicators/25')
    expect(text).toContain(
      'Correct offers[0] of job test, then run the job: the service would reject the same request again',
    )
    expect(text).toContain('<code data-copy>npx indicator-sync sync test.yaml</code>')
  })

  test('an id that the service does not know is one problem, whose command runs the corrected job', async () => {
    const status = (path: string) => (path.includes('99999') ? 404 : undefined)
    const store = await tempStore()
    const market = await startHourlyService({ status })
    const job = 'series: [{ indicators: [1, 99999], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]'
    await market.run(store, job, '2025-11-04T12:00:00Z')
    const { url } = await servePage(store.file)
    const { health } = JSON.parse(await get(`${url}/index.json`))
    expect(health.findings).toMatchObject([
      { kind: 'unknown id', subject: 'indicator 99999', command: 'npx indicator-sync sync test.yaml' },
    ])
    const [, problems = ''] = /<section class="health problems"([\s\S]*?)<\/section>/.exec(
      await get(`${url}/?lang=en`),
    )!
    expect(problems.match(/99999/g)).not.toBeNull()
    expect(problems).toContain('The service does not know indicator 99999. Correct the id in the job test.yaml.')
    expect(problems).toContain('<code data-copy>npx indicator-sync sync test.yaml</code>')
    const coverage = await get(`${url}/coverage/99999?lang=en`)
    expect(coverage).toContain('The service does not know indicator 99999. Correct the id in the job test.yaml.')
    expect(coverage).not.toMatch(/indicator-sync (?:retry|restate)/)
    const reader = openReader(store.file)
    onTestFinished(() => reader.close())
    expect((await findGaps(reader)).map(({ indicator_id, command }) => [indicator_id, command])).toEqual([
      [99999, null],
    ])
  })

  test('the coverage of a geo without any value says what to correct, in place of a command', async () => {
    const store = await tempStore()
    const market = await startHourlyService({ geos: [3] })
    const job = 'series: [{ indicators: [1], geoIds: [3, 99], window: { from: 2025-10-01, to: 2025-10-03 } }]'
    await market.run(store, job, '2025-11-04T12:00:00Z')
    const { url } = await servePage(store.file)
    const coverage = await get(`${url}/coverage/1?lang=en&geo=99`)
    expect(coverage).toMatch(/no response has had a value for geo 99\. [\s\S]* the job test\.yaml\. Values exist for 3/)
    expect(coverage).not.toMatch(/indicator-sync (?:retry|restate)/)
  })

  /** The problems of an overview: the text and the command of each. */
  const problemsOf = async (url: string): Promise<[string, string][]> => {
    const [, section = ''] =
      /<section class="health problems"([\s\S]*?)<\/section>/.exec(await get(`${url}/?lang=en`)) ?? []
    return [...section.matchAll(/<ul>(.*?)<\/ul>.*?<code data-copy>([^<]*)</gs)].map(([, items, command]) => [
      items!.replaceAll(/<[^>]*>/g, ' ').trim(),
      command!,
    ])
  }
  const JOB = 'series: [{ indicators: [1, 2, 3], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]'
  const OTHER = 'name: other\nseries: [{ indicators: [600], window: { from: 2025-10-01, to: 2025-10-03 } }]'

  test('an outage is one problem with one command, however many requests failed', async () => {
    const store = await tempStore()
    const status = () => 400
    await runJob(store, await startHourlyService({ status }), JOB, { now: ms('2025-11-04T12:00:00Z') })
    await store.write(async () => store.run(`update _run set outcome = 'failed', message = 'no network'`, []))
    const { url } = await servePage(store.file)
    const problems = await problemsOf(url)
    expect(problems).toHaveLength(1)
    expect(problems[0]![0]).toMatch(/The last run of test failed/)
    expect(problems[0]![1]).toMatch(/^npx indicator-sync sync /)
  })

  test('a refused key is one problem, whose command says how to set it', async () => {
    const store = await tempStore()
    const key = { key: 'the-wrong-key' }
    const emulator = await emulate({ key: 'the-right-key', now: ms('2025-11-04T12:00:00Z') / 1000 })
    await runJob(store, emulator, JOB, { now: ms('2025-11-04T12:00:00Z'), ...key })
    const { url } = await servePage(store.file)
    const problems = await problemsOf(url)
    expect(problems.map(([, command]) => command)).toEqual(['npx indicator-sync sync test.yaml'])
    expect(problems[0]![0]).toMatch(
      /Set INDICATOR_SYNC_API_KEY to a valid key \(`npx indicator-sync doctor --online` tests it\)/,
    )
    const reader = openReader(store.file)
    onTestFinished(() => reader.close())
    const commands = async () =>
      (await findGaps(reader)).flatMap(({ reason, command }) => (reason === 'failed' ? command : []))
    expect(await commands()).toEqual([expect.stringContaining('indicator-sync doctor --online --database ')])
    // Once the service accepts a key, failed requests are only sent again.
    await runJob(store, await emulate({ faults: [{ status: 400 }] }), OTHER, { now: ms('2025-11-04T13:00:00Z') })
    expect(await commands()).toContainEqual(expect.stringContaining('indicator-sync retry --database '))
  })

  test('a list that the service does not have is requested again, because the catalogue has no lists', async () => {
    const store = await tempStore()
    const emulator = await emulate({ faults: [{ route: 'news', status: 404 }] })
    await runJob(store, emulator, 'content: [{ kinds: [news] }]', { now: ms('2025-11-04T12:00:00Z') })
    const { url } = await servePage(store.file)
    expect((await problemsOf(url)).map(([, command]) => command)).toContain('npx indicator-sync retry')
    expect(await get(`${url}/?lang=en`)).not.toContain('indicator-sync discover</code>')
  })

  test('an invalid row and the range that it leaves unverified have one command', async () => {
    const store = await tempStore()
    const market = await startHourlyService({ spoiled: (at) => at === ms('2025-10-02T10:00:00Z') / 1000 })
    await market.run(store, JOB.replace('1, 2, 3', '1'), '2025-11-04T12:00:00Z')
    const { url } = await servePage(store.file)
    const problems = await problemsOf(url)
    expect(problems.map(([, command]) => command)).toEqual(['npx indicator-sync retry'])
    expect(problems[0]![0]).toMatch(
      /1 row could not be read[\s\S]*Because of this, 1 series lacks data\.[\s\S]*quarantine list/,
    )
  })

  test('/healthz responds 200 if all is well, else 503 with the findings of check', async () => {
    const store = await tempStore()
    const market = await startHourlyService({ geos: [3] })
    const now = '2025-11-04T12:00:00Z'
    await market.run(store, JOB, now)
    const { url } = await servePage(store.file)
    const good = await fetch(`${url}/healthz`)
    expect([good.status, await good.json()]).toEqual([200, { ok: true, findings: [] }])
    await store.write(async () => store.run(`update _run set outcome = 'failed', message = 'no network'`, []))
    const bad = await fetch(`${url}/healthz`)
    expect([bad.status, await bad.json()]).toMatchObject([503, { ok: false, findings: [{ kind: 'last run' }] }])
  })

  test('the overview shows the next run by the schedule of a job', async () => {
    const store = await tempStore()
    const market = await startHourlyService()
    await market.run(store, `schedule: '15 21 * * *'\ntimeZone: Europe/Madrid\n${JOB}`, '2025-11-04T08:00:00Z')
    const { url } = await servePage(store.file)
    expect(await get(`${url}/?lang=en`)).toContain('Next run of test: 2025-11-04 21:15')
  })

  test('a filter that names a geo shows the value of that geo', async () => {
    const { url } = await servePage(await sharedFile())
    const geos = async (words: string) =>
      JSON.parse(await get(`${url}/index.json?q=${words}`)).series.map(({ geo }: { geo: string }) => geo)
    expect(await geos('600')).toEqual(['España'])
    expect(await geos('portugal')).toEqual(['Portugal'])
  })

  test('a row that a filter narrows to a geo links to that geo, and has its gaps, end and coverage', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 9] })
    const to = ms('2025-11-01T23:00Z') / 1000
    // Geo 9 lacks a day, and ends a day earlier.
    const hole = ms('2025-10-27T23:00Z') / 1000
    service.state.has = (at, geo) =>
      at < (geo === 9 ? to - 86_400 : to) && !(geo === 9 && at >= hole && at < hole + 86_400)
    const job = 'series: [{ indicators: [7], window: { from: 2025-10-01, to: 2025-11-02 }, lookback: 1d }]'
    await service.run(store, job, '2025-11-04T12:00:00Z')
    await store.write(async () => {
      for (const [id, name] of [
        [3, 'Here'],
        [9, 'There'],
      ]) {
        store.run('insert or ignore into geo (id) values (?)', [id])
        store.run(`insert into geo_text (id, locale, name) values (?, 'en', ?)`, [id, name])
      }
    })
    const { url } = await servePage(store.file)
    const row = async (words: string) => JSON.parse(await get(`${url}/index.json?q=${words}`)).series[0]
    const [all, here, there] = [await row('7'), await row('here'), await row('there')]
    expect([all.filteredGeo, here.filteredGeo, there.filteredGeo]).toEqual([null, 3, 9])
    expect([here.gaps, there.gaps]).toEqual([0, all.gaps])
    expect(there.gaps).toBeGreaterThan(0)
    expect(there.behindS - here.behindS).toBe(86_400)
    expect(here.days).not.toEqual(there.days)
    const page = await get(`${url}/?q=there&lang=en`)
    expect(page).toContain('href="/series/7?geo=9"')
    expect(page).toContain('href="/coverage/7?geo=9"')
    expect(await get(`${url}/series/7?geo=9&lang=en`)).toContain('There')
  })

  test('the overview shows the range of every series and the last ninety local days', async () => {
    const { url } = await servePage(await sharedFile())
    const { series, runs } = JSON.parse(await get(`${url}/index.json`))
    const [offer, spot] = series
    expect(series.map(({ path }: { path: string }) => path.replace(/^s\d+/, 's…'))).toEqual(['s…', '600', '1293', 's…'])
    expect(spot).toMatchObject({
      name: 'Precio mercado SPOT Diario',
      geos: 2,
      lastLocal: '2025-11-04T23:45:00+01:00',
      late: false,
    })
    expect(spot.days).toHaveLength(90)
    // The window starts on 1 October and ends after tomorrow; two days may still be revised.
    expect(spot.days.slice(0, -35)).toEqual(Array(55).fill({ none: 1 }))
    expect(spot.days.at(-1)).toEqual({ provisional: 1 })
    expect(spot.days.at(-10)).toEqual({ final: 1 })
    expect(offer.days.at(-1)).toEqual({ failed: 1 })
    expect(spot).toMatchObject({ unit: '€/MWh', value: expect.any(Number), gaps: 0 })
    expect(spot.valueLocal).toBe('2025-11-04T13:00:00+01:00')
    expect(spot.trend.filter((mean: number | null) => mean !== null).length).toBeGreaterThan(20)
    expect(runs).toHaveLength(1)
    const filtered = JSON.parse(await get(`${url}/index.json?q=SPOT`))
    expect(filtered.series.map(({ path }: { path: string }) => path)).toEqual(['600'])
    expect(await get(`${url}/?q=nothing-like-it&lang=en`)).toContain('No series matches “nothing-like-it”.')
  })

  test('the language comes from the URL, an earlier choice or the browser, also for names', async () => {
    const { url } = await servePage(await sharedFile())
    expect(await get(`${url}/`, { 'accept-language': 'es-ES,en;q=0.5' })).toMatch(/<html lang="es">[\s\S]*Último valor/)
    expect(await get(`${url}/`, { 'accept-language': 'fr, en;q=0.8' })).toMatch(/<html lang="en">[\s\S]*Latest value/)
    const shared = await fetch(`${url}/?lang=es`)
    expect(await shared.text()).toMatch(/class="(?:good|warn|bad)">(?:completa|parcial)</)
    expect(shared.headers.get('set-cookie'), 'a shared address changes no later page').toBeNull()
  })

  test('only the switch of the page keeps a language, and its address is the one before', async () => {
    const { url } = await servePage(await sharedFile())
    const page = await get(`${url}/runs?lang=en&page=1`)
    const [, to] = /<a href="([^"]*)" lang="es" hreflang="es">/.exec(page)!
    const chosen = await fetch(url + to!.replaceAll('&amp;', '&'), { redirect: 'manual' })
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/runs?page=1'])
    const cookie = chosen.headers.get('set-cookie')!
    expect(cookie).toMatch(/^indicator_sync_lang=es;/)
    for (const attribute of ['Path=/', 'HttpOnly', 'SameSite=Lax']) expect(cookie).toContain(attribute)
    expect(await get(`${url}/`, { cookie: cookie.split(';')[0]!, 'accept-language': 'en' })).toContain('lang="es"')
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await fetch(`${url}/?language=es`, { headers: foreign })).headers.get('set-cookie')).toBeNull()
  })

  test('a language that the page does not have is refused with those that it has', async () => {
    const { url } = await servePage(await sharedFile())
    for (const path of ['/?lang=fr', '/index.json?lang=fr', '/api/series/600/3?lang=fr', '/?language=fr']) {
      const response = await fetch(url + path)
      expect(response.status, path).toBe(400)
      expect(await response.text(), path).toContain('en, es')
    }
  })

  test('the sections without an entry in the navigation mark the one that leads to them', async () => {
    const { url } = await servePage(await sharedFile())
    const marked = async (path: string) =>
      /aria-current="(?:true|page)">([^<]*)</.exec(await get(`${url}${path}?lang=en`))?.[1]
    expect([await marked('/widgets'), await marked('/texts')]).toEqual(['Texts', 'Texts'])
    expect([await marked('/dictionary'), await marked('/quarantine')]).toEqual(['SQL', 'Runs'])
  })

  test('errors are in the language of the page, with its plural forms', async () => {
    const { url } = await servePage(await sharedFile())
    for (const path of ['/archives?date=ayer', '/series/9999', '/nothing']) {
      const text = await get(`${url}${path}${path.includes('?') ? '&' : '?'}lang=es`)
      // English text is marked as such.
      const words = text.replaceAll(/<p class="soft" lang="en">[^<]*<\/p>/g, '')
      expect(words, path).toMatch(/date no puede ser «ayer»|No existe la serie «9999»|No existe esa página/)
      expect(words, path).not.toMatch(/valid time|Use a day|There is no/)
    }
    const { home, sql } = WORDS.es
    expect([home.gapCount(1), home.gapCount(12_345)]).toEqual(['1 hueco', '12.345 huecos'])
    expect([sql.rows(1), WORDS.en.sql.rows(12_345)]).toEqual(['1 fila.', '12,345 rows.'])
  })

  test('outcomes of requests are in the language of the page, with the English original folded', async () => {
    const { url } = await servePage(await sharedFile())
    const spanish = await get(`${url}/runs/1?lang=es`)
    expect(spanish).toMatch(/rechazada por el servicio<\/span> <span class="soft">\(HTTP 400\)/)
    expect(spanish).toContain('Mensaje en inglés')
    for (const path of ['/', '/runs/1'])
      expect(await get(`${url}${path}?lang=es`)).toContain('El servicio rechazó la petición por no ser válida.')
    expect(await get(`${url}/dictionary/latest?lang=es`)).toContain('Último valor de cada serie y zona.')
    expect(spanish.match(/todavía sin guardar/g)!.length).toBeGreaterThan(3)
    const words = spanish.replaceAll(/<p class="soft" lang="en">[^<]*<\/p>/g, '').replaceAll(/<[^>]+>/g, ' ')
    expect(words).not.toMatch(/\b(?:refused|missing|ok|Route|rejected|transient|offer_indicator)\b/)
    const english = await get(`${url}/runs/1?lang=en`)
    for (const text of ['rejected by the service', 'not stored yet', 'received', 'Offer indicator'])
      expect(english).toContain(text)
    const refused = await fetch(`${url}/metrics`, {
      headers: { 'accept-language': 'es', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    })
    expect(await refused.text()).toMatch(/^Otro sitio/)
  })

  test('the default language is that of the database, unless the browser or URL chooses another', async () => {
    const { url } = await servePage(await sharedFile(), { language: 'es' })
    const languageOf = async (path: string, headers = {}) =>
      /<html lang="(\w+)"/.exec(await (await fetch(url + path, { headers })).text())![1]
    expect(await languageOf('/', { 'accept-language': 'en' })).toBe('es')
    expect(await languageOf('/?lang=en')).toBe('en')
  })

  test('the overview says up to date only without missing ranges and failed runs', async () => {
    const store = await tempStore()
    const market = await startHourlyService()
    const job = 'series: [{ indicators: [1, 2], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]'
    let now = '2025-11-04T12:00:00Z'
    const { url } = await servePage(store.file, { now: () => ms(now) / 1000 })
    const health = async () => /<h1>[\s\S]*?<\/section>/.exec(await get(`${url}/?lang=en`))![0]
    const budget = 'pace: { callsPerDay: 1, concurrency: 1 }\n'
    await market.run(store, `${budget}${job}`, '2025-11-04T12:00:00Z')
    expect(await health()).toMatch(/Needs attention[\s\S]*Because of this, 1 series lacks data\.[\s\S]*sync test\.yaml/)
    expect(await health()).toMatch(
      /The last run of test did not finish\.[\s\S]*budget of 1 call a day is spent until 2025-11-05 13:00/,
    )
    expect(await get(`${url}/?lang=es`)).toContain('Se agotaron las llamadas permitidas')
    const failing = { now: ms('2025-11-06T12:00:00Z'), onProgress: () => Promise.reject(new StoreError('Disk full.')) }
    await expect(runJob(store, market, job, failing)).rejects.toThrow('Disk full.')
    now = '2025-11-06T15:00:00Z'
    expect(await health()).toMatch(/Needs attention[\s\S]*The last run of test failed\./)
    await market.run(store, job, '2025-11-06T13:00:00Z')
    expect(await health()).toMatch(
      /Up to date[\s\S]*Of the ranges that jobs request, no final data is missing or late;/,
    )
    const wrongGeo = job.replace('indicators: [1, 2]', 'indicators: [1], geoIds: [3, 99]')
    await market.run(store, `name: other\n${wrongGeo}`, '2025-11-06T14:00:00Z')
    expect(await health()).toMatch(
      /Needs attention[\s\S]*value for geo 99\. [\s\S]* the job test\.yaml\. Values exist for 3/,
    )
    const header = async () => /<a class="synced"[\s\S]*?<\/a>/.exec(await get(`${url}/?lang=en`))![0]
    expect(await header()).not.toContain('last success')
    await expect(runJob(store, market, job, { ...failing, options: { restate: true } })).rejects.toThrow('Disk full.')
    expect(await header()).toMatch(/class="bad"><b>Needs attention<\/b> · Last sync [\s\S]* · last success <time/)
    const list = await get(`${url}/indicators?lang=en`)
    expect(list, 'local days').toContain('2025-10-01 … 2025-10-02, 1 geo')
  })
})

test.each([
  ['one geo', [3], 1],
  ['one of three geos', [1, 2, 3], 1 / 3],
])('the shares of a day count its geos if all were requested together: %s lacks data', async (_, geos, share) => {
  const store = await tempStore()
  const from = ms('2025-06-04T22:00:00Z') / 1000
  const to = ms('2025-06-05T22:00:00Z') / 1000
  const service = await startHourlyService({ geos, has: (at, geo) => geo !== 3 || at < from || at >= to })
  await service.run(
    store,
    'series: [{ indicators: [7], window: { from: 2025-05-25, to: 2025-06-11 } }]',
    '2025-07-01T12:00:00Z',
  )
  const reader = openReader(store.file)
  onTestFinished(() => reader.close())
  const found = await readSeriesCoverage(requestOf(reader, '/coverage/7', { id: '7' }))
  const days = found.days.filter(({ date }) => date >= '2025-06-04' && date <= '2025-06-06')
  const rounded = (part: number): number => Math.round(part * 1e4) / 1e4
  const lacking = share === 1 ? { unverified: 1 } : { final: rounded(1 - share), unverified: rounded(share) }
  expect(days.map(({ shares }) => shares)).toEqual([{ final: 1 }, lacking, { final: 1 }])
})

test('a chosen year lists the parts that were never requested, with the command that fetches them', async () => {
  const reader = openReader(await sharedFile())
  onTestFinished(() => reader.close())
  const read = (year: string) => readSeriesCoverage(requestOf(reader, `/coverage/600?year=${year}`, { id: '600' }))
  const unrequested = async (year: string) =>
    (await read(year)).holes
      .filter(({ reason }) => reason === 'never requested')
      .map(({ from, command }) => [from.slice(0, 10), command])
  expect(await unrequested('2020')).toEqual([
    ['2020-01-01', 'backfill test.yaml --only 600 --from 2020-01-01 --to 2021-01-01'],
  ])
  const [[first] = [], ...later] = await unrequested('2025')
  expect([first, later.length]).toEqual(['2025-01-01', 0])
  expect(await unrequested('2090'), 'the future is not missing').toEqual([])
  expect(await unrequested(''), 'without a year, only what jobs select is missing').toEqual([])
  const request = requestOf(reader, '/coverage/600?year=2020', { id: '600' })
  expect(htmlText(seriesCoverageView.show(await read('2020'), request))).toContain(
    'backfill test.yaml --only 600 --from 2020-01-01 --to 2021-01-01',
  )
})

test('a gap names a job that selects its geo, and the page of the series has every selected geo', async () => {
  const store = await tempStore()
  const market = await startHourlyService({ geos: [3] })
  const run = (job: string, geo: number) =>
    runJob(
      store,
      market,
      `name: ${job}\nseries: [{ indicators: [7], geoIds: [${geo}], window: { from: 2025-10-01, to: 2025-10-03 } }]`,
      { now: ms('2025-10-05T12:00:00Z') },
    )
  await run('first', 3)
  await run('second', 9)
  const reader = openReader(store.file)
  onTestFinished(() => reader.close())
  const jobs = async (geo: number) =>
    (await readSeriesCoverage(requestOf(reader, `/coverage/7?geo=${geo}&year=2020`, { id: '7' }))).holes.map(
      ({ job }) => job,
    )
  expect(await jobs(3)).toEqual(['first'])
  expect(await jobs(9)).toEqual(['second'])
  const { geos } = await readNamedLine(requestOf(reader, '/series/7'), '7', '9')
  expect(geos.map(({ id }) => id)).toEqual([3, 9])
})

test('what no job selects any more has no command, because no job would fetch it', async () => {
  const lost = ms('2025-10-09T10:00:00Z') / 1000
  const store = await tempStore()
  const market = await startHourlyService({ geos: [3, 9], has: (at) => at !== lost })
  const run = (geo: number) =>
    runJob(
      store,
      market,
      `series: [{ indicators: [7], geoIds: [${geo}], window: { from: 2025-10-01, to: 2025-10-11 } }]`,
      { now: ms('2025-10-20T12:00:00Z') },
    )
  await run(9)
  await run(3)
  const reader = openReader(store.file)
  onTestFinished(() => reader.close())
  const request = requestOf(reader, '/coverage/7?geo=9', { id: '7' })
  const data = await readSeriesCoverage(request)
  expect(data.holes.map(({ job, command }) => [job, command])).toEqual([[null, null]])
  const text = htmlText(seriesCoverageView.show(data, request))
  expect(text).toContain('not in any job')
  expect(text).not.toContain('nightly.yaml')
})

test('a gap that left the window of its job is closed by a backfill, because a restate would request nothing', async () => {
  const missing = (at: number): boolean =>
    at >= ms('2025-10-02T00:00:00Z') / 1000 && at < ms('2025-10-03T00:00:00Z') / 1000
  const store = await tempStore()
  const market = await startHourlyService({ has: (at) => !missing(at) })
  const job = (from: string) =>
    `series: [{ indicators: [7], geoIds: [3], lookback: 1d, window: { from: ${from}, to: 2025-10-12 } }]`
  const run = (from: string, now: string) => runJob(store, market, job(from), { now: ms(now) })
  await run('2025-10-01', '2025-10-14T12:00:00Z')
  const reader = openReader(store.file)
  onTestFinished(() => reader.close())
  const commands = async () => {
    const { holes } = await readSeriesCoverage(requestOf(reader, '/coverage/7?geo=3', { id: '7' }))
    const listed = (await findGaps(reader)).map(({ command }) => command!.split(' ')[1])
    return [...holes.map(({ command }) => command!.split(' ')[0]), ...listed]
  }
  expect(await commands()).toEqual(['restate', 'restate'])
  await run('2025-10-05', '2025-10-15T12:00:00Z')
  expect(await commands()).toEqual(['backfill', 'backfill'])
})

test('a retry that failed is not a problem after a run that reached the service', async () => {
  const store = await tempStore()
  const market = await startHourlyService()
  const job = 'series: [{ indicators: [1], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]'
  await market.run(store, job, '2025-11-04T12:00:00Z')
  await store.write(async () => store.run(`update _run set part = 'retry', command = 'retry', outcome = 'failed'`, []))
  expect(await findFailedRuns(store)).toHaveLength(1)
  await market.run(store, job, '2025-11-05T12:00:00Z')
  await store.write(async () => store.run(`update _run set outcome = 'partial' where part is null`, []))
  expect(await findFailedRuns(store)).toEqual([])
})

test.each([
  ['complete', 48_000, () => ({ final: 1 })],
  ['mixed', 185_000, (n: number) => ({ final: 0.9 - (n % 30) / 100, unverified: 0.1 + (n % 30) / 100 })],
])('ten years of days that are %s are rendered within %i bytes', async (_, most, share) => {
  const reader = openReader(await sharedFile())
  onTestFinished(() => reader.close())
  const request = requestOf(reader, '/coverage/600', { id: '600' })
  const known = (await seriesCoverageView.read(request)) as Awaited<ReturnType<typeof readSeriesCoverage>>
  const period = (n: number) => ({ shares: share(n), parts: most > 50_000 ? [share(n)] : [] })
  const day = (n: number): string => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10)
  const data = {
    ...known,
    year: 2024,
    more: 300,
    years: Array.from({ length: 10 }, (_, i) => ({
      year: 2015 + i,
      months: Array.from({ length: 12 }, (_, month) => period(month)),
    })),
    days: Array.from({ length: 366 }, (_, i) => ({ date: day(i), ...period(i) })),
    holes: Array.from({ length: most > 50_000 ? 25 : 0 }, (_, i) => ({
      geo: 8741,
      state: 'unverified' as const,
      reason: 'absent' as const,
      missing: 24,
      nextAt: '2025-01-01T00:00:00Z',
      from: `${day(i)}T00:00:00+01:00`,
      to: `${day(i)}T23:00:00+01:00`,
      mistake: null,
      cause: {
        fetch: i,
        run: i,
        outcome: 'ok' as const,
        status: 200,
        at: `${day(i)}T12:00:00.000Z`,
        rejected: 2,
        reject: i,
      },
      command: `restate test.yaml --only 600 --from ${day(i)} --to ${day(i + 1)}`,
    })),
  }
  const text = htmlText(seriesCoverageView.show(data, request))
  expect(text.match(/<td class="/g)).toHaveLength(366 + 120 + data.holes.length)
  expect(text.length).toBeLessThan(most)
})

test('what every geo lacks is listed once', async () => {
  const store = await tempStore()
  const lost = (at: number) => at >= ms('2025-06-03T10:00Z') / 1000 && at < ms('2025-06-03T14:00Z') / 1000
  const service = await startHourlyService({
    geos: [3, 4],
    has: (at, geo) => !lost(at) && (geo === 3 || at % 86_400 !== 0),
  })
  const job = 'series: [{ indicators: [7], window: { from: 2025-05-25, to: 2025-06-09 }, lookback: 2d }]'
  await service.run(store, job, '2025-07-01T12:00:00Z')
  const read = async (query = '') => {
    const path = `/coverage/7${query}`
    const { holes } = await readSeriesCoverage(requestOf(store, path, { id: '7' }))
    return holes.map(({ geo, from, missing }) => `${geo} ${from.slice(0, 13)} ${missing}`)
  }
  const whole = '0 2025-06-03T12 4'
  expect((await read()).filter((hole) => !hole.startsWith('4 '))).toEqual([whole])
  expect(await read()).toHaveLength(16)
  expect(await read('?geo=3')).toEqual(['3 2025-06-03T12 4'])
  expect(await read('?geo=4')).toHaveLength(16)
})

test('the coverage of all series is by month for up to two years, else by year', async () => {
  const read = async (...args: Parameters<typeof filledFile>) => {
    const reader = openReader(await filledFile(...args))
    onTestFinished(() => reader.close())
    return readCoverage(requestOf(reader, '/coverage', {}))
  }
  const months = await read()
  expect(months.unit).toBe('month')
  expect(months.series.flatMap(({ periods }) => periods.map(({ name }) => name))).toContain(months.names[0])
  for (const name of months.names) expect(name).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/)
  const years = await read(async (store) => {
    store.run(`update _coverage set from_at = 1577833200 where from_at = (select min(from_at) from _coverage)`, [])
    await judgeAgain(store)
  })
  expect(years.unit).toBe('year')
  expect(years.names).toEqual(['2020', '2021', '2022', '2023', '2024', '2025'])
  const apart = await read(async (store) => {
    const series = 'series_id = (select min(series_id) from _coverage)'
    store.run(
      `delete from _coverage where ${series} and from_at > (select min(from_at) from _coverage where ${series})`,
      [],
    )
    store.run(`delete from _duty where ${series}`, [])
    store.run(`update _coverage set from_at = 1577833200, to_at = 1577919600 where ${series}`, [])
    await judgeAgain(store)
  })
  expect(apart.names, 'one mark stands for years that no series has').toEqual(['2020', null, '2025'])
  expect((await readCoverage(requestOf(await tempStore(), '/coverage', {}))).names).toEqual([])
})

/** Adds planner statistics of two thousand series, because the planner ignores indexes of small tables. */
function growStatistics(store: Store): void {
  store.run(`delete from sqlite_stat1 where tbl in ('_fetch', 'series')`, [])
  for (const [index, statistic] of Object.entries({
    _fetch_failed: '0 0 0',
    _fetch_coarse: '0 0 0',
    _fetch_absent: '0 0',
    _fetch_checked: '70000 35 1',
    _fetch_series: '70000 35 1',
    _fetch_target: '70000 35 1',
    _fetch_run: '70000 2000',
  }))
    store.run(`insert into sqlite_stat1 values ('_fetch', ?, ?)`, [index, statistic])
}

test.skipIf(onlyInFile('plan'))('the overview and coverage pages scan no table of values or requests', async () => {
  const reader = openReader(await filledFile(growStatistics))
  onTestFinished(() => reader.close())
  for (const [address, params, read] of [
    ['/', {}, readOverview],
    ['/coverage', {}, readCoverage],
    ['/coverage/600', { id: '600' }, readSeriesCoverage],
  ] as const)
    expect(
      // Runs are few, and `l` is a list of series. The headline counts all gaps: 0.2 s for two thousand series.
      (await scansOf(reader, () => read(requestOf(reader, address, params)))).filter(
        (step) => !/^SCAN (?:r:.*from "_run"|s:.*from "gaps" group by "series_id", "geo_id", "reason")/.test(step),
      ),
      address,
    ).toEqual([])
})
