import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assets } from '../../src/page/assets.ts'
import { differing } from '../../src/page/client/segments.ts'
import type { ListeningServer } from '../../src/util/listen.ts'
import { localClock } from '../../src/util/time/zone.ts'
import { fileFolder, ms } from '../support/kit.ts'
import { openReader, openStore, type Reader } from '../support/testStore.ts'
import { NIGHTS, serveNights } from './nights.ts'
import { scansOf } from './plans.ts'

let server: ListeningServer & { readonly file: string }
let reader: Reader
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
  reader = openReader(server.file)
})
afterAll(async () => {
  await reader.close()
  await server.close()
})

const get = (path: string) => fetch(server.url + path)
const text = async (path: string) => (await get(path)).text()
// biome-ignore lint/suspicious/noExplicitAny: tests read any part of it
const data = async (path: string): Promise<any> => (await get(path)).json()

/** All kinds of requests about a series. */
const PATHS = [
  '/series/600',
  '/series/600?from=2025-10-26&to=2025-10-27',
  '/series/600?geo=1&from=2025-01-01&to=2026-01-01',
  `/series/1293?from=2025-10-01&to=2025-11-01&asof=${NIGHTS[2]}&with=544`,
  `/series/1293?from=2015-01-01&to=2026-01-01&asof=${NIGHTS[2]}`,
  '/explain/600/3/2025-10-26T02:15:00+01:00',
  `/api/series/1293/8741?px=1000&from=2025-10-22&to=2025-10-30&asof=${NIGHTS[2]}`,
  '/api/carpet/1293/8741?from=2025-01-01&to=2026-01-01',
]

test.each(PATHS)('the page %s is small and uses only indexes', async (path) => {
  // The header counts the findings once for a state of the database, by the queries of the overview.
  await get('/runs')
  let response: Response | undefined
  let body = ''
  const scans = await scansOf(reader, async () => {
    response = await get(path)
    body = await response.text()
  })
  expect(scans).toEqual([])
  expect(response!.status, body.slice(0, 2_000)).toBe(200)
  expect(body.length).toBeLessThan(path.startsWith('/api/') ? 100_000 : 60_000)
})

test('all scripts together are below 45 KB', () => {
  const scripts = [...assets().files].filter(([name]) => name.endsWith('.js')).map(([, { body }]) => body)
  expect(scripts.length).toBeGreaterThan(5)
  const packed = scripts.map((body) => gzipSync(body).length).reduce((a, b) => a + b)
  expect(packed).toBeLessThan(45_000)
})

describe('the range of a series', () => {
  test.each([
    ['2025-10-26', '2025-10-27', 100],
    ['2025-03-30', '2025-03-31', 23],
    ['2025-10-25', '2025-10-26', 96],
  ])('the range from %s has as many values as that day has periods', async (from, to, count) => {
    const { chart, table } = await data(`/series/600.json?geo=3&from=${from}&to=${to}`)
    expect(chart.now.segments.flatMap(({ values }: { values: number[] }) => values)).toHaveLength(count)
    expect(table.rows).toHaveLength(count)
  })

  test('the last days end today, although prices reach to tomorrow, in the page, its links and its CSV', async () => {
    const at = (local: string): number => Date.parse(local) / 1000
    const { chart, days, dataset } = await data('/series/600.json?geo=3&last=7')
    const end = Math.min(dataset.last, ms(NIGHTS.at(-1)!) / 1000 + 6 * 3_600)
    expect([days, chart.to - chart.from]).toEqual([
      7,
      7 * 86_400 + (chart.from < at('2025-10-26T00:00+02:00') ? 3600 : 0),
    ])
    expect(chart.to - end).toBeGreaterThan(0)
    expect(chart.to - end).toBeLessThanOrEqual(86_400)
    const page = await text('/series/600?geo=3&last=7&shift=week')
    expect(page).toContain('/api/csv/600/3?geo=3&amp;shift=week&amp;last=7"')
    const [from, to] = [chart.from, chart.to].map((border) => new Date(border * 1000).toISOString())
    expect(await text('/api/csv/600/3?last=7')).toBe(await text(`/api/csv/600/3?from=${from}&to=${to}`))
  })

  test('the table of a power series contains energy as mean × hours, even on a day of 25 hours', async () => {
    const { table } = await data('/series/1293.json?from=2025-10-20&to=2025-10-30')
    expect(table.level).toBe('day')
    const rows = reader.all(
      `select at, energy from observations_daily where indicator_id = 1293 and geo_id = 8741 and time_trunc is null
       and local_date between '2025-10-20' and '2025-10-29' order by at`,
    ) as { at: number; energy: number }[]
    const shown = table.rows.filter(({ energy }: { energy: number | null }) => energy !== null)
    expect(rows.length).toBeGreaterThan(5)
    expect(shown.map(({ from, energy }: Record<string, number>) => [from, energy])).toEqual(
      rows.map(({ at, energy }) => [at, expect.closeTo(energy, 3)]),
    )
    expect(await text('/series/1293?from=2025-10-20&to=2025-10-30')).toContain('energy (MWh)')
    expect(await text('/series/600?from=2025-10-20&to=2025-10-30')).not.toContain('energy (MWh)')
  })

  test('a range links to its neighbours and calendar periods across clock changes', async () => {
    const { neighbours } = await data('/series/600.json?from=2025-10-26&to=2025-10-27')
    const at = (local: string): number => Date.parse(local) / 1000
    expect(neighbours.previous).toEqual({ from: at('2025-10-25T00:00+02:00'), to: at('2025-10-26T00:00+02:00') })
    expect(neighbours.next).toEqual({ from: at('2025-10-27T00:00+01:00'), to: at('2025-10-28T00:00+01:00') })
    const spans = new Map<string, unknown>(neighbours.spans)
    expect(spans.get('week')).toEqual({ from: at('2025-10-20T00:00+02:00'), to: at('2025-10-27T00:00+01:00') })
    expect(spans.get('month')).toEqual({ from: at('2025-10-01T00:00+02:00'), to: at('2025-11-01T00:00+01:00') })
  })

  test.each([
    ['from=yesterday', 'from=\\"yesterday\\" is not a valid time.'],
    ['from=2025-02-30', 'from=\\"2025-02-30\\" is not a valid time.'],
    ['from=2025-10-02&to=2025-10-01', 'The range ends before it starts.'],
    ['from=1900-01-01', 'longer than a century'],
    ['last=week', 'last=\\"week\\" is not a number of days.'],
    ['last=0', 'last=\\"0\\" is not a number of days.'],
    ['asof=tomorrow', 'asof=\\"tomorrow\\" is not a valid time.'],
    ['asof=2025-02-30T00:00:00Z', 'is not a valid time.'],
  ])('an invalid range is refused with the legal values: %s', async (query, says) => {
    const path = query.startsWith('from=1900') ? `${query}&to=2025-01-01` : query
    const response = await get(`/series/600.json?${path}`)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(says)
  })

  test.each(['/series/9999', '/series/s99', '/series/x', '/api/series/600/99', '/explain/600/3/1', '/explain/600/3/x'])(
    'a series that is not stored is not found: %s',
    async (path) => {
      expect((await get(path)).status).toBe(404)
    },
  )
})

test('a number that counts all geos of a request is shown as an upper limit', async () => {
  const range = (from: string) => `/series/600?geo=3&from=${from}&to=2025-11-01`
  expect(await (await get(range('2023-01-01'))).text()).toContain('≤ ')
  expect(await (await get(range('2025-10-01'))).text()).not.toContain('≤ ')
})

test('values as of an earlier moment are shown beside current ones, with differences', async () => {
  const { chart, table } = await data(
    `/series/544.json?from=2025-10-26&to=2025-10-26T07:00:00%2B01:00&asof=${NIGHTS[1]}`,
  )
  expect(chart.asOf).toBe(new Date(NIGHTS[1]).toISOString())
  expect(chart.before.segments).not.toEqual(chart.now.segments)
  expect(table.level).toBe('values')
  expect(table.rows.some(({ mean, before }: { mean: number; before: number }) => mean !== before)).toBe(true)
  const shown = reader.all(
    `select value from observation_history where indicator_id = 544 and at >= unixepoch('2025-10-25T22:00Z') and at < unixepoch('2025-10-26T06:00Z')
       and valid_from <= ? and (valid_to is null or valid_to > ?) order by at`,
    [chart.asOf, chart.asOf],
  ) as { value: number }[]
  expect(table.rows.map(({ before }: { before: number }) => before)).toEqual(shown.map(({ value }) => value))
})

test('the means of a day of which only a part was known have no difference', async () => {
  const query = `geo=8741&from=2025-10-20&to=2025-10-27&asof=${NIGHTS[0]}`
  const { rows } = (await data(`/series/1293.json?${query}`)).table
  const page = await text(`/series/1293?${query}&lang=en`)
  const cells = page
    .match(/<table class="values">.*?<\/table>/s)![0]
    .split('<tr>')
    .slice(2)
  const differences = cells.map((row) => row.split('</td>').at(-2)!.replace(/.*>/s, ''))
  const isEmpty = rows.map(
    ({ seconds, secondsBefore }: Record<string, number>) => seconds === 0 || seconds !== secondsBefore,
  )
  expect(differences.map((cell) => cell === '')).toEqual(isEmpty)
  const known = rows.filter(({ secondsBefore }: Record<string, number>) => secondsBefore! > 0)
  expect(known.map(({ seconds, secondsBefore }: Record<string, number>) => seconds === secondsBefore)).toEqual(
    expect.arrayContaining([true, false]),
  )
})

test('the figures of a past moment are those of the values known then', async () => {
  const query = `from=2025-10-26&to=2025-10-26T07:00:00%2B01:00&asof=${NIGHTS[1]}`
  const { figures, table } = await data(`/series/544.json?${query}`)
  const known = table.rows.map(({ before }: { before: number }) => before)
  const mean = known.reduce((sum: number, value: number) => sum + value, 0) / known.length
  expect([figures.low.value, figures.high.value]).toEqual([Math.min(...known), Math.max(...known)])
  expect(figures.mean).toBeCloseTo(mean, 6)
  const page = await text(`/series/544?${query}`)
  expect(/<dl class="facts">[\s\S]*?<\/dl>/.exec(page)![0]).toMatch(/As known at[\s\S]*mean/)
  expect(page).not.toMatch(/<dt>value now/i)
})

test('past values that differ are those that changed or ended', () => {
  const drawn = (...values: (number | null)[]) => ({
    kind: 'values' as const,
    segments: [{ from: 0, step: 60, values }],
  })
  const { segments } = differing(drawn(1, 2, null, 4, 5), drawn(1, 3, 3, null))
  expect(segments.map(({ from }) => from)).toEqual([60, 120])
})

test('a past state with few values has the columns of the current line', async () => {
  // On the first night, most values of these days were not known.
  const { chart } = await data(`/series/544.json?geo=8741&from=2025-10-23&to=2025-10-29&asof=${NIGHTS[0]}&px=600`)
  const known = await data('/series/544.json?geo=8741&from=2025-10-23&to=2025-10-26&px=600')
  expect([known.chart.now.kind, chart.now.kind, chart.before.kind]).toEqual(['values', 'extremes', 'extremes'])
  expect(chart.before.segments[0].step).toBe(chart.now.segments[0].step)
})

test('beside a past moment stands the time of the request whose values it shows', async () => {
  const page = await text(`/series/1293?geo=8741&asof=${new Date(ms(NIGHTS[2]) + 3_600_000).toISOString()}`)
  const fetched = reader.get(
    `select max(finished_at) from _fetch where series_id in (select id from series where indicator_id = 1293)
       and finished_at <= '${new Date(ms(NIGHTS[2]) + 3_600_000).toISOString()}'`,
  )
  expect(page).toContain(`fetched ${localClock('Europe/Madrid', Date.parse(String(fetched)) / 1000).slice(0, 10)}`)
})

test('compared series are shown as known at the same moment, in the chart and the table', async () => {
  const query = `geo=8741&from=2025-10-26&to=2025-10-26T07:00:00%2B01:00&asof=${NIGHTS[1]}`
  const alone = await data(`/series/544.json?${query}`)
  const beside = await data(`/series/1293.json?${query}&with=544`)
  expect(alone.chart.before.segments).not.toEqual(alone.chart.now.segments)
  expect(beside.chart.compared[0].drawn).toEqual(alone.chart.before)
  const known = new Map(alone.table.rows.map(({ from, before }: { from: number; before: number }) => [from, before]))
  for (const { from, compared } of beside.table.rows) expect(compared).toEqual([known.get(from) ?? null])
  const moved = await data(`/api/series/1293/8741?${query}&with=544`)
  expect(moved.compared[0].drawn).toEqual(alone.chart.before)
  expect(await text(`/series/1293?${query}&with=544`)).toMatch(/<li class="with-0">.*as known at/)
})

test('the displayed statement and command return the values of the page', async () => {
  for (const asof of ['', `&asof=${NIGHTS[2]}`]) {
    const { sql, commands, table } = await data(`/series/600.json?from=2025-10-25&to=2025-10-26${asof}`)
    const values = (reader.all(sql) as { value: number }[]).map(({ value }) => value)
    const key = asof ? 'before' : 'mean'
    expect(values).toEqual(table.rows.map((row: Record<string, number>) => row[key]))
    expect(commands).toEqual([
      `show 600 --geo 3 --from 2025-10-25 --to 2025-10-26${asof && ` --as-of ${new Date(NIGHTS[2]).toISOString()}`}`,
    ])
  }
})

test.each([
  ['2025-10-26', '2025-10-25T22:00:00.000Z'],
  ['2025-10-26T06:00', '2025-10-26T05:00:00.000Z'],
  ['2025-10-26T06:00:00 01:00', '2025-10-26T05:00:00.000Z'],
])('a past moment is a local day, a local time or an instant: %s', async (asof, moment) => {
  expect((await data(`/series/600.json?asof=${asof}`)).chart.asOf).toBe(moment)
})

test('single values have the same number of decimals', async () => {
  const page = await text('/series/600?geo=3&from=2025-10-26&to=2025-10-27')
  const table = /<table class="values">[\s\S]*?<\/table>/.exec(page)![0]
  const decimals = [...table.matchAll(/<td class="number">[\d,]+(?:\.(\d+))?</g)].map(
    ([, digits = '']) => digits.length,
  )
  expect([decimals.length, [...new Set(decimals)]]).toEqual([100, [2]])
})

test('a change of step is marked in the chart and explained in a sentence', async () => {
  const change = Date.parse('2025-10-25T00:00+02:00') / 1000
  const store = await openStore(server.file)
  store.run(`insert into _resolution select id, ?, 900 from series where indicator_id = 600`, [change])
  await store.close()
  const path = '/series/600?from=2025-10-24&to=2025-10-27'
  expect((await data(path.replace('?', '.json?'))).chart.steps).toEqual([[change, 900, '15 min → 15 min']])
  expect(await text(path)).toContain('From 2025-10-25 00:00 on a value every 15 min.')
  expect((await data('/series/600.json?from=2025-10-26&to=2025-10-27')).chart.steps).toEqual([])
})

test('CSV contains every value of the range and the value as of the earlier moment', async () => {
  const query = `from=2025-10-26&to=2025-10-26T07:00:00%2B01:00&asof=${NIGHTS[1]}`
  const lines = (await text(`/api/csv/544/8741?${query}`)).trim().split('\n')
  const { table } = await data(`/series/544.json?${query}`)
  expect(lines[0]).toBe('at_utc,at_local,value,step_s,value_then,step_s_then')
  expect(lines.slice(1)).toHaveLength(table.rows.length)
  const [first] = table.rows
  expect(lines[1]).toBe(`2025-10-25T22:00:00Z,2025-10-26T00:00:00+02:00,${first.mean},300,${first.before},300`)
  const plain = await get('/api/csv/600/3?from=2025-10-26&to=2025-10-27')
  expect(plain.headers.get('content-disposition')).toBe(
    'attachment; filename="600-3-day-ahead-spot-market-price-2025-10-26-2025-10-27.csv"',
  )
  expect((await plain.text()).trim().split('\n')).toHaveLength(101)
})

test.each([
  ['now', ''],
  ['as of a past moment', `&asof=${NIGHTS[1]}`],
])('CSV, statement and commands include all compared series, %s', async (_name, asof) => {
  const query = `geo=8741&from=2025-10-26&to=2025-10-27${asof}&with=544`
  const { sql, commands, chart } = await data(`/series/1293.json?${query}`)
  expect(commands.map((command: string) => command.slice(0, 15))).toEqual(['show 1293 --geo', 'show 544 --geo '])
  const values = (indicator: number) =>
    (reader.all(sql) as { indicator_id: number; value: number }[])
      .filter((row) => row.indicator_id === indicator)
      .map(({ value }) => value)
  const [head = '', ...lines] = (await text(`/api/csv/1293/8741?${query}`)).trim().split('\n')
  const names = head.match(/"[^"]*"|[^,]+/g)!
  expect(names.at(-1)).toBe(`"${chart.compared[0].name} (MW)${asof ? ': value_then' : ''}"`)
  expect(names[2]).toMatch(/^"Actual demand, .* \(MW\): value"$/)
  const column = (place: number): number[] =>
    lines.map((line) => line.split(',').at(place)!).flatMap((cell) => (cell === '' ? [] : [Number(cell)]))
  expect(column(-1)).toEqual(values(544))
  expect(column(asof ? 4 : 2)).toEqual(values(1293))
})

describe('lines beside the first one', () => {
  type LineData = {
    readonly segments: readonly {
      readonly from: number
      readonly step: number
      readonly values: number[]
      readonly seconds?: number[]
    }[]
  }
  const means = ({ segments }: LineData): Map<number, number> =>
    new Map(segments.flatMap(({ from, step, values }) => values.map((value, i) => [from + i * step, value] as const)))

  test('the chart and the table show the same series a day or a week earlier', async () => {
    const days = 'from=2025-10-29&to=2025-10-30'
    const { chart, table } = await data(`/series/600.json?${days}&shift=day`)
    const earlier = await data('/series/600.json?from=2025-10-28&to=2025-10-29')
    const shifted = means(chart.compared[0].drawn)
    const stored = means(earlier.chart.now)
    expect(shifted.size).toBeGreaterThan(90)
    for (const [at, value] of shifted) expect(value).toBe(stored.get(at - 86_400))
    for (const { from, compared } of table.rows) expect(compared[0]).toBeCloseTo(stored.get(from - 86_400)!, 6)
    const page = await text(`/series/600?${days}&shift=day`)
    expect(page).toMatch(/<li class="with-0"><bdi>the day before<\/bdi>/)
    expect(page).toContain('<option value="day" selected>')
    expect((await data(`/series/600.json?${days}&shift=nonsense`)).chart.compared).toEqual([])
  })

  test.each([
    ['the 25-hour day', '2025-10-26', '2025-10-27'],
    ['the day after it', '2025-10-27', '2025-10-28'],
  ])('%s has a row for every value beside the day before', async (_name, from, to) => {
    const { chart, table } = await data(`/series/600.json?from=${from}&to=${to}&shift=day&by=hour`)
    expect(table.rows.every(({ compared }: { compared: unknown[] }) => compared.length === 1)).toBe(true)
    const begins = [...means(chart.compared[0].drawn).keys()]
    expect(begins[0], 'both begin with the local day').toBe(chart.from)
    expect(begins).toEqual([...new Set(begins)].sort((a, b) => a - b))
  })

  test.each([
    ['after the clocks went back', '2025-10-20', '2025-10-29', 'week'],
    ['on the day itself', '2025-10-26', '2025-10-27', 'day'],
    ['over the day itself', '2025-10-27', '2025-10-28', 'day'],
  ])('%s, an earlier value is at its local time, in the chart and the table', async (_name, from, to, shift) => {
    const { chart, table } = await data(`/series/600.json?from=${from}&to=${to}&shift=${shift}&px=1000`)
    const days = { day: 1, week: 7 }[shift]!
    const values = means((await data('/series/600.json?from=2025-10-19&to=2025-10-30&px=1000')).chart.now)
    const shifted = new Map([...means(chart.compared[0].drawn)].filter(([, value]) => value !== null))
    expect(shifted.size).toBeGreaterThan(90)
    const earlierAt = (at: number): number | undefined => {
      const [date, clock] = localClock('Europe/Madrid', at).split('T') as [string, string]
      const day = new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10)
      return values.get(
        ms(`${day}T${clock}${day < '2025-10-26' || (day === '2025-10-26' && clock < '03') ? '+02:00' : '+01:00'}`) /
          1000,
      )
    }
    for (const [at, value] of shifted) expect(value, localClock('Europe/Madrid', at)).toBe(earlierAt(at))
    if (table.level === 'values')
      for (const { from, compared } of table.rows)
        if (shifted.has(from)) expect(compared[0], localClock('Europe/Madrid', from)).toBeCloseTo(earlierAt(from)!, 6)
        else expect(compared[0]).toBeNull()
  })

  test('the difference of two series of one unit is that of their means over the same hours', async () => {
    const query = 'geo=8741&from=2025-10-24&to=2025-10-28&with=544&difference=1&by=hour'
    const { chart } = await data(`/series/1293.json?${query}`)
    const [forecast] = chart.compared
    const [first, second, result] = [chart.now, forecast.drawn, chart.difference.drawn].map(means) as Map<
      number,
      number
    >[]
    expect(result!.size).toBeGreaterThan(90)
    for (const [at, value] of result!) expect(value).toBeCloseTo(first!.get(at)! - second!.get(at)!, 6)
    const page = await text(`/series/1293?${query}&lang=en`)
    const rows = page
      .match(/<table class="values">.*?<\/table>/s)![0]
      .split('<tr>')
      .slice(2)
    for (const row of rows) {
      const cells = row
        .split('</td>')
        .map((cell) => Number(cell.replace(/.*>/s, '').replaceAll(',', '').replace('−', '-')))
      const mean = cells[0] ?? 0
      const other = cells.at(-3) ?? 0
      const result = cells.at(-2)
      // The cells are rounded to whole numbers.
      expect(Math.abs(result! - (mean - other))).toBeLessThanOrEqual(1)
    }
    expect(rows, 'one for each hour').toHaveLength(97)
    const partly = await data(
      `/series/1293.json?${query.replace('to=2025-10-28', 'to=2025-10-31').replace('hour', 'day')}`,
    )
    const seconds = (drawn: LineData) =>
      new Map(drawn.segments.flatMap(({ from, step, seconds = [] }) => seconds.map((n, i) => [from + i * step, n])))
    const own = seconds(partly.chart.now)
    const others = seconds(partly.chart.compared[0].drawn)
    const shared = [...own].filter(([at, n]) => others.get(at) === n).map(([at]) => at)
    expect([...own.keys()].length, 'a day of which a part is stored').toBeGreaterThan(shared.length)
    expect([...means(partly.chart.difference.drawn).keys()], 'only means of the same hours').toEqual(shared)
    const alone = await data('/series/1293.json?geo=8741&from=2025-10-24&to=2025-10-28&difference=1')
    expect([alone.chart.compared, alone.chart.difference], 'nothing to subtract').toEqual([[], null])
  })

  test('a series is shown as means by hours, days or months on request', async () => {
    const drawn = async (by: string) =>
      (await data(`/series/600.json?from=2025-10-25&to=2025-10-28&by=${by}`)).chart.now
    expect(means(await drawn('hour')).size).toBe(73)
    const days = await drawn('day')
    const expected = reader.all(
      `select avg as mean from observations_daily where indicator_id = 600 and geo_id = 3 and local_date between '2025-10-25' and '2025-10-27' order by at`,
    ) as { mean: number }[]
    expect([...means(days).values()].map((mean) => mean.toFixed(2))).toEqual(
      expected.map(({ mean }) => mean.toFixed(2)),
    )
    expect(days.segments.map(({ step }: { step: number }) => step)).toEqual([86_400, 90_000, 86_400])
  })

  test('weeks begin on Monday, and an earlier week has its mean in the legend, the table and CSV', async () => {
    const { table } = await data('/series/600.json?from=2025-10-22&to=2025-10-29&by=week')
    expect(table.rows.map(({ from, to, seconds }: Record<string, number>) => [from, to! - from!, seconds])).toEqual([
      [ms('2025-10-19T22:00:00Z') / 1000, 7 * 86_400 + 3600, 7 * 86_400 + 3600],
      [ms('2025-10-26T23:00:00Z') / 1000, 7 * 86_400, 3 * 86_400],
    ])
    const query = 'from=2025-10-27&to=2025-10-30&shift=week&by=day&difference=1'
    const [{ mean, compared }] = (await data(`/series/600.json?${query}`)).table.rows
    const csv = (await text(`/api/csv/600/3?${query}&lang=en`)).trim().split('\n')
    expect(csv[0]).toMatch(/hours,a week before \(€\/MWh\),a week before: hours,.*difference: /)
    const difference = Number((mean - compared[0]).toFixed(9))
    expect(csv[1]!.split(',').slice(-3).map(Number)).toEqual([compared[0], 24, difference])
    const { avg } = reader.all(
      `select sum(value * step_s) / sum(step_s) as avg from observations where indicator_id = 600 and geo_id = 3
         and at_local >= '2025-10-20' and at_local < '2025-10-23'`,
    )[0] as { avg: number }
    expect(await text(`/series/600?${query}&lang=en`)).toContain(`a week before</bdi> (€/MWh) · mean ${avg.toFixed(2)}`)
  })

  test('a summary of a part of its period is marked, also of a compared series', async () => {
    const page = await text('/series/600?from=2025-10-27&to=2025-10-31&by=day&with=1293&lang=en')
    const cells = [...page.matchAll(/<td class="number">(\* )?[^<]+<\/td>/g)]
    expect(cells.filter(([, mark]) => mark !== undefined).length).toBeGreaterThan(0)
    expect(page).toContain('* covers only a part of the period')
    expect(await text('/series/600?from=2025-10-25&to=2025-10-28&by=day&lang=en')).not.toContain('covers only a part')
  })

  test('a mean says how much of its range has values', async () => {
    const page = (query: string) => text(`/series/600?lang=en&${query}`)
    expect(await page('from=2025-10-25&to=2025-10-28')).not.toContain('values for')
    expect(await page('from=2026-01-01&to=2026-01-03')).not.toContain('values for')
    expect(await page('from=2025-10-28&to=2025-11-07')).toContain('values for 20% of it')
  })

  test('the table, the legend, CSV and SQL follow the chosen summary', async () => {
    const query = 'from=2025-10-25&to=2025-10-28&by=day'
    const { chart, table, sql } = await data(`/series/600.json?${query}`)
    const drawn = [...means(chart.now).values()]
    expect(table.level).toBe('day')
    expect(table.rows.map(({ mean }: { mean: number }) => Number(mean.toPrecision(6)))).toEqual(drawn)
    expect(reader.all(sql).map((row) => Number((row as { avg: number }).avg.toPrecision(6)))).toEqual(drawn)
    const csv = (await text(`/api/csv/600/3?${query}`)).trim().split('\n')
    expect(csv[0]).toBe('at_utc,at_local,mean,smallest,largest,count,hours')
    expect(csv.slice(1).map((row) => Number(Number(row.split(',')[2]).toPrecision(6)))).toEqual(drawn)
    expect(csv.slice(1).map((row) => row.split(',').at(-1))).toEqual(['24', '25', '24'])
    expect(await text(`/series/600?${query}&lang=en`)).toContain('line: mean of each day; band: smallest to largest')
    const months = await data('/series/600.json?from=2025-10-25&to=2025-10-28&by=month')
    expect(reader.all(months.sql), 'the whole month').toHaveLength(1)
  })

  test('energies are summed, in the chart, the table, CSV and the key figures', async () => {
    const store = await openStore(server.file)
    const magnitude = `update magnitude set measure = 'energy', unit = 'MWh' where id = (select magnitude_id from indicator where kind = 'indicator' and id = 1293)`
    expect(
      store.all(
        `select measure from magnitude where id = (select magnitude_id from indicator where kind = 'indicator' and id = 1293)`,
      ),
    ).toEqual([{ measure: 'power' }])
    await store.write(async () => store.run(magnitude, []))
    try {
      const query = 'geo=8741&from=2025-10-25&to=2025-10-27'
      const { chart, table, figures } = await data(`/series/1293.json?${query}&by=day`)
      const sums = reader.all(
        `select sum(value) as sum from observations where indicator_id = 1293 and geo_id = 8741 and time_trunc is null and local_date between '2025-10-25' and '2025-10-26' group by local_date order by 1`,
      ) as { sum: number }[]
      const expected = sums.map(({ sum }) => Number(sum.toPrecision(6))).sort()
      expect([...means(chart.now).values()].sort()).toEqual(expected)
      expect(table.rows.map(({ mean }: { mean: number }) => Number(mean.toPrecision(6))).sort()).toEqual(expected)
      expect(figures.sum).toBeCloseTo(
        sums.reduce((total, { sum }) => total + sum, 0),
        3,
      )
      expect(chart.bucket).toBe('line: sum of each day')
      expect((await text(`/api/csv/1293/8741?${query}&by=day`)).split('\n')[0]).toContain('sum,smallest')
      const page = await text(`/series/1293?${query}&lang=en`)
      expect(page).toContain('<dt>sum</dt>')
      expect(page).not.toContain('<dt>mean</dt>')
    } finally {
      await store.write(async () => store.run(magnitude.replace("'energy'", "'power'").replace("'MWh'", "'MW'"), []))
      await store.close()
    }
  })

  test('a line without values says so, and where to fetch them', async () => {
    const page = await text('/series/600?from=2025-10-25&to=2025-10-28&shift=year&lang=en')
    const [item] = page.match(/<li class="with-0">.*?<\/li>/s)!
    expect(item).toContain('no values in this range')
    expect(item).toContain('href="/coverage/600?geo=3&amp;year=2024')
  })

  test('a third unit has no axis: the page names what to remove and keeps the rest', async () => {
    const query = 'from=2025-10-25&to=2025-10-28&lang=en&with=600:1,544:8741'
    const { chart } = await data(`/series/600.json?${query}`)
    expect(chart.compared).toHaveLength(2)
    expect(await text(`/series/600?${query}`), 'also without scripts').toContain(
      '<text x="800" y="10" text-anchor="end">MW</text>',
    )
    await withThirdUnit(async () => {
      const refused = await get(`/series/600?${query},1293:8741`)
      expect(refused.status).toBe(400)
      const page = await refused.text()
      expect(page).toContain('A chart has axes for two units. Left out: <bdi>Actual demand, Península</bdi>')
      expect(page).toContain('<li class="with-1">')
      expect(page).not.toContain('<li class="with-2">')
      expect(page).toContain('value="600:1,544:8741,1293:8741"')
    })
  })

  /** Runs an action while the unit of indicator 1293 is unknown. */
  async function withThirdUnit(work: () => Promise<void>): Promise<void> {
    const store = await openStore(server.file)
    const of = "where kind = 'indicator' and id = 1293"
    const [{ magnitude_id } = { magnitude_id: 0 }] = store.all(`select magnitude_id from indicator ${of}`) as {
      magnitude_id: number
    }[]
    const set = (id: number | null) =>
      store.write(async () => store.run(`update indicator set magnitude_id = ? ${of}`, [id]))
    await set(null)
    try {
      await work()
    } finally {
      await set(magnitude_id)
      await store.close()
    }
  }

  test('each mistake in the names has a message, and the other names are compared', async () => {
    const query = 'from=2025-10-25&to=2025-10-28&difference=1&with=nothing-like-it,600:1,544:8741,1293:8741'
    await withThirdUnit(async () => {
      const { problems, chart } = await data(`/series/600.json?${query}`)
      expect(problems.map(({ code }: { code: string }) => code)).toEqual(['not-found', 'third-unit'])
      expect(chart.compared.map(({ path }: { path: string | null }) => path)).toEqual(['600', '544'])
      expect(chart.difference.of).toBe(0)
    })
    const wrongTime = await data('/series/600.json?from=2025-02-30&with=600:1')
    expect(wrongTime.problems.map(({ code }: { code: string }) => code)).toEqual(['bad-time'])
    expect(wrongTime.chart.compared).toHaveLength(1)
  })
})

test('the heat map of a clock change day has 25 or 23 hours', async () => {
  const { slots, days } = await data('/api/carpet/600/3?from=2025-10-24&to=2025-10-28')
  expect(slots).toHaveLength(25)
  expect(slots[3]).toEqual({ hour: 2, again: true })
  expect(days.map(({ hours }: { hours: unknown[] }) => hours.filter((hour) => hour === false).length)).toEqual([
    1, 1, 0, 1,
  ])
  const quarters = reader.all(
    `select avg(value) as mean from observations where indicator_id = 600 and geo_id = 3 and at >= unixepoch('2025-10-26T01:00Z') and at < unixepoch('2025-10-26T02:00Z')`,
  ) as [{ mean: number }]
  expect(days[2].hours[3]).toBeCloseTo(quarters[0].mean, 3)
  const spring = await data('/api/carpet/600/3?from=2025-03-30&to=2025-03-31')
  expect(spring.slots).toHaveLength(24)
  expect(spring.days[0].hours.filter((hour: unknown) => hour === false)).toHaveLength(1)
  expect(spring.days[0].hours[2]).toBe(false)
})

test('the page of a value shows its versions, requests, runs and position in the stored response', async () => {
  const revised = reader.all(
    `select at, count(*) as versions from observation_revision r join series s on s.id = r.series_id
     where s.indicator_id = 544 group by at order by versions desc, at limit 1`,
  ) as [{ at: number; versions: number }]
  const { at, versions } = revised[0]
  const explained = await data(`/explain/544/8741/${at}.json`)
  expect(explained.versions).toHaveLength(versions + 1)
  expect(explained.versions[0].until).toBeNull()
  for (const { value, origin, place } of explained.versions) {
    expect(origin.job).toBe('nights')
    expect(origin.target).toContain('/indicators/544?')
    expect(place.path).toMatch(/^\$\.indicator\.values\[\d+]$/)
    expect(JSON.parse(place.fragment)).toMatchObject({ value, geo_id: 8741 })
  }
  expect(explained.confirmed.fetch).toBeGreaterThanOrEqual(explained.versions[0].origin.fetch)
})

describe('a series for comparison', () => {
  const compare = (name: string, path = '/series/600.json') =>
    get(`${path}?from=2025-10-26&to=2025-10-27&with=${encodeURIComponent(name)}`)
  const error = async (response: Response) => ((await response.json()) as { error: string }).error
  const names = async () => {
    const found = await data('/api/names?q=')
    return new Map<string, string>(found.map(({ path, name }: Record<string, string>) => [path!, name!]))
  }

  test('a mistaken name stays in its field, also beside an earlier period', async () => {
    const page = await (await compare('nonsense', '/series/600')).text()
    const shifted = await (await get('/series/600?from=2025-10-26&to=2025-10-27&shift=day&with=nonsense')).text()
    for (const html of [page, shifted]) {
      expect(html).toMatch(/<input name="with"[^>]* value="nonsense"/)
      expect(html).not.toContain('type="hidden" name="with"')
    }
  })

  test('a series is found by its name, by words in any order, and with a geo', async () => {
    const name = (await names()).get('1293')!
    for (const text of [
      name,
      `${name}s`,
      name.toUpperCase(),
      name.split(' ').reverse().join(' '),
      `544,${name}`,
      `${name}:8741`,
    ]) {
      const { problems, chart } = (await (await compare(text)).json()) as {
        problems: object[]
        chart: { compared: { path: string }[] }
      }
      expect(problems, text).toEqual([])
      expect(chart.compared.at(-1)!.path, text).toBe('1293')
    }
  })

  test('several matches are listed for selection, and keep the range and the comparison', async () => {
    const response = await compare('1293,demand', '/series/600')
    expect(response.status).toBe(400)
    const page = await response.text()
    expect(page).toContain('Several series match')
    expect(page, 'the other series stays').toMatch(/<li class="with-0"><a href="\/series\/1293">/)
    expect(page).toMatch(/role="alert">[^\n]*with=1293%2C544&amp;from=2025-10-26&amp;to=2025-10-27"/)
    const failed = await compare('demand', '/api/series/600/3')
    expect([failed.status, await error(failed)]).toEqual([400, expect.stringContaining('1293')])
  })

  test('an unknown series is named in the chart data', async () => {
    const response = await compare('nothing like it', '/api/series/600/3')
    expect(response.status).toBe(404)
    expect(await error(response)).toBe('not found: series nothing like it')
  })
})

test.each([
  [600, 3],
  [1293, 8741],
])('the extremes of series %s have their own times, not those of a chart bucket', async (id, geo) => {
  const page = await text(`/series/${id}?geo=${geo}&from=2025-10-01&to=2025-10-31&lang=en`)
  expect((await data(`/series/${id}.json?geo=${geo}&from=2025-10-01&to=2025-10-31`)).chart.now.kind).toBe('extremes')
  for (const [name, order] of [
    ['smallest', 'asc'],
    ['largest', 'desc'],
  ]) {
    const [row] = reader.all(
      `select at_local from observations where indicator_id = ? and geo_id = ? and time_trunc is null
       and local_date between '2025-10-01' and '2025-10-30' order by value ${order}, at limit 1`,
      [id, geo],
    ) as { at_local: string }[]
    const [, shown] = new RegExp(`<dt>${name}</dt>[^]*?(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d)`).exec(page)!
    expect(shown, name).toBe(row!.at_local.slice(0, 16).replace('T', ' '))
  }
  const [{ mean } = { mean: 0 }] = reader.all(
    `select sum(value * step_s) / sum(step_s) as mean from observations where indicator_id = ? and geo_id = ?
     and time_trunc is null and local_date between '2025-10-01' and '2025-10-30'`,
    [id, geo],
  ) as { mean: number }[]
  const { figures } = await data(`/series/${id}.json?geo=${geo}&from=2025-10-01&to=2025-10-31`)
  expect(figures.mean).toBeCloseTo(mean, 6)
})

test('a summary by days of a century has no table of every day', async () => {
  const { table } = await data('/series/600.json?geo=3&from=1930-01-01&to=2029-12-01&by=day&shift=year')
  expect(table.rows.length).toBeLessThan(200)
})
