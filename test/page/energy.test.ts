import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LineData } from '../../src/page/client/segments.ts'
import { eachPeriod } from '../../src/page/client/segments.ts'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { serveDemo } from './site.ts'

/* The demo has energies that change from hours to quarter-hours on 2025-10-01. */

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveDemo(folder)
})
afterAll(() => server.close())

const text = async (path: string) => (await fetch(server.url + path)).text()
// biome-ignore lint/suspicious/noExplicitAny: tests read any part of it
const data = async (path: string): Promise<any> => (await fetch(server.url + path)).json()

const CHANGE = Date.parse('2025-10-01T00:00+02:00') / 1000

/** The mean of the drawn periods before or after the change. */
function meanOf(drawn: LineData, isBefore: boolean): number {
  const means = [...eachPeriod(drawn)].flatMap(({ from, mean }) =>
    from < CHANGE === isBefore && mean !== null ? [mean] : [],
  )
  expect(means.length).toBeGreaterThan(20)
  return means.reduce((sum, mean) => sum + mean, 0) / means.length
}

test.each([
  ['values', 'from=2025-09-30&to=2025-10-02', 'values'],
  ['columns', 'from=2025-09-01&to=2025-11-01', 'extremes'],
])('the line of an energy does not fall when its periods become shorter, drawn as %s', async (_, query, kind) => {
  const { chart, figures } = await data(`/series/602.json?${query}`)
  expect([chart.unit, chart.now.kind]).toEqual(['MWh/h', kind])
  expect(meanOf(chart.now, false) / meanOf(chart.now, true)).toBeGreaterThan(0.7)
  expect(chart.steps).toEqual([[CHANGE, 900, '1 h → 15 min']])
  const { low, high } = figures
  expect(low.value).toBeGreaterThan(high.value / 3)
  expect([900, 3600]).toContain(low.step)
  const page = await text(`/series/602?${query}&lang=en`)
  expect(page).toContain('1 h → 15 min</text>')
  expect(page).toMatch(
    /<dt>smallest<\/dt><dd>[\d,]+ <span class="soft">MWh\/h \d{4}-\d\d-\d\d \d\d:\d\d, (1 h|15 min)</,
  )
})

test('columns never mix periods of two lengths', async () => {
  const { now } = (await data('/series/602.json?from=2025-09-01&to=2025-11-01')).chart as { now: LineData }
  for (const { from, to } of eachPeriod(now)) expect(from < CHANGE && to > CHANGE).toBe(false)
})

test('the table has the energies themselves with their periods, and extremes per hour', async () => {
  const single = await data('/series/602.json?from=2025-09-30&to=2025-10-02')
  expect(single.table.level).toBe('hour')
  const few = '/series/602?from=2025-09-30T18:00:00%2B02:00&to=2025-10-01T06:00:00%2B02:00'
  const values = await data(few.replace('?', '.json?'))
  expect(values.table.level).toBe('values')
  const [first] = [...eachPeriod(values.chart.now)]
  const last = [...eachPeriod(values.chart.now)].at(-1)!
  expect(values.table.rows[0].mean).toBe(first!.mean)
  expect(values.table.rows.at(-1).mean * 4).toBeCloseTo(last.mean!, 6)
  expect(await text(`${few}&lang=en`)).toContain('>lasts</th>')
  expect(await text('/series/602?from=2025-09-01&to=2025-11-01&lang=en')).toContain('smallest (MWh/h)')
})

test('an energy summed by a chosen unit keeps its unit', async () => {
  const { chart } = await data('/series/602.json?from=2025-09-01&to=2025-11-01&by=day')
  expect(chart.unit).toBe('MWh')
})

test('an earlier period of other lengths is compared per hour', async () => {
  const { chart } = await data('/series/602.json?from=2025-10-02&to=2025-10-04&shift=week')
  const [earlier] = chart.compared
  expect([earlier.unit, earlier.valueUnit]).toEqual(['MWh/h', 'MWh'])
  const mean = (drawn: LineData) => {
    const all = [...eachPeriod(drawn)].flatMap(({ mean }) => mean ?? [])
    return all.reduce((sum, each) => sum + each, 0) / all.length
  }
  expect(mean(chart.now) / mean(earlier.drawn)).toBeGreaterThan(0.5)
})
