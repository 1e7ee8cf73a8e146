import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readKnownValues } from '../../src/db/queries/values.ts'
import type { Segment } from '../../src/page/client/segments.ts'
import { readChanges } from '../../src/page/queries/series/changes.ts'
import { findAsOf } from '../../src/page/queries/series/seriesQuery.ts'
import { type Line, readDays, readWindow } from '../../src/page/queries/series/window.ts'
import { emulate, fileFolder, ms, runJob, tempStore } from '../support/kit.ts'
import type { Reader } from '../support/testStore.ts'
import { NIGHTS, nightsReader } from './nights.ts'

let reader: Reader
const folder = fileFolder()
let lines: Line[]
beforeAll(async () => {
  reader = await nightsReader(folder)
  lines = reader.all(
    'select g.series_id as "seriesId", g.geo_id as "geoId", s.time_zone as zone from series_geo g join series s on s.id = g.series_id',
  ) as Line[]
})
afterAll(() => reader.close())

const at = (text: string): number => ms(text) / 1000
const RANGE = { from: at('2025-10-19T22:00:00Z'), to: at('2025-10-31T23:00:00Z') }

/** Returns the values as of a moment by the view of all versions. */
const history = ({ seriesId, geoId }: Line, moment: string, { from, to } = RANGE) =>
  reader.all(
    `select at, value, step_s as step from observation_history where series_id = ? and geo_id = ? and at >= ? and at < ?
       and valid_from <= ? and (valid_to is null or valid_to > ?) order by at`,
    [seriesId, geoId, from, to, moment, moment],
  ) as { at: number; value: number | null; step: number }[]

/** Moments of records, and a millisecond before and after each. */
const moments = (): string[] =>
  (reader.all('select distinct finished_at as at from _fetch order by 1') as { at: string }[]).flatMap(({ at: one }) =>
    [-1, 0, 1].map((by) => new Date(Date.parse(one) + by).toISOString()),
  )

test('values as of a moment follow the highest fetch id after a clock was set back', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: at(NIGHTS[1]) })
  const job =
    'series: [{ indicators: [544], geoIds: [8741], window: { from: 2025-10-25, to: 2025-10-27 }, lookback: 3d, refresh: 0m }]'
  await runJob(store, emulator, job, { now: ms(NIGHTS[1]) })
  const first = store.all('select at, value from observation order by at')
  emulator.setNow(at(NIGHTS[2]))
  await runJob(store, emulator, job, { now: ms(NIGHTS[0]), options: { restate: true } })
  const second = store.all('select at, value from observation order by at')
  expect(second).not.toEqual(first)
  const { seriesId, geoId } = { seriesId: 1, geoId: 8741 }
  const read = async (moment: string) => {
    const { fetchId } = await findAsOf(store, seriesId, moment)
    const known = await readKnownValues(store.kysely, { seriesId, geoId, ...RANGE }, fetchId, 10_000)
    return known.map(({ at: one, value }) => ({ at: one, value }))
  }
  expect(await read(NIGHTS[1])).toEqual(second)
  expect(await read(new Date(ms(NIGHTS[0]) - 1).toISOString())).toEqual([])
})

describe('values as of a moment', () => {
  test('values as of any moment equal the view of all versions, for every series', async () => {
    let versions = 0
    for (const line of lines)
      for (const moment of moments()) {
        const { fetchId } = await findAsOf(reader, line.seriesId, moment)
        const known = await readKnownValues(reader.kysely, { ...line, ...RANGE }, fetchId, 100_000)
        expect(known, `series ${line.seriesId} at ${moment}`).toEqual(history(line, moment))
        versions += known.length
      }
    expect(versions).toBeGreaterThan(10_000)
  })

  test('values as of a moment are the same in chart columns and by days', async () => {
    for (const line of lines)
      for (const night of NIGHTS) {
        const { fetchId } = await findAsOf(reader, line.seriesId, night)
        const values = history(line, night)
        for (const [{ from, to }, extremes] of await readDays(reader, line, RANGE, fetchId)) {
          const inside = values
            .filter((one) => one.at >= from && one.at < to && one.value !== null)
            .map(({ value }) => value!)
          expect(extremes.count).toBe(inside.length)
          if (inside.length === 0) continue
          expect([extremes.min, extremes.max]).toEqual([Math.min(...inside), Math.max(...inside)])
          expect(extremes.mean).toBeCloseTo(inside.reduce((a, b) => a + b) / inside.length, 6)
        }
      }
  })

  test('values change only at the listed moments', async () => {
    for (const line of lines) {
      const changes = await readChanges(reader, line, RANGE)
      expect(changes.length).toBeGreaterThan(1)
      const known = moments().map((moment) => JSON.stringify(history(line, moment)))
      const instants = new Set(changes.map((change) => change.at))
      for (const { at: moment, fetchId } of changes) {
        const after = await readKnownValues(reader.kysely, { ...line, ...RANGE }, fetchId, 100_000)
        expect(after).toEqual(history(line, moment))
      }
      expect(new Set(known).size - 1).toBeGreaterThanOrEqual(instants.size)
      expect(JSON.stringify(history(line, changes.at(-1)!.at))).toBe(known.at(-1))
    }
  })

  test('the listed number of changed values is exact, or a maximum for long ranges', async () => {
    for (const line of lines) {
      const versions = reader.all(
        `select f.run_id as run, count(*) as n from (
           select series_id, geo_id, at, fetch_id from observation
           union all select series_id, geo_id, at, fetch_id from observation_revision) v join _fetch f on f.id = v.fetch_id
         where v.series_id = ? and v.geo_id = ? and at >= ? and at < ? group by 1 order by 1`,
        [line.seriesId, line.geoId, RANGE.from, RANGE.to],
      ) as { run: number; n: number }[]
      const written = (await readChanges(reader, line, RANGE)).filter((change) => change.written > 0)
      expect(written.map(({ run, written: n, exact }) => ({ run, n, exact }))).toEqual(
        versions.map((one) => ({ ...one, exact: true })),
      )
      const most = await readChanges(reader, line, { from: RANGE.to - 900 * 86_400, to: RANGE.to })
      for (const { run, n } of versions) {
        const listed = most.find((change) => change.run === run)
        expect(listed?.exact).toBe(false)
        expect(listed?.written).toBeGreaterThanOrEqual(n)
      }
    }
  })
})

const valuesOf = (segments: readonly Segment[]) =>
  segments.flatMap(({ from, step, values }) =>
    values.flatMap((value, i) => (value === null ? [] : [{ at: from + i * step, value, step }])),
  )

describe('chart data', () => {
  test('a chart contains the values themselves if they fit', async () => {
    for (const line of lines) {
      const drawn = await readWindow(reader, line, RANGE, 1_000_000, null)
      expect(drawn.kind).toBe('values')
      expect(valuesOf(drawn.segments)).toEqual(history(line, '2999-01-01').filter(({ value }) => value !== null))
    }
  })

  test('a chart otherwise contains the extremes of at most as many columns as requested', async () => {
    for (const line of lines)
      for (const days of [12, 400]) {
        const range = { from: RANGE.to - days * 86_400, to: RANGE.to }
        const drawn = await readWindow(reader, line, range, 50, null)
        expect(drawn.kind).toBe('extremes')
        const columns = (drawn.segments as Required<Segment>[]).flatMap(({ from, step, min, max }) =>
          min.map((low, i) => ({ from: from + i * step, to: from + (i + 1) * step, low, high: max[i]! })),
        )
        expect(columns.length).toBeLessThanOrEqual(51)
        // Columns are whole, also at both ends.
        const values = history(line, '2999-01-01', { from: columns[0]!.from, to: columns.at(-1)!.to })
        for (const { from, to, low, high } of columns) {
          const inside = values.filter((one) => one.at >= from && one.at < to).map(({ value }) => value!)
          expect([low, high]).toEqual(inside.length === 0 ? [null, null] : [Math.min(...inside), Math.max(...inside)])
        }
        expect(values.every((one) => columns.some(({ from, to }) => one.at >= from && one.at < to))).toBe(true)
      }
  })

  test('a chart includes a period that began before its range', async () => {
    const [line] = lines as [Line]
    const [{ at: first, step }] = history(line, '2999-01-01') as unknown as [{ at: number; step: number }]
    const drawn = await readWindow(reader, line, { from: first + step / 2, to: first + step }, 100, null)
    expect(drawn.segments[0]!.from).toBe(first)
  })
})
