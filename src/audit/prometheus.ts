import type { Reader } from '../db/open.ts'

/** One figure: its name, type, meaning, and the query that answers its labels and its `value`. */
interface Metric {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly sql: string
}

const METRICS: readonly Metric[] = [
  {
    name: 'requests_total',
    type: 'counter',
    help: 'Requests by route and outcome.',
    sql: 'select route, outcome, count(*) as value from _fetch group by route, outcome',
  },
  {
    name: 'bytes_total',
    type: 'counter',
    help: 'Bytes of the answers, decoded.',
    sql: 'select coalesce(sum(bytes), 0) as value from _run',
  },
  {
    name: 'rows_total',
    type: 'counter',
    help: 'Rows by what became of them.',
    sql: ['new', 'unchanged', 'revised', 'withdrawn', 'rejected']
      .map((what) => `select '${what}' as what, coalesce(sum(rows_${what}), 0) as value from _run`)
      .join(' union all '),
  },
  {
    name: 'last_run_timestamp_seconds',
    type: 'gauge',
    help: 'When a job last ended, by outcome.',
    sql: 'select job, outcome, max(unixepoch(finished_at)) as value from _run where finished_at is not null group by job, outcome',
  },
  {
    name: 'last_value_timestamp_seconds',
    type: 'gauge',
    help: 'The last instant with a value, by series and geo.',
    sql: `select series_id as series, indicator_id as indicator, geo_id as geo, unixepoch(last_utc) as value from freshness`,
  },
  {
    name: 'quarantined',
    type: 'gauge',
    help: 'Rows and replies in quarantine.',
    sql: 'select count(*) as value from _quarantine where resolved_at is null',
  },
  {
    name: 'database_bytes',
    type: 'gauge',
    help: 'Size of the database file.',
    sql: 'select page_count * page_size as value from pragma_page_count, pragma_page_size',
  },
]

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** The state of a database in the text format of Prometheus (exposition format 0.0.4). */
export function prometheusText(db: Reader): string {
  return METRICS.flatMap(({ name, type, help, sql }) => {
    const metric = `indicator_sync_${name}`
    const samples = (db.all(sql) as Record<string, string | number>[]).map(({ value, ...labels }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`)
      return `${metric}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
    })
    return [`# HELP ${metric} ${help}`, `# TYPE ${metric} ${type}`, ...samples, '']
  }).join('\n')
}
