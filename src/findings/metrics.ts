import { expressionBuilder, type Kysely } from 'kysely'
import { FORGET } from '../db/queries/jobRuns.ts'
import { readQueues } from '../db/queries/queues.ts'
import type { Reader } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import { findOpenFailures } from '../state/failedRequests.ts'
import { findFailedRuns } from '../state/lastRuns.ts'
import { findRhythms } from '../state/rhythm.ts'
import { readStoredJobs } from '../state/storedJobs.ts'
import { CLOCK_ERROR_S, DAY, formatMillis, type Instant, toInstant } from '../util/time/instant.ts'
import { findFindings } from './findFindings.ts'
import { countGaps, countLateSeries } from './findGaps.ts'
import { STATE_KINDS } from './finding.ts'

/** A sample: its labels and its value; null is left out. */
type Sample = Readonly<Record<string, string | number | null>>

/** Metrics that do not come from the database. */
export interface OutsideFigures {
  readonly version: string
  /** Calls left in the budget of each job that has one. */
  readonly callsLeft: readonly { readonly job: string; readonly calls: number }[]
  /** The time at which each lake was last up to date, and the number of fetches with changes since then. */
  readonly lakes?: readonly { readonly folder: string; readonly synced_at: string; readonly fetches_behind: number }[]
}

interface Metric {
  readonly type?: 'counter'
  readonly help: string
  readonly samples: (db: Reader, now: Instant, outside: OutsideFigures) => Promise<readonly Sample[]>
}

const countAll = expressionBuilder<Database>().fn.countAll<number>().as('value')

/** Selects finished runs of jobs. */
const selectEnded = (kysely: Kysely<Database>, now: Instant) =>
  kysely
    .selectFrom('_run')
    .where('finished_at', 'is not', null)
    // An end in the future was recorded by a clock that was ahead.
    .where('finished_at', '<=', formatMillis((now + CLOCK_ERROR_S) * 1000))
    .where('command', '<>', FORGET)

/** Selects the end of the last run, in epoch seconds. */
const selectLastEnd = (kysely: Kysely<Database>, now: Instant) =>
  selectEnded(kysely, now).select((eb) => eb.fn.max<number>(epochSeconds(eb, 'finished_at')).as('value'))

/** Reads the labels of a job: its name, and its host and file if another job has the name. */
async function createLabels(db: Reader): Promise<(jobId: number | null, job: string) => Sample> {
  const jobs = await readStoredJobs(db)
  const byName = Map.groupBy(jobs, ({ name }) => name)
  return (jobId, job) => {
    const named = byName.get(job) ?? []
    const { host = null, file = null } = named.find(({ id }) => id === jobId) ?? {}
    return named.length < 2 || jobId === null ? { job } : { job, host: host ?? '', file: file ?? '' }
  }
}

/** Reads the end of the last run by job and outcome. A run whose process died has no end: its start counts, as `failed`. */
async function readLastRunEnds(db: Reader, now: Instant): Promise<Sample[]> {
  const ends = await selectLastEnd(db.kysely, now)
    .select(['job', 'job_id', 'outcome'])
    .where((eb) => eb.or([eb('part', 'is', null), eb('outcome', '<>', 'done')]))
    .groupBy(['job', 'job_id', 'outcome'])
    .execute()
  const labels = await createLabels(db)
  const dead = (await findFailedRuns(db)).filter(({ isDead }) => isDead)
  const isDead = ({ job, job_id }: (typeof ends)[number]): boolean =>
    dead.some((run) => run.job === job && run.jobId === job_id)
  return [
    ...ends
      .filter((end) => end.outcome !== 'failed' || !isDead(end))
      .map(({ job, job_id, outcome, value }) => ({ ...labels(job_id, job), outcome, value })),
    ...dead.map(({ job, jobId, startedAt }) => ({
      ...labels(jobId, job),
      outcome: 'failed',
      value: Math.floor(Date.parse(startedAt) / 1000),
    })),
  ]
}

const ROW_COUNTERS = ['new', 'unchanged', 'revised', 'withdrawn', 'rejected'] as const

/** Reads the totals of all runs; null without runs. */
const readTotals = (kysely: Kysely<Database>) =>
  kysely
    .selectFrom('_run')
    .select(({ fn }) => fn.sum<number | null>('bytes').as('bytes'))
    .select(({ fn }) => ROW_COUNTERS.map((what) => fn.sum<number | null>(`rows_${what}`).as(`rows_${what}`)))
    .executeTakeFirstOrThrow()

/** Every metric of `status --format prometheus`. Tests compare alert rules and dashboards with this list. */
export const METRICS: Readonly<Record<string, Metric>> = {
  build_info: {
    help: 'Always 1; the labels are the versions of program and schema.',
    samples: async ({ schema }, _now, { version }) => [{ version, schema, value: 1 }],
  },
  last_success_timestamp_seconds: {
    help: 'End of the last run of the whole job with outcome done.',
    samples: async (db, now) => {
      const labels = await createLabels(db)
      const ends = await selectLastEnd(db.kysely, now)
        .select(['job', 'job_id'])
        .where('outcome', '=', 'done')
        .where('part', 'is', null)
        .groupBy(['job', 'job_id'])
        .execute()
      return ends.map(({ job, job_id, value }) => ({ ...labels(job_id, job), value }))
    },
  },
  last_run_duration_seconds: {
    help: 'Duration of the last run.',
    samples: async (db, now) => {
      const labels = await createLabels(db)
      const ids = selectEnded(db.kysely, now)
        .select(({ fn }) => fn.max('id').as('id'))
        .groupBy(['job', 'job_id'])
      const runs = db.kysely.selectFrom('_run').select(['job', 'job_id', 'started_at', 'finished_at'])
      return (await runs.where('id', 'in', ids).execute()).map(({ job, job_id, started_at, finished_at }) => ({
        ...labels(job_id, job),
        value: (Date.parse(finished_at!) - Date.parse(started_at)) / 1000,
      }))
    },
  },
  findings: {
    help: 'Findings of check by kind, without those for which every value is read.',
    samples: async (db, now) => {
      const findings = await findFindings(db, now, { depth: 'state' })
      return STATE_KINDS.map((kind) => ({ kind, value: findings.filter((finding) => finding.kind === kind).length }))
    },
  },
  open_failures: {
    help: 'Failed requests without a later success.',
    samples: async (db) => [{ value: (await findOpenFailures(db)).length }],
  },
  gaps: {
    help: 'Gaps by reason.',
    samples: async (db, now) => Object.entries(await countGaps(db, now)).map(([reason, value]) => ({ reason, value })),
  },
  stale_series: {
    help: 'Series whose last value is older than usual.',
    samples: async (db, now) => [{ value: await countLateSeries(db, now) }],
  },
  missed_runs: {
    help: '1 if a run is overdue, else 0.',
    samples: async (db, now) => {
      const labels = await createLabels(db)
      const rhythms = await findRhythms(db, now)
      return rhythms.map(({ job, jobId, missedFrom }) => ({ ...labels(jobId, job), value: now > missedFrom ? 1 : 0 }))
    },
  },
  usual_run_interval_seconds: {
    help: 'Usual interval between runs.',
    samples: async (db, now) => {
      const labels = await createLabels(db)
      return (await findRhythms(db, now)).map(({ job, jobId, usualS }) => ({ ...labels(jobId, job), value: usualS }))
    },
  },
  calls: {
    help: 'Calls in the last 24 hours.',
    samples: ({ kysely }, now) =>
      kysely
        .selectFrom('_budget')
        .select(['host', countAll])
        .where('called_at', '>', (now - DAY) * 1000)
        .where('called_at', '<=', (now + CLOCK_ERROR_S) * 1000)
        .groupBy('host')
        .execute(),
  },
  calls_left: {
    help: 'Calls left in the budget of a job; only with --job.',
    samples: async (_db, _now, { callsLeft }) => callsLeft.map(({ job, calls }) => ({ job, value: calls })),
  },
  lake_synced_timestamp_seconds: {
    help: 'Time when a lake was last up to date; only with --job.',
    samples: async (_db, _now, { lakes = [] }) =>
      lakes.map(({ folder, synced_at }) => ({ lake: folder, value: Date.parse(synced_at) / 1000 })),
  },
  lake_fetches_behind: {
    help: 'Fetches with changes since a lake was last up to date; only with --job.',
    samples: async (_db, _now, { lakes = [] }) =>
      lakes.map(({ folder, fetches_behind }) => ({ lake: folder, value: fetches_behind })),
  },
  requests_total: {
    type: 'counter',
    help: 'Requests by route and outcome, without retries.',
    samples: ({ kysely }) =>
      kysely.selectFrom('_fetch').select(['route', 'outcome', countAll]).groupBy(['route', 'outcome']).execute(),
  },
  attempts_total: {
    type: 'counter',
    help: 'Calls by route, with retries.',
    samples: ({ kysely }) =>
      kysely
        .selectFrom('_fetch')
        .select(['route', ({ fn }) => fn.sum<number>('attempts').as('value')])
        .groupBy('route')
        .execute(),
  },
  bytes_total: {
    type: 'counter',
    help: 'Decoded bytes of all responses.',
    samples: async ({ kysely }) => [{ value: (await readTotals(kysely)).bytes ?? 0 }],
  },
  rows_total: {
    type: 'counter',
    help: 'Rows by result.',
    samples: async ({ kysely }) => {
      const totals = await readTotals(kysely)
      return ROW_COUNTERS.map((what) => ({ what, value: totals[`rows_${what}`] ?? 0 }))
    },
  },
  last_run_timestamp_seconds: {
    help: 'End of the last run by outcome; runs of part of a job never count as done.',
    samples: readLastRunEnds,
  },
  last_value_timestamp_seconds: {
    help: 'Last instant with a value.',
    samples: async ({ kysely }) => {
      const columns = ['series_id as series', 'indicator_id as indicator', 'geo_id as geo', 'last_utc'] as const
      const rows = await kysely.selectFrom('freshness').select(columns).execute()
      return rows.map(({ last_utc, ...labels }) => ({ ...labels, value: Date.parse(last_utc) / 1000 }))
    },
  },
  quarantined: {
    help: 'Open quarantine entries.',
    samples: ({ kysely }) =>
      kysely.selectFrom('_quarantine').select(countAll).where('resolved_at', 'is', null).execute(),
  },
  database_bytes: {
    help: 'Size of the database file.',
    samples: async ({ engine }) => [{ value: await engine.measureSize() }],
  },
  queue_requests: {
    help: 'Requests in the queue, by state.',
    samples: async (db) =>
      ((await readQueues(db)) ?? []).flatMap(({ host, ...states }) =>
        Object.entries(states).map(([state, value]) => ({ host, state, value })),
      ),
  },
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Writes the state of a database at an instant in the text format of Prometheus (exposition format 0.0.4). */
export async function prometheusText(
  db: Reader,
  outside: OutsideFigures = { version: 'unknown', callsLeft: [] },
  now: Instant = toInstant(Date.now()),
): Promise<string> {
  const lines: string[] = []
  for (const [name, { type = 'gauge', help, samples }] of Object.entries(METRICS)) {
    const metric = `indicator_sync_${name}`
    lines.push(`# HELP ${metric} ${help}`, `# TYPE ${metric} ${type}`)
    for (const { value, ...labels } of await samples(db, now, outside)) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`)
      if (value !== null) lines.push(`${metric}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`)
    }
    lines.push('')
  }
  return lines.join('\n')
}
