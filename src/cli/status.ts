import { coveredSeries } from '../audit/coverage.ts'
import { prometheusText } from '../audit/prometheus.ts'
import { readStatus } from '../audit/status.ts'
import type { TapeState } from '../audit/tape.ts'
import { openReader } from '../db/open.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { grouped, print, table } from './output.ts'
import { strips } from './strips.ts'

/** Rows of objects as a table, with the columns named. */
const show = (rows: readonly object[], columns: readonly string[]): string =>
  rows.length === 0
    ? '  none'
    : table({ columns, rows: rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column])) })

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

/** The tape in a sentence. */
const tapeText = ({ bodies, packed_bytes, bytes, since, missing }: TapeState): string =>
  [
    `${grouped(bodies)} bodies, ${mebibytes(bytes)} packed into ${mebibytes(packed_bytes)}`,
    ...(since === null ? [] : [`since ${since}`]),
    ...(missing === 0 ? [] : [`${grouped(missing)} answers are not on it`]),
  ].join(', ')

export async function run(
  args: CommonArgs & DatabaseArgs & { readonly json: boolean; readonly format: 'text' | 'json' | 'prometheus' },
): Promise<number> {
  const file = readSettings(args).database.value
  const reader = openReader(file)
  try {
    const status = readStatus(reader)
    if (args.format === 'prometheus') {
      process.stdout.write(prometheusText(reader))
      return EXIT.done
    }
    if (args.json || args.format === 'json') {
      print(JSON.stringify({ database: file, ...status }, null, 2))
      return EXIT.done
    }
    const covered = coveredSeries(reader)
    const rows = Object.entries(status.rows).map(
      ([name, count]) => `${name} ${status.estimated.includes(name) ? 'about ' : ''}${grouped(count)}`,
    )
    print(
      [
        `${file}: ${rows.join(' · ')}`,
        `\nLast runs\n${show(status.runs, ['id', 'command', 'job', 'started_at', 'seconds', 'outcome', 'requests', 'failed', 'rows_new', 'rows_revised'])}`,
        `\nSeries\n${show(status.series, ['indicator_id', 'indicator_name', 'time_trunc', 'geo_name', 'first_utc', 'last_local', 'lag_hours', 'checked_at'])}`,
        ...(covered.length > 0 ? [`\nCoverage\n${strips(covered)}`] : []),
        `\nFailures that are still open\n${show(status.failures, ['entry', 'target', 'failed_at', 'message', 'hint'])}`,
        `\nTape: ${tapeText(status.tape)}`,
        ...(status.quarantined > 0
          ? [`\n${grouped(status.quarantined)} rows in quarantine: indicator-sync quarantine list`]
          : []),
      ].join('\n'),
    )
    return EXIT.done
  } finally {
    await reader.close()
  }
}
