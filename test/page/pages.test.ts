import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { VIEWS } from '../../src/db/tables/schema.ts'
import { findExcerpt } from '../../src/page/views/cataloguePage.ts'
import { fillBy } from '../cli/filled.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { fileFolder, tempFolder } from '../support/kit.ts'
import { openReader, openStore } from '../support/testStore.ts'
import { askPage } from './askPage.ts'
import { scansOf, stepsOf } from './plans.ts'

const folder = fileFolder()
let reader: ReturnType<typeof openReader>
beforeAll(async () => {
  const store = await copyDemo(join(folder, 'market.db'))
  // Two later versions of a text and of an indicator's name.
  const last = store.get('select max(id) from _fetch') as number
  for (const [i, body] of ['<p>First version.</p>', '<p>Second version, with <b>more</b>.</p>'].entries())
    store.run(
      `update content_text set body = ?, fetch_id = ? where kind = 'glossary' and id = (select min(id) from content where kind = 'glossary') and locale = 'en'`,
      [body, last + i - 1],
    )
  store.run(
    `update indicator_text set name = 'Another name', fetch_id = ? where kind = 'indicator' and id = 600 and locale = 'en'`,
    [last],
  )
  await store.tidy()
  await store.close()
  reader = openReader(join(folder, 'market.db'))
})
afterAll(() => reader.close())

/** Returns a page; `any` for tests that read its data. */
// biome-ignore lint/suspicious/noExplicitAny: each page has its own data
const get = (address: string, locale?: 'en' | 'es') => askPage<any>(reader, address, locale)
const glossary = () => reader.get(`select min(id) from content where kind = 'glossary'`) as number

describe('the pages of runs', () => {
  test('runs are listed with the latest first, in pages', async () => {
    const { data } = await get('/runs')
    expect(data.runs.map(({ id }: { id: number }) => id)).toEqual([2, 1])
    expect(data.older).toBeNull()
    expect((await get('/runs?before=2')).data.runs).toHaveLength(1)
  })

  test('a run shows each request once, the failed ones first, with a link to its series', async () => {
    const { data, title, html } = await get('/runs/1')
    expect(title).toBe('Run 1')
    const sent = reader.get('select count(*) from _fetch where run_id = 1')
    expect(data.run.requests).toBe(sent)
    const ids = [...data.failed, ...data.requests].map(({ id }: { id: number }) => id)
    expect(ids.length).toBe(new Set(ids).size)
    expect(ids.length).toBe(Math.min(sent as number, 40))
    const [{ series_id: series }] = data.requests.filter(
      ({ series_id }: { series_id: number | null }) => series_id !== null,
    )
    expect(html).toContain(`href="/series/s${series}"`)
    await expect(get('/runs/77')).rejects.toThrow(/not found/)
    await expect(get('/runs/x')).rejects.toThrow(/not found/)
  })
})

test('an active run shows its progress and the time left, and a killed one has failed', async () => {
  const file = join(tempFolder(), 'running.db')
  const store = await copyDemo(file)
  store.run(
    `insert into _run (command, job, version, started_at, outcome, planned, requests, failed, bytes, rows_new, rows_unchanged, rows_revised,
       rows_withdrawn, rows_rejected)
     select command, job, version, '2025-11-04T23:59:00.000Z', 'running', requests, requests / 2, 0, 0, 0, 0, 0, 0, 0 from _run where id = 1`,
    [],
  )
  await store.close()
  const writer = await openWriter(file, 'sync')
  onTestFinished(() => writer.close())
  const running = openReader(file)
  onTestFinished(() => running.close())
  const [{ id, done, all }] = running.all(
    `select id, requests as done, planned as "all" from _run where outcome = 'running'`,
  ) as [{ id: number; done: number; all: number }]
  const { html } = await askPage(running, `/runs/${id}`)
  expect(html).toContain(`${done} of ${all} requests · about `)
  expect(html).toContain(`<progress value="${done}" max="${all}"`)
  // Splits may make it longer.
  await writer.write(async (tx) => {
    await tx
      .updateTable('_run')
      .set({ requests: all + 1 })
      .where('id', '=', id)
      .execute()
  })
  expect((await askPage(running, `/runs/${id}`)).html).not.toContain('<progress')
  await writer.close()
  const { html: killed } = await askPage(running, `/runs/${id}`)
  expect(killed).toContain('its process died before the run finished')
  expect(killed).not.toMatch(/running|under way/)
  expect((await askPage(running, '/')).html).not.toMatch(/>running/)
})

test('requests are named by indicator and days', async () => {
  const first = reader.get(`select max(id) from _fetch where route = 'indicator' and run_id = 1`) as number
  const { html } = await get(`/runs/1?before=${first + 1}`)
  expect(html).toMatch(/>\d+ \w[^<]+, \d+(?: \w+)?\s–\s\d+ \w+/)
  expect(html).not.toMatch(/>\/indicators|series\[\d/)
})

test('quarantine shows open entries with the latest first, by index, and how to close them', async () => {
  expect((await get('/quarantine')).html).toContain('Quarantine is empty')
  const file = join(tempFolder(), 'odd.db')
  await fillBy(file, (store) => {
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 60)'
    store.run(
      `${numbers} insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at, resolved_at)
       select 1, 1, '$.values[' || i || ']', 'is <not> a number', '"' || i || '"', '', iif(i < 3, '', null) from n`,
      [],
    )
  })
  const odd = openReader(file)
  onTestFinished(() => odd.close())
  interface Entries {
    readonly entries: readonly { readonly id: number }[]
    readonly older: number | null
  }
  const steps = await stepsOf(odd, async () => {
    const { data, html } = await askPage<Entries>(odd, '/quarantine')
    expect([data.entries[0]!.id, data.entries.length, data.older]).toEqual([60, 50, 11])
    expect(html).toContain('is &lt;not&gt; a number')
    expect(html).toContain('quarantine dismiss 60 --reason')
  })
  expect(steps.map(({ detail }) => detail).join()).toContain('q USING INDEX _quarantine_open')
  const { data } = await askPage<Entries>(odd, '/quarantine?before=11')
  expect(data.entries.map(({ id }) => id)).toEqual([10, 9, 8, 7, 6, 5, 4, 3])
  expect(data.older).toBeNull()
})

describe('the search page', () => {
  test('search finds texts with excerpts and links to texts and values', async () => {
    const { html, data } = await get('/search?q=precio+mercado')
    expect(data.total).toBeGreaterThan(3)
    expect(html).toContain('href="/texts/indicator/600"')
    expect(html).toContain('href="/series/600"')
    expect((await get('/search?q=qqqq')).html).toContain('No results for “qqqq”')
    expect((await get('/search')).html).not.toContain('role="status"')
  })

  test.each([
    ['precio spot spain', 'en', '600', 3],
    ['precio españa', 'es', '600', 3],
    ['spot portugal', 'en', '600', 1],
    ['600', 'en', '600', null],
    ['mercado spot qqqq', 'en', '600', null],
  ] as const)(
    'search names the stored series first, by words of their names and geos: %s',
    async (text, locale, path, geo) => {
      const { html, data } = await get(`/search?q=${encodeURIComponent(text)}`, locale)
      expect(data.stored[0]).toMatchObject({ path, geo })
      expect(html).toContain(`href="/series/600${geo === null ? '' : `?geo=${geo}`}"`)
      expect(html.indexOf('href="/series/600')).toBeLessThan(html.indexOf('<ol class="found">') >>> 0)
      if (locale === 'es') expect(html).toContain('Precio mercado SPOT Diario')
    },
  )

  test('search shows titles in the language of the page, whatever language matched', async () => {
    const { texts } = (await get('/texts?kind=glossary', 'es')).data as { texts: { id: number; title: string }[] }
    const titles = new Map(texts.map(({ id, title }) => [id, title]))
    const { results } = (await get('/search?q=market&in=content', 'es')).data as {
      results: { kind: string; id: number; name: string }[]
    }
    const found = results.filter(({ kind, id }) => kind === 'glossary' && titles.has(id))
    expect(found.length).toBeGreaterThan(0)
    for (const { id, name } of found) expect(name).toBe(titles.get(id))
  })

  test('search finds pages by their names in the language of the page', async () => {
    expect((await get('/search?q=run')).html).toContain('<a href="/runs">Runs</a>')
    expect((await get('/search?q=ejecu', 'es')).html).toContain('<a href="/runs">Ejecuciones</a>')
    expect((await get('/search?q=tables+view')).html).toContain('<a href="/dictionary">Tables and views</a>')
    expect((await get('/search?q=run&in=content')).html).not.toContain('href="/runs"')
  })

  test('excerpts show words as written in the text, with accents', () => {
    const pieces = findExcerpt('La producción eólica del día.', ['produccion', 'dia'])
    expect(pieces).toEqual([
      { text: 'La ', hit: false },
      { text: 'producción', hit: true },
      { text: ' eólica del ', hit: false },
      { text: 'día', hit: true },
      { text: '.', hit: false },
    ])
    expect(findExcerpt('nothing', ['x'])).toEqual([])
  })
})

describe('the pages of texts', () => {
  test('texts are listed by kind in the language of the page', async () => {
    const { data } = await get('/texts?kind=glossary', 'es')
    expect(data.texts.length).toBeGreaterThan(5)
    expect(new Set(data.texts.map(({ locale }: { locale: string }) => locale))).toEqual(new Set(['es']))
    expect((await get('/texts')).data.kind).toBe('news')
  })

  test('a text shows its earlier versions', async () => {
    const { data, html } = await get(`/texts/glossary/${glossary()}`)
    expect(data.text).toBe('Second version, with more.')
    expect(data.earlier).toHaveLength(2)
    expect(data.earlier[0]).toMatchObject({ text: 'First version.', to: data.from })
    expect(html).toMatch(/<details><summary>.*<\/summary>.*First version\..*<\/details>/s)
    await expect(get('/texts/nothing/1')).rejects.toThrow(/not found/)
  })

  test('texts of indicators have versions and link to their values', async () => {
    const { data, html, title } = await get('/texts/indicator/600')
    expect(title).toBe('Another name')
    expect(data.earlier).toHaveLength(1)
    expect(html).toContain('href="/series/600"')
    expect((await get('/texts/indicator/600?locale=es')).title).toBe('Precio mercado SPOT Diario')
  })
})

test('archives are listed by day, by default the last, with links to neighbouring days', async () => {
  const { data, html } = await get('/archives')
  expect(data.date).toBe(reader.get('select max(date) from archive_edition'))
  expect(data.before).toBe(reader.get('select max(date) from archive_edition where date < ?', [data.date]))
  expect(data.after).toBeNull()
  expect(data.editions).toHaveLength(
    Number(reader.get('select count(*) from archive_edition where date = ?', [data.date])),
  )
  expect(html).toContain('indicator-sync archives download --from')
  expect((await get('/archives?date=2001-01-01')).data).toMatchObject({
    editions: [],
    before: null,
    after: expect.any(String),
  })
  expect((await get('/archives?date=')).data.date).toBe(data.date)
  for (const never of ['2025-99-99', '2025-02-30', 'today'])
    await expect(get(`/archives?date=${never}`)).rejects.toThrow(`date="${never}" is not a valid time.`)
  const [{ kind, id }] = data.editions
  expect((await get(`/archives/${kind}/${id}`)).data.editions.length).toBeGreaterThan(1)
  await expect(get('/archives/archive/99999999')).rejects.toThrow(/not found/)
})

test('the catalogue lists stored series, and shows how to add any other to a job', async () => {
  const { data, html } = await get('/indicators')
  expect(data.pages).toBeGreaterThan(1)
  const stored = (await get('/indicators?held=held')).data.indicators
  expect(stored.length).toBe(
    reader.get('select count(distinct s.kind || s.indicator_id) from series_geo join series s on s.id = series_id'),
  )
  expect(stored.every(({ geos }: { geos: number }) => geos > 0)).toBe(true)
  expect(html).toMatch(/series: \[\{ indicators: \[\d+\], window: \{ last: 30d \} \}\]/)
  const found = (await get('/indicators?q=demanda+real&held=held')).data.indicators
  expect(found[0]).toMatchObject({
    id: 1293,
    series: expect.arrayContaining([{ path: '1293', time_trunc: null, geo_agg: null }]),
  })
  // A page beyond the end is the last one.
  expect((await get('/indicators?page=99')).data.page).toBe(data.pages)
})

test('the data dictionary lists every table and view with all columns', async () => {
  const { html } = await get('/dictionary')
  for (const name of Object.keys(VIEWS)) expect(html).toContain(`href="/dictionary/${name}"`)
  expect((await get('/dictionary/observations')).html).toContain('at_local')
  await expect(get('/dictionary/nothing')).rejects.toThrow(/not found/)
})

describe('the SQL page', () => {
  test('a statement returns a table and a file', async () => {
    const statement =
      'select local_date, min, max from observations_daily where indicator_id = 600 and geo_id = :geo and time_trunc is null'
    const { html, data } = await get(`/sql?sql=${encodeURIComponent(statement)}&p.geo=3`)
    expect(data.refused).toBeNull()
    expect(html).toContain('<bdi>2025-10-04</bdi>')
    expect(html).toContain('href="/sql.csv?sql=select+local_date')
    expect(html).toContain('name="p.geo" value="3"')
  })

  test('number columns have right-aligned headings', async () => {
    const { html } = await get(`/sql?sql=${encodeURIComponent("select 'a' as name, 1 as count")}`)
    expect(html).toContain('<th scope="col"><bdi>name</bdi></th><th scope="col" class="number"><bdi>count</bdi></th>')
  })

  test('a faulty statement shows its error and remains in the box', async () => {
    const { html, data } = await get('/sql?sql=select+nonsense')
    expect(data.refused).toMatchObject({ code: 'bad-sql' })
    expect(html).toContain('>select nonsense</textarea>')
  })

  test('a recipe fills the box and its parameters, and runs at once', async () => {
    const { data, html } = await get('/sql?recipe=daily-average')
    expect(data).toMatchObject({ recipe: 'daily-average', refused: null })
    expect(data.result.rows.length).toBeGreaterThan(0)
    expect(data.parameters).toContainEqual({ name: 'indicator', value: '600', type: 'indicator' })
    expect(html).toContain('name="p.indicator" value="600"')
  })
})

/** URLs of every page, in their longest form. */
const ADDRESSES = [
  ...'/runs /runs/1 /runs/1?before=30 /search?q=precio /search?q=a&in=content /texts /texts?kind=glossary'.split(' '),
  ...'/texts/indicator/600 /archives /archives?date=2025-11-03 /archives/archive/79 /indicators /indicators?q=precio'.split(
    ' ',
  ),
  ...'/indicators?held=other /dictionary /dictionary/_fetch /sql /sql?recipe=known-at'.split(' '),
  `/sql?sql=${encodeURIComponent('select * from observations limit 1000')}`,
]

test.each(ADDRESSES)('the page %s has at most 60 KB in both languages', async (address) => {
  for (const locale of ['en', 'es'] as const) {
    const { html } = await get(address, locale)
    expect(Buffer.byteLength(html)).toBeLessThan(56_000)
    expect(html).not.toMatch(/undefined|NaN|\[object/)
  }
})

test('no page scans a growing table', async () => {
  const scans = await scansOf(reader, async () => {
    for (const address of [...ADDRESSES, `/texts/glossary/${glossary()}`]) await get(address)
  })
  expect(scans).toEqual([])
})

describe('pages of a large database', () => {
  /** A run of twenty thousand requests, of which the first three failed, and as many texts with the same word. */
  const fill = async (): Promise<ReturnType<typeof openReader>> => {
    const file = join(tempFolder(), 'many.db')
    const store = await openStore(file, { durability: 'none' })
    const at = '2025-01-01T00:00:00.000Z'
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)'
    await store.write(async () => {
      store.run(
        `insert into _run (command, job, version, started_at, finished_at, outcome, requests, failed, bytes, rows_new, rows_unchanged,
           rows_revised, rows_withdrawn, rows_rejected) values ('sync', 'many', '0', ?, ?, 'done', 20000, 3, 0, 0, 0, 0, 0, 0)`,
        [at, at],
      )
      store.run(
        `${numbers} insert into _fetch (run_id, entry, route, target, params, from_at, to_at, started_at, finished_at, outcome, attempts,
           ms, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside)
         select 1, 'series[0]', 'indicator', '/indicators/1', '{}', 0, 3600, ?, ?, iif(i < 4, 'transient', 'ok'), 1, 1, 1, 0, 0, 0, 0, 0, 0 from n`,
        [at, at],
      )
      store.run(`${numbers} insert into content (kind, id, first_seen_at) select 'news', i, ? from n where i < 3000`, [
        at,
      ])
      store.run(
        `insert into content_text (kind, id, locale, title, body_text, fetch_id)
         select 'news', id, 'es', 'Demanda ' || id, iif(id = 2900, 'demanda demanda rara', 'de la demanda'), 1 from content`,
        [],
      )
    })
    await store.tidy()
    await store.close()
    const many = openReader(file)
    onTestFinished(() => many.close())
    return many
  }

  test('failures of a long run are found by index, and its page reads only the displayed requests', async () => {
    const many = await fill()
    const steps = await stepsOf(many, async () => {
      // biome-ignore lint/suspicious/noExplicitAny: each page has its own data
      const { data } = await askPage<any>(many, '/runs/1')
      expect(data.failed.map(({ id }: { id: number }) => id)).toEqual([3, 2, 1])
      expect(data.requests).toHaveLength(40)
    })
    const failed = steps.filter(({ sql }) => sql.includes('not in'))
    expect(failed.map(({ detail }) => detail)[0]).toMatch(/_fetch_failed/)
  })

  test('a frequent word finds the best matches, and the page says that there are more', async () => {
    const many = await fill()
    // biome-ignore lint/suspicious/noExplicitAny: each page has its own data
    const { data, html } = await askPage<any>(many, '/search?q=demanda')
    expect(data.results).toHaveLength(40)
    expect(html).toContain('The first 40 of 1,000 or more')
    const rare = await askPage<{ results: { id: number }[] }>(many, '/search?q=demanda+rara')
    expect(rare.data.results.map(({ id }) => id)).toEqual([2900])
    expect(rare.html).toContain('1 found.')
  })
})
