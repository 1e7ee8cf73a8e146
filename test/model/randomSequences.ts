/* Random sequences in random worlds. */
import fc from 'fast-check'
import { DAY, HOUR } from './calendar.ts'
import { between, course, of, type Twins, twins } from './courses.ts'
import { type Entry, FAULTS, type JobSpec, KINDS, type Kind, type Sequence, type Step, type World } from './world.ts'

const day = fc.integer({ min: 0, max: 11 })
const kinds = of<Kind>(...['hourly', 'hourly', 'changing', 'changing', 'changing twice'], ...KINDS)

const entry = (kind: fc.Arbitrary<Kind>): fc.Arbitrary<Entry> =>
  fc.record({
    kind,
    mode: of<Entry['mode']>('raw', 'raw', 'raw', 'raw', 'hour', 'day', 'month', 'countries', 'instant'),
    geo: of<readonly number[] | null>(null, null, [0], [1], [0, 1]),
    from: fc.integer({ min: 0, max: 9 }),
    to: of<number | null>(null, null, 6, 9, 11),
    lookback: of(1, 2, 5),
    refresh: of(HOUR, 6 * HOUR),
    chunk: of<string | null>(null, null, '1d', '3d', '1w'),
  })

const job = (kind: fc.Arbitrary<Kind>): fc.Arbitrary<JobSpec> =>
  fc.record({
    zone: of('Europe/Madrid', 'Atlantic/Canary', 'America/New_York', 'Pacific/Chatham'),
    entries: fc.array(entry(kind), { minLength: 1, maxLength: 2 }),
    callsPerDay: of<number | null>(null, null, null, null, 12),
    listings: of(false, false, false, true),
  })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: of('sync' as const), job: of<0 | 1>(0, 1) }) },
  { weight: 2, arbitrary: fc.record({ do: of('both' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: of('backfill' as const, 'restate' as const),
      job: of<0 | 1>(0, 1),
      from: day,
      days: fc.integer({ min: 1, max: 6 }),
      newestFirst: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: of('retry' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: of('replay' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: of('dismiss' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: of('wait' as const),
      seconds: of(60, 2 * HOUR, 12 * HOUR, DAY, DAY, 2 * DAY, 4 * DAY, 9 * DAY),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: of('fail' as const),
      fault: of(...(Object.keys(FAULTS) as (keyof typeof FAULTS)[])),
      every: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: of('kill' as const), at: fc.integer({ min: 1, max: 120 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: of('revise' as const, 'withdraw' as const, 'late' as const),
      kind: kinds,
      from: day,
      days: fc.integer({ min: 1, max: 3 }),
      geo: of<number | null>(null, 0, 1),
      seconds: of(2 * HOUR, DAY, 3 * DAY),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: of('resolve' as const), kind: of<Kind>('hourly', 'changing', 'daily') }) },
  { weight: 1, arbitrary: fc.record({ do: of('limit' as const), geoDays: of<number | null>(null, 5, 100) }) },
)

/** Two jobs that select the same series with different geos, so that replies for one affect the other. */
const twinJobs = ({ kind, geos }: Twins): fc.Arbitrary<World['jobs']> => {
  const common = {
    kind: fc.constant(kind),
    mode: fc.constant('raw'),
    from: fc.integer({ min: 0, max: 3 }),
    to: of<number | null>(null, 9),
    lookback: of(1, 2),
    refresh: of(HOUR, 6 * HOUR),
    chunk: of<string | null>(null, '1d', '1d'),
  }
  const one = (geo: Entry['geo']): fc.Arbitrary<JobSpec> =>
    fc.record({
      zone: of('Europe/Madrid', 'Atlantic/Canary', 'America/New_York', 'Pacific/Chatham'),
      entries: fc.tuple(fc.record({ ...common, geo: fc.constant(geo) })),
      callsPerDay: fc.constant(null),
      listings: fc.constant(false),
    })
  return fc.tuple(one(geos[0]), one(geos[1]))
}

/** Random settings of every world. */
const chances = {
  lag: of(-DAY, 0, 0, 2 * HOUR, DAY + 12 * HOUR),
  change: fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4 })),
  tiempo: of(77, 1234),
  emptyTiempo: of(4, 77, 218, 223),
}

/** Inserts a sequence of steps somewhere among others. */
const among = (some: fc.Arbitrary<readonly Step[]>, few: readonly Kind[], most: number): fc.Arbitrary<Step[]> =>
  fc
    .tuple(
      some,
      fc.array(
        step.map((one) => ('kind' in one && one.do !== 'resolve' ? { ...one, kind: few[one.days % 2]! } : one)),
        { minLength: 1, maxLength: most },
      ),
      fc.nat(most),
    )
    .map(([row, others, at]): Step[] => [
      ...others.slice(0, at),
      ...row.map((one) => (one.do === 'hole' ? { ...one, kind: few[one.days]! } : one)),
      ...others.slice(at),
    ])

/** Few kinds of series per world, so that jobs and events meet. */
const usual: fc.Arbitrary<Sequence> = fc.tuple(kinds, kinds).chain((few) =>
  fc.record({
    world: fc.record({
      ...chances,
      limit: of<number | null>(null, null, 5, 100),
      jobs: fc.tuple(job(of(...few)), job(of(...few))),
    }),
    steps: among(fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: course }), few, 7),
  }),
)

/** One series in a world, and a course of events between its two jobs. */
const twin: fc.Arbitrary<Sequence> = twins.chain((two) =>
  fc.record({
    world: fc.record({ ...chances, limit: fc.constant(null), jobs: twinJobs(two) }),
    steps: among(between(two), [two.kind, two.kind], 3),
  }),
)

export const sequences: fc.Arbitrary<Sequence> = fc.oneof(
  { weight: 3, arbitrary: usual },
  { weight: 1, arbitrary: twin },
)
