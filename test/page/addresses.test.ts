import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { emulate, runJob, tempStore } from '../support/kit.ts'
import { NOW, servePage, sharedFile, startPage } from './site.ts'

let server: ListeningServer
beforeAll(async () => {
  server = await startPage(await sharedFile())
})
afterAll(() => server.close())

async function fetchPage(path: string, language = 'en') {
  const response = await fetch(server.url + path, { headers: { 'accept-language': language } })
  return { status: response.status, text: await response.text() }
}

describe('a wrong parameter of an address', () => {
  test.each([
    ['/series/600?by=decade', 'hour, day, week, month, year'],
    ['/series/600?shift=month', 'day, week, weeks, year'],
    ['/series/600?difference=yes', '1'],
    ['/series/600?from=yesterday', '2025-10-01, 2025-10-01T12:00, 2025-10-01T12:00:00+02:00'],
    ['/series/600?day=2025-02-30', '2025-10-01'],
    ['/series/600?from=2025-10-01T25:00', '2025-10-01T12:00'],
    ['/series/600?asof=tomorrow', '2025-10-01'],
    ['/series/600?vintages=tomorrow', '2025-10-01'],
    ['/series/600?last=abc', '1 … 36600'],
    ['/archives?date=never', '2025-10-01'],
    ['/texts?from=never', '2025-10-01'],
    ['/series/600?geo=99', '1 Portugal, 3 España'],
    ['/series/600?geo=Spain', '1 Portugal, 3 España'],
    ['/coverage/600?geo=99', '1 Portugal, 3 España'],
    ['/coverage/600?year=20255', '1970 … 2099'],
    ['/coverage?page=x', '1 … 9'],
    ['/?page=-1', '1 … 9'],
    ['/runs?before=yesterday', '0 … 9'],
    ['/runs/1?before=-', '0 … 9'],
    ['/quarantine?before=x', '0 … 9'],
    ['/indicators?held=some', 'all, held, other'],
    ['/search?q=price&in=everywhere', 'all, '],
    ['/texts?kind=poems', 'news'],
    ['/sql?recipe=cake', 'daily-average, '],
  ])('gets status 400 with what is legal: %s', async (path, legal) => {
    const { status, text } = await fetchPage(path)
    expect(status).toBe(400)
    const [name, value] = [...new URL(path, 'http://x').searchParams].at(-1)!
    expect(text).toContain(`${name} cannot be “${value}”. Possible values: `)
    expect(text).toContain(legal)
    const spanish = await fetchPage(path, 'es')
    expect(spanish.text).toContain(`${name} no puede ser «${value}». Valores posibles: `)
    const data = await fetchPage(path.replace(/^([^?]*[^/?])\??/, '$1.json?').replace(/^\/\?/, '/index.json?'))
    expect(data.status).toBe(400)
    expect(data.text).toContain(legal)
  })

  test.each(['by=decade', 'geo=99', 'from=yesterday', 'from=2026-11-20T99:99', 'to=2026-11-20T23:60', 'last=week'])(
    'of a chart keeps the form usable: %s',
    async (query) => {
      const { text } = await fetchPage(`/series/600?${query}`)
      expect(text).toMatch(/<p class="bad" role="alert">[^<]+<\/p>/)
      expect(text).toContain('<form class="choose"')
    },
  )

  test.each(['by=decade', 'shift=month', 'px=wide'])('is refused with the data of a chart: %s', async (query) => {
    const { status, text } = await fetchPage(`/api/series/600/3?${query}`)
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { code: 'bad-parameter', hint: expect.stringMatching(/Legal/) },
    ])
  })

  test('is not one that a form leaves empty', async () => {
    expect((await fetchPage('/series/600?by=&shift=&geo=&from=&to=')).status).toBe(200)
  })
})

test.each([
  ['/series/9999', 'There is no series “9999”.', 'No existe la serie «9999».', '9999'],
  ['/explain/9999/3/0', 'There is no series “9999”.', 'No existe la serie «9999».', '9999'],
  ['/explain/600/99/0', 'There is no series “600:99”.', 'No existe la serie «600:99».', '600:99'],
  ['/coverage/x', 'There is no series “x”.', 'No existe la serie «x».', 'x'],
  ['/explain/600/3/1', 'There is no such page', 'No existe esa página', ''],
  ['/explain', 'There is no such page', 'No existe esa página', ''],
])('what is not found offers the search: %s', async (path, english, spanish, sought) => {
  for (const [language, says] of [
    ['en', english],
    ['es', spanish],
  ] as const) {
    const { status, text } = await fetchPage(path, language)
    expect(status).toBe(404)
    const main = text.slice(text.indexOf('<main'))
    expect(main).toContain(says)
    expect(main).toMatch(new RegExp(`action="/search">.*name="q" value="${sought}"`))
  }
})

test('the address of an explanation takes local times', async () => {
  const read = async (at: string) => {
    const { status, text } = await fetchPage(`/explain/600/3/${at}.json`)
    return status === 200 ? (JSON.parse(text) as { at: number }).at : status
  }
  const at = Date.parse('2025-10-28T10:00:00+01:00') / 1000
  expect(await read(String(at))).toBe(at)
  expect(await read('2025-10-28T10:00')).toBe(at)
  expect(await read('2025-10-28T10:00:00+01:00')).toBe(at)
  expect(await read('2025-10-28')).toBe(at - 36_000)
  expect(await read('2025-10-28T25:00')).toBe(404)
})

describe('parameters without an effect are named', () => {
  const notes = async (query: string, language = 'en') => {
    const { status, text } = await fetchPage(`/series/600?geo=3&${query}`, language)
    expect(status).toBe(200)
    return /<div data-part="notes">([\s\S]*?)<\/div>/.exec(text)![1]!.replaceAll(/<[^>]+>/g, '')
  }

  test('last beside another range', async () => {
    expect(await notes('last=7&day=2025-10-28')).toBe('from, to and day go before last: last=7 has no effect.')
    expect(await notes('last=7&from=2025-10-20', 'es')).toContain('last=7 no tiene efecto')
    expect(await notes('last=7')).toBe('')
    // A form without scripts sends both.
    const today = 'from=2025-10-29&to=2025-11-05'
    expect(await notes(`last=7&${today}`)).toBe('')
    const { text } = await fetchPage('/series/600.json?geo=3&last=7&day=2025-10-28')
    const { range } = JSON.parse(text) as { range: { from: number; to: number } }
    expect(range).toEqual({
      from: Date.parse('2025-10-28T00:00+01:00') / 1000,
      to: Date.parse('2025-10-29T00:00+01:00') / 1000,
    })
  })

  test('a moment of the future', async () => {
    expect(await notes('asof=2030-01-01')).toBe('The moment is in the future: the values are those known now.')
    expect(await notes('asof=2030-01-01', 'es')).toContain('los valores son los que se conocen ahora')
    expect(await notes('asof=2025-11-01')).toBe('')
  })

  test('a difference without a line of the same unit', async () => {
    const needed = 'There is no difference: it needs another line of the same unit (€/MWh).'
    expect(await notes('difference=1&with=1293')).toBe(needed)
    expect(await notes('difference=1')).toBe(needed)
    expect(await notes('difference=1&with=1293', 'es')).toContain('necesita otra línea de la misma unidad (€/MWh)')
    expect(await notes('difference=1&with=600:1')).toBe('')
  })
})

test('a refused statement has its reason in Spanish', async () => {
  const { text } = await fetchPage('/sql?sql=select%20nothing', 'es')
  expect(text).toContain('La base de datos rechazó la sentencia.')
  expect((await fetchPage('/sql?sql=select%20nothing')).text).toContain('The database refused the statement.')
})

/** The sign of the header, and the heading and findings of the overview. */
async function signs(url: string) {
  const text = await (await fetch(`${url}/?lang=en`)).text()
  const runs = await (await fetch(`${url}/runs?lang=en`)).text()
  const sign = (page: string) => /class="synced"[^>]*><span class="(\w+)">/.exec(page)![1]
  return { header: sign(text), other: sign(runs), heading: /<h1>([^<]*)/.exec(text)![1], runs }
}

test('the header of every page has the state of the overview', async () => {
  // The shared database has a request that failed in a run that was finished.
  const wrong = await signs(server.url)
  expect([wrong.heading, wrong.header, wrong.other]).toEqual(['Needs attention', 'warn', 'warn'])
  expect(wrong.runs).toContain('<b>Needs attention</b>')
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  await runJob(store, emulator, 'series: [{ indicators: [600], geoIds: [3], window: { last: 2d } }]', { now: NOW })
  const { url } = await servePage(store.file)
  const well = await signs(url)
  expect([well.heading, well.header, well.other]).toEqual(['Up to date', 'good', 'good'])
  // A later retry that failed for another reason is not a finding, so that the header has no sign of it.
  store.run(
    `insert into _run (command, job, version, started_at, finished_at, outcome, message, requests, failed, bytes, rows_new, rows_unchanged,
       rows_revised, rows_withdrawn, rows_rejected)
     values ('retry', 'retry', '0', '2025-11-04T12:00:01Z', '2025-11-04T12:00:02Z', 'failed', 'x', 0, 0, 0, 0, 0, 0, 0, 0)`,
    [],
  )
  const after = await signs(url)
  expect(after.header).toBe(after.heading === 'Up to date' ? 'good' : 'bad')
  expect(after.other).toBe(after.header)
})
