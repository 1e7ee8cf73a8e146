import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { addUnits, floorTo, startOfDate, type Unit } from '../../src/util/time/zone.ts'
import { gapsAtLastRun, json, ms, runJob, serve, tempFolder, tempStore } from '../support/kit.ts'
import { openNew } from '../support/preparedDatabase.ts'
import { cases } from '../support/randomCases.ts'

const ZONE = 'Europe/Madrid'
const DAY = 86_400
const day = (date: string): number => startOfDate(ZONE, date)!

interface Kind {
  readonly unit: Unit
  readonly count: number
  readonly tiempo: string
}
const KINDS: Readonly<Record<string, Kind>> = {
  day: { unit: 'day', count: 1, tiempo: 'Día' },
  week: { unit: 'day', count: 7, tiempo: 'Semana' },
  month: { unit: 'month', count: 1, tiempo: 'Mes' },
  year: { unit: 'year', count: 1, tiempo: 'Año' },
}

/** Returns the periods of a kind since 2022. */
function periods({ unit, count }: Kind): { from: number; to: number }[] {
  const all = []
  for (let from = day('2022-01-01'); from < day('2026-12-31'); ) {
    const to = addUnits(ZONE, from, unit, count)
    all.push({ from, to })
    from = to
  }
  return all
}

/** Starts a service of calendar periods; `has` says which have a value yet. */
async function calendar(kind: Kind, has: (period: { from: number; to: number }, geo: number) => boolean, geos = [3]) {
  const all = periods(kind)
  const requested: string[] = []
  const server = await serve((request, response) => {
    const search = new URL(request.url!, 'http://x').searchParams
    const [from, end] = ['start_date', 'end_date'].map(
      (name) => ms(search.get('datetime') ?? search.get(name)!) / 1000,
    ) as [number, number]
    requested.push(`${formatUtc(from).slice(0, 13)}..${formatUtc(end + 1).slice(0, 13)}`)
    const values = all
      .filter((period) => period.from >= from && period.from <= end)
      .flatMap((period) =>
        geos
          .filter((geo) => has(period, geo))
          .map((geo) => ({ value: 1, datetime: formatUtc(period.from).replace('Z', '+00:00'), geo_id: geo })),
      )
    json(response, { indicator: { id: 5, tiempo: [{ id: 153, name: kind.tiempo }], geos: [], values } })
  })
  return { url: server.url, requested, all }
}

const absences = async (store: Parameters<typeof gapsAtLastRun>[0]) =>
  (await gapsAtLastRun(store)).map(
    ({ reason, from, to, missing }) => `${reason} ${from.slice(0, 10)}..${to.slice(0, 10)} ${missing}`,
  )

describe('calendar periods', () => {
  test('a month published five days after its end is requested every evening', async () => {
    const store = await tempStore()
    let now = 0
    const source = await calendar(KINDS.month!, ({ to }) => now >= to + 5 * DAY)
    const counts: string[] = []
    for (let n = 0; n < 56; n++) {
      now = day('2025-10-20') + n * DAY + 21 * 3600
      source.requested.length = 0
      await runJob(store, source, 'series: [{ indicators: [5], window: { last: 60d } }]', { now: now * 1000 })
      if (n > 0) expect(source.requested.length, formatUtc(now)).toBeLessThanOrEqual(2)
      // A month after the last value is late, not missing.
      expect(await absences(store), formatUtc(now)).toEqual([])
      counts.push(String(store.get('select count(*) from observation')))
    }
    expect([...new Set(counts)]).toEqual(['1', '2', '3'])
  })

  test('check passes on every day of a year for a complete series', async () => {
    const store = await tempStore()
    let now = 0
    const source = await calendar(KINDS.month!, ({ to }) => now >= to)
    for (let n = 0; n < 366; n += 9) {
      now = day('2025-01-10') + n * DAY + 21 * 3600
      await runJob(store, source, 'series: [{ indicators: [5], window: { last: 60d } }]', { now: now * 1000 })
      expect(await findFindings(store, now + 3600), formatUtc(now)).toEqual([])
    }
    expect(store.get('select count(*) from _coverage')).toBeLessThanOrEqual(4)
  })

  test('a monthly value covers weeks in which no month begins, in any order of replies', async () => {
    const store = await tempStore()
    const source = await calendar(KINDS.month!, ({ from }) => from !== day('2025-05-01'))
    const yaml = (from: string, to: string) =>
      `series: [{ indicators: [5], window: { from: ${from}, to: ${to} }, chunk: 1w }]`
    const run = (from: string, to: string, night: number) =>
      runJob(store, source, yaml(from, to), { now: ms('2025-11-10T20:00:00Z') + night * DAY * 1000 })
    await run('2025-03-08', '2025-03-25', 0)
    await run('2025-03-25', '2025-07-11', 0)
    expect(await absences(store), 'two months in a row show no unit').toEqual([])
    await run('2025-07-11', '2025-08-11', 0)
    expect(await absences(store)).toEqual(['absent 2025-05-01..2025-06-01 1'])
    source.requested.length = 0
    for (let night = 1; night < 8; night++) await run('2025-03-08', '2025-08-11', night)
    // Absent data is requested again from its start, after one, three and seven days.
    expect(source.requested).toHaveLength(3)
    expect(await absences(store)).toEqual(['absent 2025-05-01..2025-06-01 1'])
  })

  test('a month fetched by an instant is no longer missing, but only for its geo', async () => {
    const store = await tempStore()
    const late = new Set<number>()
    const source = await calendar(KINDS.month!, ({ from }, geo) => from !== day('2025-10-01') || late.has(geo), [3, 4])
    const run = (entry: string, night: number) =>
      runJob(store, source, `name: ${entry.split(':')[0]}\nseries: [{ indicators: [5], ${entry} }]`, {
        now: ms('2025-12-10T20:00:00Z') + night * DAY * 1000,
        options: { restate: true },
      })
    await run('window: { from: 2025-07-01, to: 2025-12-01 }', 0)
    const missing = () => store.all('select geo_id, from_at, to_at, missing from _absent order by geo_id')
    const october = (geo_id: number) => ({ geo_id, from_at: day('2025-10-01'), to_at: day('2025-11-01'), missing: 1 })
    expect(missing()).toEqual([october(3), october(4)])
    late.add(3)
    await run('datetime: 2025-10-01', 1)
    expect(missing()).toEqual([october(4)])
    await run('datetime: 2025-10-01', 2)
    expect(missing()).toEqual([october(4)])
    late.add(4)
    await run('datetime: 2025-10-01', 3)
    expect(missing()).toEqual([])
  })

  test('gaps are the complete past periods without a value, for any windows', async () => {
    const job = fc.record({
      kind: fc.constantFrom('day', 'week', 'month', 'year'),
      chunk: fc.constantFrom('1w', '3d', '1mo', '5mo', '2y'),
      first: fc.nat(700),
      length: fc.integer({ min: 2, max: 500 }),
      lookback: fc.constantFrom(1, 3, 40),
      missing: fc.array(fc.nat(60), { maxLength: 5 }),
      nights: fc.constantFrom(1, 3),
      newestFirst: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(job, async ({ kind, chunk, first, length, lookback, missing, nights, newestFirst }) => {
        const from = addUnits(ZONE, day('2022-02-17'), 'day', first)
        const to = addUnits(ZONE, from, 'day', kind === 'day' ? Math.min(length, 120) : length)
        const now = Math.min(to + 20 * DAY, day('2024-06-10')) + 20 * 3600
        if (from >= now - 2 * DAY) return
        const begun = periods(KINDS[kind]!).filter((period) => period.from >= from && period.from < Math.min(to, now))
        const lost = new Set(missing.map((n) => begun[n]?.from))
        const over = begun.filter((period) => period.to <= floorTo(ZONE, now - lookback * DAY, 'day'))
        const present = begun.filter((period) => !lost.has(period.from) && period.to <= now)
        // The periods of a series are known after seven days, or three longer periods, in a row.
        const needed = kind === 'day' ? 7 : 3
        const isRegular = present.some(
          (period, i) => begun.indexOf(present[i + needed - 1]!) === begun.indexOf(period) + needed - 1,
        )
        const isInside = ({ from }: { from: number }) =>
          isRegular && from > present[0]!.from && from < present.at(-1)!.from
        const source = await calendar(KINDS[kind]!, (period) => !lost.has(period.from) && period.to <= now)
        const store = await openNew(`${tempFolder()}/p.db`, { durability: 'none' })
        const dates = [from, to].map((at) => formatUtc(at + 12 * 3600).slice(0, 10))
        const yaml = `pace: { concurrency: 1, callsPerDay: 10000 }
newestFirst: ${newestFirst}
series: [{ indicators: [5], window: { from: ${dates[0]}, to: ${dates[1]} }, chunk: ${chunk}, lookback: ${lookback}d }]`
        for (let n = 0; n < nights; n++) await runJob(store, source, yaml, { now: (now + n * 120) * 1000 })
        const expected = over.filter((period) => lost.has(period.from) && isInside(period))
        const gaps = (await gapsAtLastRun(store)).filter(({ reason }) => reason === 'absent')
        const reported = begun.filter((period) =>
          gaps.some((gap) => ms(gap.from) / 1000 < period.to && ms(gap.to) / 1000 > period.from),
        )
        expect(reported).toEqual(expected)
        const [a, b] = [gaps, expected].map((rows) =>
          rows.reduce(
            (sum, one) =>
              sum +
              (typeof one.to === 'string'
                ? ms(one.to) - ms(String(one.from))
                : (Number(one.to) - Number(one.from)) * 1000),
            0,
          ),
        )
        expect(a).toBe(b)
        await store.close()
      }),
      {
        numRuns: cases(8),
        examples: [
          [
            {
              kind: 'month',
              chunk: '1w',
              first: 527,
              length: 278,
              lookback: 1,
              missing: [],
              nights: 1,
              newestFirst: true,
            },
          ],
          [
            {
              kind: 'day',
              chunk: '3d',
              first: 0,
              length: 48,
              lookback: 1,
              missing: [46],
              nights: 1,
              newestFirst: false,
            },
          ],
          // Weeks are known after three in a row.
          [
            {
              kind: 'week',
              chunk: '1w',
              first: 0,
              length: 52,
              lookback: 1,
              missing: [1, 3],
              nights: 1,
              newestFirst: false,
            },
          ],
          [
            {
              kind: 'week',
              chunk: '1w',
              first: 0,
              length: 52,
              lookback: 1,
              missing: [3, 5],
              nights: 1,
              newestFirst: true,
            },
          ],
        ],
      },
    )
  })
})

test('settled data is determined by whole weeks, months and years, as in the planner', async () => {
  for (const [name, from, last] of [
    ['week', '2025-11-01', '2025-11-08'],
    ['month', '2025-11-01', '2025-12-01'],
    ['year', '2025-01-01', '2026-01-01'],
  ] as const) {
    const store = await tempStore()
    let now = day('2025-11-05') + 20 * 3600
    const source = await calendar(KINDS[name]!, (period) => period.from <= now)
    const yaml = (end: string) =>
      `series: [{ indicators: [5], window: { from: 2024-01-01, to: ${end} }, chunk: 3y, lookback: 1d }]`
    const covered = (state: string) =>
      (store.all('select from_local, to_local from coverage where state = ?', [state]) as Record<string, string>[]).map(
        ({ from_local, to_local }) => `${from_local!.slice(0, 10)}..${to_local!.slice(0, 10)}`,
      )
    await runJob(store, source, yaml('2025-11-30'), { now: now * 1000 })
    // The current period is not final, even on a day that is over.
    expect(covered('final'), name).toEqual([`2024-01-01..${from}`])
    expect(covered('provisional'), name).toEqual([`${from}..2025-11-30`])
    // A run without requests agrees with the view.
    now = day(last) + 2 * DAY + 20 * 3600
    await runJob(store, source, yaml('2025-11-30'), { now: now * 1000 })
    expect(covered('final'), name).toEqual([`2024-01-01..${name === 'week' ? '2025-11-08' : '2025-11-30'}`])
  }
})
