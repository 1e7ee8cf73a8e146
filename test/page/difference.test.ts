import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder, ms } from '../support/kit.ts'
import { openReader, type Reader } from '../support/testStore.ts'
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

const text = async (path: string) => (await fetch(server.url + path)).text()
// biome-ignore lint/suspicious/noExplicitAny: tests read any part of it
const data = async (path: string): Promise<any> => (await fetch(server.url + path)).json()

/** The differences of all values that two indicators have at the same time. */
function differences(first: number, second: number, from: string, to: string): number[] {
  const rows = reader.all(
    `select a.value - b.value as difference from observations a join observations b
       on b.at = a.at and b.step_s = a.step_s and b.geo_id = a.geo_id and b.indicator_id = ? and b.time_trunc is null
     where a.indicator_id = ? and a.geo_id = 8741 and a.time_trunc is null and a.at >= unixepoch(?) and a.at < unixepoch(?)`,
    [second, first, from, to],
  ) as { difference: number }[]
  return rows.map(({ difference }) => difference)
}

/** The mean, the mean size and the root of the mean square of differences. */
function figuresOf(all: readonly number[]) {
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b) / numbers.length
  return {
    bias: expect.closeTo(mean(all), 6),
    mae: expect.closeTo(mean(all.map(Math.abs)), 6),
    rmse: expect.closeTo(Math.sqrt(mean(all.map((one) => one * one))), 6),
  }
}

describe('the difference of a comparison', () => {
  test('it has a panel of its own with bias, MAE and RMSE of every value, in the unit of the series', async () => {
    const query = 'geo=8741&from=2025-10-24&to=2025-10-28&with=1293&difference=1'
    const { chart } = await data(`/series/544.json?${query}`)
    expect(chart.compared).toHaveLength(1)
    const all = differences(544, 1293, '2025-10-23T22:00Z', '2025-10-27T23:00Z')
    expect(all.length).toBeGreaterThan(1_000)
    // The picture has fewer columns than values; the figures have all.
    expect(chart.difference.drawn.segments.flatMap(({ values }: { values: number[] }) => values).length).toBeLessThan(
      all.length,
    )
    expect(chart.difference).toMatchObject({ ...figuresOf(all), unit: 'MW', seconds: all.length * 300 })
    const page = await text(`/series/544?${query}&lang=en`)
    const [figures] = /<p class="soft" id="difference"[\s\S]*?<\/p>/.exec(page)!
    expect(figures).toMatch(/bias [+-][\d.,]+ MW, MAE [\d.,]+ MW, RMSE [\d.,]+ MW/)
    expect((await data(`/api/series/544/8741?${query}&px=900`)).difference).toMatchObject(figuresOf(all))
  })

  test('a line of which only the other has too many values is summarized too', async () => {
    const query = 'geo=8741&from=2025-10-24&to=2025-10-31&with=1293&difference=1&px=1000'
    const { now, compared, difference } = await data(`/api/series/544/8741?${query}`)
    expect([now.kind, compared[0].drawn.kind]).toEqual(['extremes', 'values'])
    expect(difference.drawn.segments[0].step).toBe(now.segments[0].step)
  })

  test('it needs no axis of the chart, so that two other units fit', async () => {
    const query = 'from=2025-10-25&to=2025-10-28&with=600:1,544:8741&difference=1'
    const response = await fetch(`${server.url}/series/600.json?${query}`)
    expect(response.status).toBe(200)
    const { chart } = (await response.json()) as { chart: { compared: object[]; difference: object } }
    expect(chart.compared).toHaveLength(2)
    expect(chart.difference).not.toBeNull()
  })

  test('a long range has the figures of its daily means', async () => {
    const query = 'geo=8741&from=2025-01-01&to=2026-01-01&with=1293&difference=1'
    const { chart } = await data(`/series/544.json?${query}`)
    const rows = reader.all(
      `select a.avg - b.avg as difference from observations_daily a join observations_daily b
         on b.local_date = a.local_date and b.geo_id = a.geo_id and b.indicator_id = 1293 and b.time_trunc is null and b.hours = a.hours
       where a.indicator_id = 544 and a.geo_id = 8741 and a.time_trunc is null`,
      [],
    ) as { difference: number }[]
    expect(rows.length).toBeGreaterThan(3)
    const { seconds } = chart.difference
    expect(seconds % 3_600).toBe(0)
    const mean = rows.map(({ difference }) => Math.abs(difference)).reduce((a, b) => a + b) / rows.length
    // The day of 25 hours weighs more.
    expect(chart.difference.mae / mean).toBeCloseTo(1, 1)
  })

  test('it is known as at the chosen moment', async () => {
    const query = 'geo=8741&from=2025-10-26&to=2025-10-26T05:00:00%2B01:00&with=1293&difference=1'
    const now = await data(`/series/544.json?${query}`)
    const then = await data(`/series/544.json?${query}&asof=${NIGHTS[2]}`)
    expect(then.chart.difference.mae).not.toBe(now.chart.difference.mae)
    const rows = then.table.rows.map(({ before, compared }: { before: number | null; compared: (number | null)[] }) =>
      before === null || compared[0] === null ? [] : [before - compared[0]!],
    )
    expect(then.table.level).toBe('values')
    expect(then.chart.difference).toMatchObject(figuresOf(rows.flat()))
  })

  test('the unfinished day is marked, and no other one', async () => {
    const query = 'geo=8741&with=1293&difference=1'
    const { chart } = await data(`/series/544.json?${query}&from=2025-10-26&to=2025-10-31`)
    const day = ['2025-10-28T23:00:00Z', '2025-10-29T23:00:00Z'].map((at) => ms(at) / 1000)
    expect(chart.difference.unfinished).toEqual(day)
    const page = await text(`/series/544?${query}&from=2025-10-26&to=2025-10-31`)
    expect(page).toContain('class="unfinished"')
    const past = await data(`/series/544.json?${query}&from=2025-10-26&to=2025-10-28`)
    expect(past.chart.difference.unfinished).toBeNull()
  })

  test('without scripts it is a picture below the chart, with a zero line and bars on the same time axis', async () => {
    const query = 'geo=8741&from=2025-10-26&to=2025-10-28&with=1293&difference=1&by=hour'
    const page = await text(`/series/544?${query}&lang=en`)
    const [, main, panel] =
      /<svg class="figure"([\s\S]*?)<\/svg>[\s\S]*<svg class="figure difference"([\s\S]*?)<\/svg>/.exec(page)!
    expect(panel).toContain('viewBox="0 0 800 90"')
    expect(panel).toContain('class="zero"')
    const [, bars] = /<path class="bars" d="([^"]*)"/.exec(panel!)!
    const { chart } = await data(`/series/544.json?${query}`)
    const count = chart.difference.drawn.segments.flatMap(({ values }: { values: (number | null)[] }) =>
      values.filter((value) => value !== null),
    ).length
    expect(bars!.match(/M/g)).toHaveLength(count)
    const first = (path: string) => Number(/M([\d.]+)/.exec(path)![1])
    const [, line] = /<path class="line now" d="([^"]*)"/.exec(main!)!
    expect(first(bars!)).toBeCloseTo(first(line!), 1)
  })

  test('lines without a common period say so', async () => {
    const query = 'geo=8741&from=2025-10-26&to=2025-10-27&with=s3&difference=1'
    const series = reader.all(`select id from series where indicator_id = 1293 and time_trunc is not null`) as {
      id: number
    }[]
    const page = await text(`/series/1293?${query.replace('s3', `s${series[0]!.id}`)}&lang=en`)
    expect(page).toContain('The lines have no period in common. A summary makes them comparable.')
    const hours = await text(`/series/1293?${query.replace('s3', `s${series[0]!.id}`)}&by=hour&lang=en`)
    expect(hours).toMatch(/id="difference"[^>]*>[^<]*bias/)
  })

  test('the table and CSV have it as their last column', async () => {
    const query = 'geo=8741&from=2025-10-26&to=2025-10-27&with=1293,544&difference=1&by=hour&lang=en'
    const [head, ...lines] = (await text(`/api/csv/544/8741?${query}`)).trim().split('\n')
    expect(head!.match(/"[^"]*"|[^,]+/g)!.at(-1)).toMatch(
      /^"difference: Forecast demand, Península − Actual demand, Península \(MW\)"$/,
    )
    const { table } = await data(`/series/544.json?${query}`)
    expect(lines.map((line) => Number(line.split(',').at(-1)))).toEqual(
      table.rows.map(({ mean, compared }: { mean: number; compared: number[] }) =>
        Number((mean - compared[0]!).toFixed(9)),
      ),
    )
  })

  test('it is read by indexes only', async () => {
    const path = '/series/544?geo=8741&from=2025-10-24&to=2025-10-28&with=1293,600:3&shift=week&difference=1'
    let size = 0
    const scans = await scansOf(reader, async () => {
      size = (await text(path)).length
    })
    expect(scans).toEqual([])
    expect(size).toBeLessThan(100_000)
  })
})

describe('gaps of compared lines', () => {
  test('the chart and the list have the states of every line, moved for an earlier period', async () => {
    // Before 22 October no job selects it, and the last days may still change.
    const query = 'geo=8741&from=2025-10-20&to=2025-10-30'
    const alone = await data(`/series/1293.json?${query}`)
    expect(alone.chart.states.length).toBeGreaterThan(1)
    const { chart, compared } = await data(`/series/544.json?${query}&with=1293`)
    expect(chart.compared[0].states).toEqual(alone.chart.states)
    expect(compared[0].open).toEqual(alone.open)
    const moved = await data('/series/1293.json?geo=8741&from=2025-10-27&to=2025-10-30&shift=week')
    const weekBefore = await data('/series/1293.json?geo=8741&from=2025-10-20&to=2025-10-23')
    expect(weekBefore.chart.states.length).toBeGreaterThan(0)
    const hour = 3_600
    expect(moved.chart.compared[0].states).toEqual(
      weekBefore.chart.states.map(([from, to, state]: [number, number, string]) => [
        from + 7 * 24 * hour + hour,
        to + 7 * 24 * hour + hour,
        state,
      ]),
    )
    const page = await text(`/series/544?${query}&with=1293&lang=en`)
    expect(page.match(/<svg class="figure strips"[\s\S]*?<\/svg>/)![0].match(/<rect class="state-/g)).toHaveLength(
      alone.chart.states.length,
    )
    const [list] = /<section aria-labelledby="open">[\s\S]*?<\/section>/.exec(page)!
    expect(list).toMatch(/<h3><bdi>Actual demand, Península<\/bdi><\/h3>/)
    expect(list).toContain('/coverage/1293?geo=8741')
    const ownStates = await data(`/series/544.json?${query}`)
    expect(list.match(/<li>/g)).toHaveLength(ownStates.open.length + alone.open.length)
  })
})
