import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Duty } from '../../src/job/duty.ts'
import type { Moment, Window } from '../../src/job/job.ts'
import { parseWindow, resolveWindow, windowText } from '../../src/job/moment.ts'
import { readJob } from '../../src/job/read.ts'
import { decideDuties } from '../../src/plan/duties.ts'
import { listSelectedRanges } from '../../src/plan/entries.ts'
import { SERVICES } from '../../src/service/services.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, json, ms, runJob, serve, tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'

const DAY = 86_400
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY * 1000

describe('the text of a window', () => {
  const moments: fc.Arbitrary<Moment> = fc.oneof(
    fc.constant<Moment>({ kind: 'now' }),
    fc.integer({ min: 0, max: 2e9 }).map((at): Moment => ({ kind: 'instant', at })),
    fc
      .tuple(fc.integer({ min: 1990, max: 2040 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
      .map(([y, m, d]): Moment => {
        const pad = (n: number) => String(n).padStart(2, '0')
        return { kind: 'date', date: `${y}-${pad(m)}-${pad(d)}` }
      }),
    fc.integer({ min: 0, max: DAY - 1 }).map((second): Moment => ({ kind: 'local', date: '2025-03-30', second })),
    fc
      .tuple(
        fc.integer({ min: -9_999, max: 9_999 }),
        fc.constantFrom('minute' as const, 'hour' as const, 'day' as const, 'week' as const, 'month' as const),
      )
      .map(([count, unit]): Moment => ({ kind: 'relative', duration: { count, unit } })),
  )
  const resolved = (window: Window) => resolveWindow(window, 'Europe/Madrid', night(0) / 1000)

  test('the text of a window parses to a window with the same bounds and text', () => {
    fc.assert(
      fc.property(fc.record({ from: moments, to: moments }), (window) => {
        const text = windowText(window)
        const parsed = parseWindow(text)!
        expect(windowText(parsed)).toBe(text)
        expect(resolved(parsed)).toEqual(resolved(window))
      }),
    )
  })

  test('a text of another form is not a window', () => {
    for (const text of ['', '..', '2025-01-01', '2025-01-01..soon', '2025-01-01..+1d..+2d', '7d..+1d'])
      expect(parseWindow(text), text).toBeUndefined()
  })
})

/* Random edits of a job of two indicators: geos, windows, lookbacks and the order of its entries. */

const ID = [1, 2] as const
const GEOS = [3, 4, 5] as const
const WINDOWS = ['{ last: 1d }', '{ last: 3d }', '{ from: 2025-10-01, to: +1d }', '{ from: 2025-12-01 }'] as const

const entries = fc.record({
  id: fc.constantFrom(...ID),
  geos: fc.subarray([...GEOS]),
  window: fc.constantFrom(...WINDOWS),
  lookback: fc.constantFrom('1d', '5d', '30d'),
})
const steps = fc.array(
  fc.record({
    entries: fc.array(entries, { minLength: 1, maxLength: 4 }),
    // Most edits change little, so an entry usually meets its former self.
    keeps: fc.boolean(),
    reverses: fc.boolean(),
    days: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 2, maxLength: 8 },
)
type Entry = typeof entries extends fc.Arbitrary<infer E> ? E : never

const jobOf = (all: readonly Entry[]) =>
  readJob(
    `name: x\nseries:\n${all
      .map(
        ({ id, geos, window, lookback }) =>
          `  - { indicators: [${id}], ${geos.length > 0 ? `geoIds: [${geos}], ` : ''}window: ${window}, lookback: ${lookback} }\n`,
      )
      .join('')}`,
    'x.yaml',
  )

/** An indicator, geo and window that is selected, and the earliest start that this window had since. Geo 9 is in no list. */
function selectedStarts(all: readonly Entry[], now: number): Map<string, number> {
  const job = jobOf(all)
  const starts = new Map<string, number>()
  for (const { indicators, geoIds, window } of job.series) {
    const { from, to } = resolveWindow(window!, job.timeZone, now)
    for (const geo of [...GEOS, 9])
      if (from < to && (geoIds.length === 0 || geoIds.includes(geo)))
        starts.set(`${indicators[0]} ${geo} ${windowText(window!)}`, from)
  }
  return starts
}

test('after any edits, exactly the selected series are required, from the earliest start of their window', () => {
  fc.assert(
    fc.property(steps, (edits) => {
      let duties: Duty[] = []
      let wanted = new Map<string, number>()
      let definition: readonly Entry[] = []
      let now = night(0) / 1000
      for (const { entries: own, keeps, reverses, days } of edits) {
        now += days * DAY
        const edited = keeps ? [...definition, own[0]!] : own
        definition = reverses ? edited.toReversed() : edited
        const job = jobOf(definition)
        const selected = listSelectedRanges({ job, service: SERVICES.generic, now }, job)
        duties = decideDuties(duties, selected, { now, keepsEnds: false, keepsSelected: false })
        const starts = selectedStarts(definition, now)
        wanted = new Map([...starts].map(([key, from]) => [key, Math.min(from, wanted.get(key) ?? from)]))
        const required = new Map<string, number>()
        for (const { series, geoIds, window, from } of duties)
          for (const geo of [...GEOS, 9])
            if (geoIds.length === 0 || geoIds.includes(geo)) {
              const key = `${series.indicatorId} ${geo} ${window}`
              required.set(key, Math.min(from, required.get(key) ?? from))
            }
        expect(required).toEqual(wanted)
      }
    }),
    { numRuns: cases(60) },
  )
})

test('duties of an older version, which have no window, pass to the entry that had them', () => {
  const now = night(0) / 1000
  const job = jobOf([{ id: 1, geos: [], window: WINDOWS[0], lookback: '5d' }])
  const [range] = listSelectedRanges({ job, service: SERVICES.generic, now }, job)
  const former: Duty = { ...range!, window: '', from: now - 90 * DAY, sinceAt: 0, earlierLookbacks: [] }
  const options = { now, keepsEnds: false, keepsSelected: false }
  expect(decideDuties([former], [range!], options)).toEqual([{ ...former, window: range!.window }])
})

describe('an edit', () => {
  const now = night(0) / 1000
  const options = { now, keepsEnds: false, keepsSelected: false }
  const select = (...entries: readonly Partial<Entry>[]) => {
    const job = jobOf(entries.map((entry) => ({ id: 1, geos: [], window: WINDOWS[2], lookback: '5d', ...entry })))
    return listSelectedRanges({ job, service: SERVICES.generic, now }, job)
  }
  const stored = (lookback: Entry['lookback'], over: Partial<Duty> = {}): Duty[] => [
    { ...select({ lookback })[0]!, sinceAt: 0, earlierLookbacks: [], ...over },
  ]

  test('an edit to a longer lookback applies to data that is younger than it now', () => {
    const [duty] = decideDuties(stored('5d'), select({ lookback: '30d' }), options)
    expect(duty).toMatchObject({
      lookbackS: 30 * DAY,
      earlierLookbacks: [{ before: now - 30 * DAY, lookbackS: 5 * DAY }],
    })
  })

  test('an edit to a shorter lookback keeps only those that are shorter still', () => {
    const earlierLookbacks = [
      { before: 1000, lookbackS: DAY },
      { before: 2000, lookbackS: 6 * DAY },
    ]
    const [duty] = decideDuties(stored('30d', { earlierLookbacks }), select({ lookback: '5d' }), options)
    expect(duty).toMatchObject({ lookbackS: 5 * DAY, earlierLookbacks: [{ before: 1000, lookbackS: DAY }] })
  })

  test('an edit that adds an entry for the same window applies the longest lookback', () => {
    const [duty] = decideDuties([], select({ lookback: '1d' }, { lookback: '30d' }), options)
    expect(duty).toMatchObject({ lookbackS: 30 * DAY })
  })

  test('an edit keeps the stored end if a range of the user was run, and else has the end now', () => {
    const former = stored('5d', { to: now - 9 * DAY })
    const ranges = select({})
    expect(decideDuties(former, ranges, { ...options, keepsEnds: true })).toMatchObject([{ to: now - 9 * DAY }])
    expect(decideDuties(former, ranges, options)).toMatchObject([{ to: ranges[0]!.to }])
  })
})

describe('a rolling window', () => {
  const job = (window: string, more = '') => `series: [{ indicators: [5], window: ${window}, lookback: 2d${more} }]`

  test('a day that left the window is fetched until it is final', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    await service.run(store, job('{ last: 1d }'), night(0))
    expect(await service.run(store, job('{ last: 1d }'), night(1))).toEqual(['2025-11-02T23..2025-11-05T23'])
    expect(await service.run(store, job('{ last: 1d }'), night(2))).toEqual(['2025-11-02T23..2025-11-06T23'])
    expect(await service.run(store, job('{ last: 1d }'), night(40))).toEqual(['2025-11-03T23..2025-12-14T23'])
  })

  test('a whole day without values that left the window is a gap', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const lost = { from: ms('2025-11-07T23:00:00Z') / 1000, to: ms('2025-11-08T23:00:00Z') / 1000 }
    service.state.has = (at) => at < lost.from || at >= lost.to
    for (let n = 0; n < 12; n++) await service.run(store, job('{ last: 1d }'), night(n))
    expect(await gapsAtLastRun(store)).toMatchObject([
      { reason: 'absent', from: '2025-11-08T00:00:00+01:00', to: '2025-11-09T00:00:00+01:00', job: 'test' },
    ])
  })

  test('a geo that an edit adds begins with the window, and the others keep their start', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const ends = () =>
      store.all(`select geo_ids, date(from_at, 'unixepoch', '6 hours') as day from _duty order by geo_ids`)
    await service.run(store, job('{ last: 1d }', ', geoIds: [3]'), night(0))
    await service.run(store, job('{ last: 1d }', ', geoIds: [4, 3]'), night(10))
    expect(ends()).toEqual([
      { geo_ids: '3', day: '2025-11-03' },
      { geo_ids: '3,4', day: '2025-11-13' },
    ])
    // Nothing was fetched for ten days: geo 3 lacks them all, geo 4 only its window.
    expect(service.requested.map(({ from, geos }) => `${from.slice(0, 10)} ${geos}`)).toEqual([
      '2025-11-12 4,3',
      '2025-11-02 3',
    ])
    await service.run(store, job('{ last: 1d }'), night(10))
    expect(ends()).toMatchObject([{ geo_ids: '' }, { geo_ids: '3' }])
    await service.run(store, job('{ last: 1d }', ', geoIds: [3]'), night(10))
    expect(ends()).toEqual([{ geo_ids: '3', day: '2025-11-03' }])
  })

  test('an edit of the window drops days that only the former window had, and the run says so', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    await service.run(store, job('{ from: 2025-10-01, to: 2025-10-05 }'), night(0))
    const run = (yaml: string) => runJob(store, service, yaml, { now: night(1) })
    expect(await run(job('{ from: 2025-10-01, to: 2025-10-05 }'))).toMatchObject({ unselected: 0 })
    expect(await run(job('{ from: 2025-10-03, to: 2025-10-05 }'))).toMatchObject({ unselected: 1 })
    expect(await run(job('{ from: 2025-10-03, to: 2025-10-05 }'))).toMatchObject({ unselected: 0 })
  })

  test('a geo or window that another job requires is not counted as unselected', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const yaml = job('{ from: 2025-10-01, to: 2025-10-05 }')
    await service.run(store, yaml, night(0))
    await service.run(store, `name: other\n${yaml}`, night(0))
    const narrowed = job('{ from: 2025-10-03, to: 2025-10-05 }')
    expect(await runJob(store, service, narrowed, { now: night(1) })).toMatchObject({ unselected: 0 })
  })
})

describe('a selection by the catalogue', () => {
  const ALL = (more: string) => `series: [{ indicators: ${more}, window: { from: 2025-11-01, to: +1d }, refresh: 1h }]`

  /** Serves a catalogue of some ids, and a value an hour. */
  async function catalogueOf(ids: number[]) {
    const listed = { ids }
    const service = await startHourlyService()
    const server = await serve(async (request, response) => {
      if (!request.url!.startsWith('/indicators?')) {
        const reply = await fetch(`${service.url}${request.url}`)
        return json(response, await reply.json())
      }
      json(response, { indicators: listed.ids.map((id) => ({ id, name: `precio ${id}` })) })
    })
    return { listed, server }
  }
  const wantedIds = (store: Awaited<ReturnType<typeof tempStore>>) =>
    (
      store.all('select distinct s.indicator_id as id from _duty d join series s on s.id = d.series_id order by 1') as {
        id: number
      }[]
    ).map(({ id }) => id)

  test('an incomplete catalogue drops no duty, and the series that it lacks are still fetched', async () => {
    const store = await tempStore()
    const { listed, server } = await catalogueOf([5, 6, 7, 8])
    const run = (yaml: string, n: number) => runJob(store, server, yaml, { now: night(n) })
    await run(ALL('all'), 0)
    listed.ids = [5, 6]
    const half = await run(ALL('all'), 2)
    expect(half).toMatchObject({ unselected: 0, outcome: 'done' })
    expect(half.counts.requests).toBe(1 + 4)
    expect(wantedIds(store)).toEqual([5, 6, 7, 8])
  })

  test('an edit of the selection drops series that the new one does not select', async () => {
    const store = await tempStore()
    const { server } = await catalogueOf([5, 6, 7, 8])
    const run = (yaml: string, n: number) => runJob(store, server, yaml, { now: night(n) })
    await run(ALL('all'), 0)
    expect(await run(ALL('{ exclude: [8] }'), 1)).toMatchObject({ unselected: 1 })
    expect(wantedIds(store)).toEqual([5, 6, 7])
  })
})
