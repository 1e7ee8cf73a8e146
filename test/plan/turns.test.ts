import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ALL_GEOS } from '../../src/db/tables/codes.ts'
import { type PlannedRequest, seriesKey } from '../../src/job/plannedRequest.ts'
import { readJob } from '../../src/job/read.ts'
import type { Coverage } from '../../src/judge/stored.ts'
import { findOldestAttempt, planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE, type PlannerState, UNKNOWN_SERIES } from '../../src/plan/plannerState.ts'
import { createRegister } from '../../src/plan/requestRegister.ts'
import { isBacklog, listTurn, seriesTurn } from '../../src/plan/turns.ts'
import { SERVICES } from '../../src/service/services.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { merge, overlaps, subtract } from '../../src/util/time/interval.ts'
import { cases } from '../support/randomCases.ts'

const FIRST_NIGHT = Date.parse('2026-03-10T05:00:00Z') / 1000
/** Scheduled runs do not start at exactly the same time. */
const NIGHT = 86_460
const SERVICE = SERVICES.esios
/** A series with one geo, of whose values nothing is known. */
const ONE_GEO = { geoId: ALL_GEOS, extent: null, kind: null }

const turn = ({ series, window, settledBefore, route, params }: PlannedRequest): string => {
  const backlog = isBacklog(window, settledBefore)
  return series && window ? seriesTurn(seriesKey(series), backlog) : listTurn(route, params, backlog)
}

interface Attempt {
  readonly id: number
  readonly night: number
  readonly job: string
  readonly planned: PlannedRequest
  readonly turn: string
  /** The key of the series; null for a list. */
  readonly series: string | null
  readonly isGood: boolean
}

interface Night {
  readonly attempts: readonly Attempt[]
  /** The keys of all turns with a request that was due. */
  readonly due: ReadonlySet<string>
}

/** Simulates nights of a command whose jobs share a budget. Nothing is sent: a reply has all values, or the request fails. */
function simulate(
  nights: number,
  budget: number,
  yamls: (night: number) => readonly string[],
  fails: (planned: PlannedRequest) => boolean,
) {
  const log: Attempt[] = []
  const coverage = new Map<string, Coverage[]>()
  const replies = new Map<string, number>()
  const last = (matches: (attempt: Attempt) => boolean): number => log.findLast(matches)?.id ?? 0
  const plannerState: PlannerState = {
    ...EMPTY_STATE,
    series: (key) => ({ ...UNKNOWN_SERIES, coverage: coverage.get(key) ?? [], timelines: [ONE_GEO] }),
    lastReplyAt: (target) => replies.get(target),
    attempts: {
      turn: (key) => last((attempt) => attempt.turn === key),
      target: (target) => last(({ planned }) => planned.http.target === target),
      window: (key, window) =>
        last(({ planned, series, isGood }) => !isGood && series === key && overlaps(planned.window!, window)),
    },
  }
  const load = ({ series, window, http }: PlannedRequest, now: number): void => {
    if (!series || !window) return void replies.set(http.target, now)
    const key = seriesKey(series)
    const kept = (coverage.get(key) ?? []).flatMap((row) =>
      subtract([row], [window]).map((part) => ({ ...row, ...part })),
    )
    const row = {
      ...window,
      geo: ALL_GEOS,
      state: 'values',
      fetchedAt: now,
      settledFor: now - window.to,
      sinceAt: null,
    } as const
    coverage.set(
      key,
      [...kept, row].sort((a, b) => a.from - b.from),
    )
  }
  return Array.from({ length: nights }, (_, night): Night => {
    const now = FIRST_NIGHT + night * NIGHT
    const jobs = yamls(night).map((yaml, i) =>
      readJob(`name: job${i}\npace: { callsPerDay: ${budget} }\n${yaml}`, `job${i}.yaml`, SERVICE),
    )
    const common = { service: SERVICE, plannerState, now, options: {} }
    const due = new Set(jobs.flatMap((job) => [...planJob({ ...common, job })].map(turn)))
    const inTurn = jobs
      .map((job) => ({
        job,
        oldest: findOldestAttempt({ ...common, job, requested: createRegister() }, []) ?? Number.MAX_SAFE_INTEGER,
        lastRun: last((attempt) => attempt.job === job.name),
      }))
      .sort((a, b) => a.oldest - b.oldest || a.lastRun - b.lastRun)
    const requested = createRegister()
    const before = log.length
    for (const { job } of inTurn)
      for (const planned of planJob({ ...common, job, requested })) {
        if (log.length - before === budget) break
        const isGood = !fails(planned)
        log.push({
          id: log.length + 1,
          night,
          job: job.name,
          planned,
          turn: turn(planned),
          series: planned.series && seriesKey(planned.series),
          isGood,
        })
        if (isGood) load(planned, now)
      }
    return { attempts: log.slice(before), due }
  })
}

/** The most nights in a row in which each turn was due without an attempt. */
function longestWaits(nights: readonly Night[]): Map<string, number> {
  const waits = new Map<string, number>()
  const current = new Map<string, number>()
  for (const { due, attempts } of nights) {
    const attempted = new Set(attempts.map((attempt) => attempt.turn))
    for (const key of new Set([...due, ...current.keys()])) {
      current.set(key, due.has(key) && !attempted.has(key) ? (current.get(key) ?? 0) + 1 : 0)
      waits.set(key, Math.max(waits.get(key) ?? 0, current.get(key)!))
    }
  }
  return waits
}

/** The entries of some indicators with a window each. */
const series = (...groups: readonly (readonly [ids: readonly number[], window: string])[]) =>
  `series:\n${groups.flatMap(([ids, window]) => ids.map((id) => `  - { indicators: [${id}], window: ${window} }\n`)).join('')}`
const DAILY = '{ last: 3d }'
const BACKFILL = '{ from: 2016-01-01, to: +1d }'
/** In few requests, to save time. */
const TEN_YEARS = `${BACKFILL}, chunk: 2y`
const LISTS = `locales: [es, en]
catalogue: true
content: [{ kinds: [news, glossaries] }]
archives: [{ route: archives, window: { last: 2d } }]
widgets: { list: true, names: [1, 2] }
`
const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

const world = fc.record({
  budget: fc.constantFrom(2, 4, 6, 20),
  daily: fc.integer({ min: 1, max: 8 }),
  backfills: fc.integer({ min: 0, max: 3 }),
  others: fc.integer({ min: 0, max: 4 }),
  hasLists: fc.boolean(),
  /** Ids of series that always fail. */
  failing: fc.subarray([1, 2, 20, 40]),
  doLocalizedListsFail: fc.boolean(),
  /** The night on which the daily series select ten years. */
  extendedAt: fc.constantFrom(8, 99),
})

test('with any budget, nothing waits longer than it takes to go round all turns once', () =>
  fc.assert(
    fc.property(world, ({ budget, daily, backfills, others, hasLists, failing, doLocalizedListsFail, extendedAt }) => {
      const yamls = (night: number): string[] => [
        `${series([ids(1, daily), night < extendedAt ? DAILY : TEN_YEARS], [ids(20, backfills), TEN_YEARS])}${hasLists ? LISTS : ''}`,
        ...(others > 0 ? [series([ids(40, others), TEN_YEARS])] : []),
      ]
      const nights = simulate(30, budget, yamls, ({ series: one, params }) =>
        one ? failing.includes(one.indicatorId) : doLocalizedListsFail && params.locale === 'en',
      )
      const turns = new Set(nights.flatMap(({ due }) => [...due])).size
      const round = Math.ceil(turns / budget)
      for (const [key, wait] of longestWaits(nights)) expect([key, wait]).toEqual([key, Math.min(wait, round)])
    }),
    { numRuns: cases(8) },
  ))

test('a backfill of ten years leaves current data its turns and ends in the end', () => {
  const nights = simulate(
    120,
    4,
    () => [series([[1, 2, 3], DAILY], [[9], BACKFILL])],
    () => false,
  )
  const ends = (id: number) =>
    nights.map(
      ({ attempts }) =>
        attempts.filter(
          ({ planned }) => planned.series?.indicatorId === id && !isBacklog(planned.window, planned.settledBefore),
        ).length,
    )
  // Four current turns and one backlog share four calls a night.
  for (const id of [1, 2, 3, 9])
    expect(ends(id).reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(120 * (4 / 5) - 2)
  const backlog = nights
    .flatMap(({ attempts }) => attempts)
    .filter(({ planned }) => isBacklog(planned.window, planned.settledBefore))
  const starts = backlog
    .filter(({ planned }) => planned.series!.indicatorId === 9)
    .map(({ planned }) => planned.window!.from)
  expect(starts.length).toBeGreaterThan(15)
  expect(starts).toEqual([...starts].sort((a, b) => b - a))
})

test('a window that always fails does not hold up the other windows of its series', () => {
  const broken = Date.parse('2025-03-10T00:00:00Z') / 1000
  const isBroken = ({ window }: PlannedRequest) => window !== null && window.from <= broken && window.to > broken
  const nights = simulate(60, 2, () => [series([[9], '{ from: 2023-01-01, to: +1d }'])], isBroken)
  const attempts = nights.flatMap((night) => night.attempts)
  expect(attempts.filter(({ isGood }) => !isGood).length).toBeGreaterThan(2)
  const good = attempts.filter(({ planned, isGood }) => isGood && isBacklog(planned.window, planned.settledBefore))
  const covered = merge(good.map(({ planned }) => planned.window!))
  expect(covered.map(({ from, to }) => [from < broken, to > broken])).toEqual([
    [true, false],
    [false, true],
  ])
  expect(formatUtc(covered[0]!.from)).toBe('2022-12-31T23:00:00Z')
})

test('the second job of a command runs first after a night on which the budget ended before it', () => {
  const nights = simulate(
    6,
    4,
    () => [series([ids(1, 6), DAILY]), series([ids(40, 2), DAILY])],
    () => false,
  )
  const jobs = nights.map(({ attempts }) => attempts.map(({ job }) => job.at(-1)).join(''))
  expect(jobs).toEqual(['0000', '1100', '0000', '1100', '0000', '1100'])
})
