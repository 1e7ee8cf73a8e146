import type { Reader } from '../db/open.ts'
import { SCHEMA_VERSION } from '../db/schema.ts'
import { failures } from '../state/failures.ts'
import { findGaps } from './gaps.ts'
import { staleSeries } from './lag.ts'
import { rhythms } from './rhythm.ts'

/** One sample: its labels and its value. */
type Sample = Readonly<Record<string, string | number | null>>

/** What the database does not know of itself. */
export interface Outside {
  readonly version: string
  /** Calls that each job may still make, where it has a budget. */
  readonly callsLeft: readonly { readonly job: string; readonly calls: number }[]
}

/** One figure: its name, type, meaning, and its samples, or the query that answers them. */
interface Metric {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly samples: string | ((db: Reader, outside: Outside) => readonly Sample[])
}

const REASONS = ['unasked', 'failed', 'doubt', 'absent'] as const

/** Every figure that `status --format prometheus` tells; names in rules and dashboards are checked against it. */
export const METRICS: readonly Metric[] = [
  {
    name: 'build_info',
    type: 'gauge',
    help: 'Always 1; the version of the program and of the schema.',
    samples: (_db, { version }) => [{ version, schema: SCHEMA_VERSION, value: 1 }],
  },
  {
    name: 'last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When a job was last done with nothing left open.',
    samples: `select job, max(unixepoch(finished_at)) as value from _run where outcome = 'done' group by job`,
  },
  {
    name: 'last_run_duration_seconds',
    type: 'gauge',
    help: 'How long the last run of a job took.',
    samples: `select job, round((julianday(finished_at) - julianday(started_at)) * 86400, 3) as value from _run
      where id in (select max(id) from _run where finished_at is not null group by job)`,
  },
  {
    name: 'open_failures',
    type: 'gauge',
    help: 'Requests that failed and were not answered since.',
    samples: (db) => [{ value: failures(db).length }],
  },
  {
    name: 'gaps',
    type: 'gauge',
    help: 'Holes in series, by reason.',
    samples: (db) => {
      const gaps = findGaps(db)
      return REASONS.map((reason) => ({ reason, value: gaps.filter((gap) => gap.reason === reason).length }))
    },
  },
  {
    name: 'stale_series',
    type: 'gauge',
    help: 'Series that are further behind now than they usually are.',
    samples: (db) => [{ value: staleSeries(db).length }],
  },
  {
    name: 'missed_runs',
    type: 'gauge',
    help: '1 for a job whose run is missed: its usual rhythm is broken; 0 for one in its rhythm.',
    samples: (db) => rhythms(db).map(({ job, missedFrom }) => ({ job, value: Date.now() / 1000 > missedFrom ? 1 : 0 })),
  },
  {
    name: 'usual_run_interval_seconds',
    type: 'gauge',
    help: 'How long it usually takes until a job runs again.',
    samples: (db) => rhythms(db).map(({ job, usualS }) => ({ job, value: usualS })),
  },
  {
    name: 'calls',
    type: 'gauge',
    help: 'Calls to a host within the last 24 hours.',
    samples: `select host, count(*) as value from _budget where called_at > (unixepoch() - 86400) * 1000 group by host`,
  },
  {
    name: 'calls_left',
    type: 'gauge',
    help: 'Calls that a job may still make within its budget; told with --job.',
    samples: (_db, { callsLeft }) => callsLeft.map(({ job, calls }) => ({ job, value: calls })),
  },
  {
    name: 'requests_total',
    type: 'counter',
    help: 'Requests by route and outcome.',
    samples: 'select route, outcome, count(*) as value from _fetch group by route, outcome',
  },
  {
    name: 'attempts_total',
    type: 'counter',
    help: 'Calls that requests took, repeated ones among them, by route.',
    samples: 'select route, sum(attempts) as value from _fetch group by route',
  },
  {
    name: 'bytes_total',
    type: 'counter',
    help: 'Bytes of the answers, decoded.',
    samples: 'select coalesce(sum(bytes), 0) as value from _run',
  },
  {
    name: 'rows_total',
    type: 'counter',
    help: 'Rows by what became of them.',
    samples: ['new', 'unchanged', 'revised', 'withdrawn', 'rejected']
      .map((what) => `select '${what}' as what, coalesce(sum(rows_${what}), 0) as value from _run`)
      .join(' union all '),
  },
  {
    name: 'last_run_timestamp_seconds',
    type: 'gauge',
    help: 'When a job last ended, by outcome.',
    samples:
      'select job, outcome, max(unixepoch(finished_at)) as value from _run where finished_at is not null group by job, outcome',
  },
  {
    name: 'last_value_timestamp_seconds',
    type: 'gauge',
    help: 'The last instant with a value, by series and geo.',
    samples: `select series_id as series, indicator_id as indicator, geo_id as geo, unixepoch(last_utc) as value from freshness`,
  },
  {
    name: 'quarantined',
    type: 'gauge',
    help: 'Rows and replies in quarantine.',
    samples: 'select count(*) as value from _quarantine where resolved_at is null',
  },
  {
    name: 'database_bytes',
    type: 'gauge',
    help: 'Size of the database file.',
    samples: 'select page_count * page_size as value from pragma_page_count, pragma_page_size',
  },
]

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** The state of a database in the text format of Prometheus (exposition format 0.0.4). */
export function prometheusText(db: Reader, outside: Outside = { version: 'unknown', callsLeft: [] }): string {
  return METRICS.flatMap(({ name, type, help, samples }) => {
    const metric = `indicator_sync_${name}`
    const found = typeof samples === 'string' ? (db.all(samples) as Sample[]) : samples(db, outside)
    const lines = found.flatMap(({ value, ...labels }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`)
      return value === null ? [] : [`${metric}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`]
    })
    return [`# HELP ${metric} ${help}`, `# TYPE ${metric} ${type}`, ...lines, '']
  }).join('\n')
}
