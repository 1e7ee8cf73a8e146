import { expressionBuilder, type Kysely } from 'kysely'
import { FORGET } from '../db/queries/jobRuns.ts'
import { readQueues } from '../db/queries/queues.ts'
import type { Reader } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import { CLOCK_ERROR, DAY, formatMillis, type Instant } from '../util/time/instant.ts'
import { failures } from './failedRequests.ts'
import { findGaps, gapCounts } from './gaps.ts'
import { staleSeries } from './lag.ts'
import { failedRuns } from './lastRuns.ts'
import { rhythms } from './rhythm.ts'

/** One sample: its labels and its value. */
type Sample = Readonly<Record<string, string | number | null>>

/** Metrics that do not come from the database. */
export interface OutsideFigures {
  readonly version: string
  /** Calls left in the budget of each job that has one. */
  readonly callsLeft: readonly { readonly job: string; readonly calls: number }[]
  /** Time when each lake was last up to date, and the number of fetches with changes since then. */
  readonly lakes?: readonly { readonly folder: string; readonly synced_at: string; readonly fetches_behind: number }[]
}

/** A metric with a function that reads its samples. */
interface Metric {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly samples: (db: Reader, outside: OutsideFigures, now: Instant) => Promise<readonly Sample[]>
}

const countAll = expressionBuilder<Database>().fn.countAll<number>().as('value')

/** Finished runs of jobs. */
const endedRuns = (kysely: Kysely<Database>, now: Instant) =>
  kysely
    .selectFrom('_run')
    .where('finished_at', 'is not', null)
    // An end in the future was recorded by a clock that was ahead.
    .where('finished_at', '<=', formatMillis((now + CLOCK_ERROR) * 1000))
    .where('command', '<>', FORGET)

/** End of the last run, in epoch seconds. */
const lastEnds = (kysely: Kysely<Database>, now: Instant) =>
  endedRuns(kysely, now).select((eb) => eb.fn.max<number>(epochSeconds(eb, 'finished_at')).as('value'))

/** End of the last run by job and outcome. A run whose process died has no recorded end: its start counts, as `failed`. */
async function lastRunEnds(
  db: Reader,
  _outside: OutsideFigures,
  now: Instant,
): Promise<{ readonly job: string; readonly outcome: string; readonly value: number }[]> {
  const ends = await lastEnds(db.kysely, now)
    .select(['job', 'outcome'])
    .where((of) => of.or([of('part', 'is', null), of('outcome', '<>', 'done')]))
    .groupBy(['job', 'outcome'])
    .execute()
  const dead = (await failedRuns(db)).filter(({ isDead }) => isDead)
  const others = ends.filter(({ job, outcome }) => outcome !== 'failed' || !dead.some((one) => one.job === job))
  return [
    ...others,
    ...dead.map(({ job, startedAt }) => ({ job, outcome: 'failed', value: Math.floor(Date.parse(startedAt) / 1000) })),
  ]
}

/** Queued requests by host and state; none in a file. */
const queuedRequests = async (db: Reader): Promise<{ host: string; state: string; value: number }[]> =>
  ((await readQueues(db)) ?? []).flatMap(({ host, ...states }) =>
    Object.entries(states).map(([state, value]) => ({ host, state, value })),
  )

const ROW_COUNTERS = ['new', 'unchanged', 'revised', 'withdrawn', 'rejected'] as const

/** Totals of all runs; null without runs. */
const runTotals = (kysely: Kysely<Database>) =>
  kysely
    .selectFrom('_run')
    .select(({ fn }) => fn.sum<number | null>('bytes').as('bytes'))
    .select(({ fn }) => ROW_COUNTERS.map((what) => fn.sum<number | null>(`rows_${what}`).as(`rows_${what}`)))
    .executeTakeFirstOrThrow()

/** Every metric of `status --format prometheus`. Tests compare alert rules and dashboards with this list. */
export const METRICS: readonly Metric[] = [
  {
    name: 'build_info',
    type: 'gauge',
    help: 'Always 1; the labels are the versions of program and schema.',
    samples: async ({ schema }, { version }) => [{ version, schema, value: 1 }],
  },
  {
    name: 'last_success_timestamp_seconds',
    type: 'gauge',
    help: 'End of the last run of the whole job with outcome done.',
    samples: ({ kysely }, _outside, now) =>
      lastEnds(kysely, now)
        .select('job')
        .where('outcome', '=', 'done')
        .where('part', 'is', null)
        .groupBy('job')
        .execute(),
  },
  {
    name: 'last_run_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last run.',
    samples: async ({ kysely }, _outside, now) => {
      const last = await kysely
        .selectFrom('_run')
        .select(['job', 'started_at', 'finished_at'])
        .where(
          'id',
          'in',
          endedRuns(kysely, now)
            .select(({ fn }) => fn.max('id').as('id'))
            .groupBy('job'),
        )
        .execute()
      return last.map(({ job, started_at, finished_at }) => ({
        job,
        value: (Date.parse(finished_at!) - Date.parse(started_at)) / 1000,
      }))
    },
  },
  {
    name: 'open_failures',
    type: 'gauge',
    help: 'Failed requests without a later success.',
    samples: async (db) => [{ value: (await failures(db)).length }],
  },
  {
    name: 'gaps',
    type: 'gauge',
    help: 'Gaps by reason.',
    samples: async (db) => Object.entries(gapCounts(await findGaps(db))).map(([reason, value]) => ({ reason, value })),
  },
  {
    name: 'stale_series',
    type: 'gauge',
    help: 'Series whose last value is older than usual.',
    samples: async (db, _outside, now) => [{ value: (await staleSeries(db, now)).length }],
  },
  {
    name: 'missed_runs',
    type: 'gauge',
    help: '1 if a run is overdue, else 0.',
    samples: async (db, _outside, now) =>
      (await rhythms(db, now)).map(({ job, missedFrom }) => ({ job, value: now > missedFrom ? 1 : 0 })),
  },
  {
    name: 'usual_run_interval_seconds',
    type: 'gauge',
    help: 'Usual interval between runs.',
    samples: async (db, _outside, now) => (await rhythms(db, now)).map(({ job, usualS }) => ({ job, value: usualS })),
  },
  {
    name: 'calls',
    type: 'gauge',
    help: 'Calls in the last 24 hours.',
    samples: ({ kysely }, _outside, now) =>
      kysely
        .selectFrom('_budget')
        .select(['host', countAll])
        .where('called_at', '>', (now - DAY) * 1000)
        .where('called_at', '<=', (now + CLOCK_ERROR) * 1000)
        .groupBy('host')
        .execute(),
  },
  {
    name: 'calls_left',
    type: 'gauge',
    help: 'Calls left in the budget of a job; only with --job.',
    samples: async (_db, { callsLeft }) => callsLeft.map(({ job, calls }) => ({ job, value: calls })),
  },
  {
    name: 'lake_synced_timestamp_seconds',
    type: 'gauge',
    help: 'Time when a lake was last up to date; only with --job.',
    samples: async (_db, { lakes = [] }) =>
      lakes.map(({ folder, synced_at }) => ({ lake: folder, value: Date.parse(synced_at) / 1000 })),
  },
  {
    name: 'lake_fetches_behind',
    type: 'gauge',
    help: 'Fetches with changes since a lake was last up to date; only with --job.',
    samples: async (_db, { lakes = [] }) =>
      lakes.map(({ folder, fetches_behind }) => ({ lake: folder, value: fetches_behind })),
  },
  {
    name: 'requests_total',
    type: 'counter',
    help: 'Requests by route and outcome, without retries.',
    samples: ({ kysely }) =>
      kysely.selectFrom('_fetch').select(['route', 'outcome', countAll]).groupBy(['route', 'outcome']).execute(),
  },
  {
    name: 'attempts_total',
    type: 'counter',
    help: 'Calls by route, with retries.',
    samples: ({ kysely }) =>
      kysely
        .selectFrom('_fetch')
        .select(['route', ({ fn }) => fn.sum<number>('attempts').as('value')])
        .groupBy('route')
        .execute(),
  },
  {
    name: 'bytes_total',
    type: 'counter',
    help: 'Decoded bytes of all responses.',
    samples: async ({ kysely }) => [{ value: (await runTotals(kysely)).bytes ?? 0 }],
  },
  {
    name: 'rows_total',
    type: 'counter',
    help: 'Rows by result.',
    samples: async ({ kysely }) => {
      const sums = await runTotals(kysely)
      return ROW_COUNTERS.map((what) => ({ what, value: sums[`rows_${what}`] ?? 0 }))
    },
  },
  {
    name: 'last_run_timestamp_seconds',
    type: 'gauge',
    help: 'End of the last run by outcome; runs of part of a job never count as done.',
    samples: lastRunEnds,
  },
  {
    name: 'last_value_timestamp_seconds',
    type: 'gauge',
    help: 'Last instant with a value.',
    samples: async ({ kysely }) => {
      const rows = await kysely
        .selectFrom('freshness')
        .select(['series_id', 'indicator_id', 'geo_id', 'last_utc'])
        .execute()
      return rows.map(({ series_id, indicator_id, geo_id, last_utc }) => ({
        series: series_id,
        indicator: indicator_id,
        geo: geo_id,
        value: Date.parse(last_utc) / 1000,
      }))
    },
  },
  {
    name: 'quarantined',
    type: 'gauge',
    help: 'Open quarantine entries.',
    samples: ({ kysely }) =>
      kysely.selectFrom('_quarantine').select(countAll).where('resolved_at', 'is', null).execute(),
  },
  {
    name: 'database_bytes',
    type: 'gauge',
    help: 'Size of the database file.',
    samples: async ({ engine }) => [{ value: await engine.bytes() }],
  },
  {
    name: 'queue_requests',
    type: 'gauge',
    help: 'Requests in the queue, by state.',
    samples: queuedRequests,
  },
]

const escapedLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** The state of a database at an instant, in the text format of Prometheus (exposition format 0.0.4). */
export async function prometheusText(
  db: Reader,
  outside: OutsideFigures = { version: 'unknown', callsLeft: [] },
  now: Instant = Math.floor(Date.now() / 1000),
): Promise<string> {
  const lines: string[] = []
  for (const { name, type, help, samples } of METRICS) {
    const metric = `indicator_sync_${name}`
    lines.push(`# HELP ${metric} ${help}`, `# TYPE ${metric} ${type}`)
    for (const { value, ...labels } of await samples(db, outside, now)) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(String(text))}"`)
      if (value !== null) lines.push(`${metric}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`)
    }
    lines.push('')
  }
  return lines.join('\n')
}
