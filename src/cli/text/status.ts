import type { QueueState } from '../../db/queries/queues.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import type { LakeState } from '../../lake/state.ts'
import type { ReplyStoreState } from '../../reports/replies.ts'
import type { OpenFailure, Status, StatusSeries } from '../../reports/status.ts'
import type { CoveredSeries } from '../../reports/strips.ts'
import { grouped, quantity, shellWord } from '../../util/text.ts'
import { startOfDate } from '../../util/time/zone.ts'

import { MARKS, stripText } from '../terminal/chart.ts'
import { tableText } from '../terminal/table.ts'
import { wrapped } from '../terminal/wrap.ts'

const WEEKS = 52
/** The most lines that a person reads. */
const MAX_STRIP_LINES = 40

/** Coverage as a strip a year of a zone, a mark a week where there is room for that. */
export function strips(series: readonly CoveredSeries[], zone: string, cells: number): string {
  const named = series.map(({ indicatorId, timeTrunc, geoId }) =>
    [indicatorId, timeTrunc, geoId === ALL_GEOS ? 'all geos' : `geo ${geoId}`]
      .filter((part) => part !== null)
      .join(' '),
  )
  const margin = Math.max(0, ...named.map(({ length }) => length))
  const marks = Math.max(12, Math.min(WEEKS, cells - margin - '  2025 '.length))
  const lines = series.flatMap(({ intervals }, nth) => {
    const first = new Date(intervals[0]!.from * 1000 + 12 * 3_600_000).getUTCFullYear()
    const last = new Date(intervals.at(-1)!.to * 1000 - 1).getUTCFullYear()
    return Array.from({ length: last - first + 1 }, (_, i) => {
      const year = first + i
      const from = startOfDate(zone, `${year}-01-01`)!
      const to = startOfDate(zone, `${year + 1}-01-01`)!
      return { name: i === 0 ? named[nth]! : '', year, drawn: stripText(intervals, from, to, marks) }
    })
  })
  const shown = lines.slice(0, MAX_STRIP_LINES)
  return [
    ...shown.map(({ name, year, drawn }) => `${name.padEnd(margin)}  ${year} ${drawn}`),
    ...(shown.length < lines.length
      ? [`${quantity(lines.length - shown.length, 'more year')}: query the view \`coverage\`.`]
      : []),
    wrapped(
      `One row per year, ${marks === WEEKS ? 'one mark per week' : `${marks} marks`}: ${MARKS.final} final, ${MARKS.provisional} may still be revised, ${MARKS.empty} empty at the source, ${MARKS.unverified} unverified, ${MARKS.partial} partly stored, ${MARKS.none} missing.`,
      cells,
    ),
  ].join('\n')
}

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
/** An instant to the minute, without the parts that the heading has. */
const minuteText = (text: unknown): string =>
  String(text ?? '')
    .slice(0, 16)
    .replace('T', ' ')

/** The reply store in a sentence. */
const replyStoreText = ({ bodies, packed_bytes, bytes, since, missing }: ReplyStoreState): string =>
  [
    `${grouped(bodies)}, ${mebibytes(bytes)} (${mebibytes(packed_bytes)} compressed)`,
    ...(since === null ? [] : [`since ${minuteText(since)} UTC`]),
    ...(missing === 0 ? [] : [`${quantity(missing, 'response was', 'responses were')} not stored or pruned`]),
  ].join(', ')

const runText = (run: Status['runs'][number], cells: number): string =>
  [
    wrapped(`Run ${run.id}: ${run.command}${run.job ? `, job ${run.job}` : ''}: ${run.outcome}`, cells, '    ', '  '),
    wrapped(
      `${minuteText(run.started_at)} UTC${run.seconds === null ? '' : `, ${run.seconds} s`}, ${quantity(run.requests, 'request')}, ${grouped(run.failed)} failed; rows: ${grouped(run.rows_new)} new, ${grouped(run.rows_revised)} revised`,
      cells,
      '    ',
    ),
  ].join('\n')

/** A failure with its next step; nothing of it is cut, whatever the place. */
const failureText = ({ entry, target, failed_at, message, hint, next_at }: OpenFailure, cells: number): string =>
  [
    wrapped(`${entry}, ${minuteText(failed_at)} UTC`, cells, '    ', '  '),
    wrapped(target, cells, '    '),
    ...(message ? [wrapped(message, cells, '    ')] : []),
    ...(hint ? [wrapped(hint, cells, '      ', '    → ')] : []),
    ...(next_at ? [wrapped(`The next sync after ${minuteText(next_at)} UTC requests it again.`, cells, '    ')] : []),
  ].join('\n')

/** A value that begins later than now, as a forecast does, is not behind. */
export const withLag = (row: StatusSeries): StatusSeries => ({ ...row, lag_hours: Math.max(0, row.lag_hours) })

/** The width in cells from which local times have their year. */
const ROOMY = 80

/** A local time in few cells: within this year the day and the clock, else the date. */
const briefTime = (text: unknown): string => {
  const full = minuteText(text)
  return full.startsWith(String(new Date().getUTCFullYear())) ? full.slice(5) : full.slice(0, 10)
}

const seriesText = (series: readonly StatusSeries[], cells: number): string =>
  series.length === 0
    ? '  none'
    : tableText(
        {
          columns: ['id', 'indicator', 'step', 'geo', 'last value', 'hours ago'],
          rows: series.map((row) => [
            ...[row.indicator_id, row.indicator_name, row.time_trunc, row.geo_name ?? (row.geo_id || '')],
            ...[cells < ROOMY ? briefTime(row.last_local) : minuteText(row.last_local), row.lag_hours],
          ]),
        },
        cells,
      )

const linesOrNone = <T>(rows: readonly T[], text: (row: T, cells: number) => string, cells: number): string =>
  rows.length === 0 ? '  none' : rows.map((row) => text(row, cells)).join('\n')

/** Never requested ranges that are listed. */
const SHOWN_RANGES = 10

/** The number of gaps, and the ranges that were never requested. */
function gapLines({ gaps, never_requested: ranges }: Status, cells: number): string[] {
  const counts = Object.entries(gaps).filter(([, count]) => count > 0)
  if (counts.length === 0) return []
  const listed = ranges.slice(0, SHOWN_RANGES).map((what) => wrapped(`never requested: ${what}`, cells, '    ', '  '))
  const words = counts.map(([reason, count]) => `${grouped(count)} ${reason}`).join(', ')
  return [['', wrapped(`Gaps: ${words} (list them: indicator-sync gaps)`, cells, '  ', ''), ...listed].join('\n')]
}

/** The state of a database for a person, in lines that fit. */
export function statusText(file: string, status: Status, drawn: string, cells: number): string {
  const rows = Object.entries(status.rows).map(
    ([name, count]) => `${name} ${status.estimated.includes(name) ? 'about ' : ''}${grouped(count)}`,
  )
  return [
    wrapped(`${file}: ${rows.join(' · ')}`, cells, '  ', ''),
    `\nLast runs\n${linesOrNone(status.runs, runText, cells)}`,
    `\nSeries\n${seriesText(status.series, cells)}`,
    ...(drawn === '' ? [] : [`\nCoverage\n${drawn}`]),
    ...(status.late.length === 0
      ? []
      : [`\nLate\n${linesOrNone(status.late, (what, width) => wrapped(what, width, '    ', '  '), cells)}`]),
    ...gapLines(status, cells),
    `\nOpen failures\n${linesOrNone(status.failures, failureText, cells)}`,
    `\n${wrapped(`Stored responses: ${replyStoreText(status.replies)}`, cells, '  ', '')}`,
    ...(status.quarantined > 0
      ? [
          `\n${wrapped(`${quantity(status.quarantined, 'row')} in quarantine (list them: indicator-sync quarantine list)`, cells, '  ', '')}`,
        ]
      : []),
  ].join('\n')
}

/** How far a lake is behind the database, in a sentence. */
export function lakeStateText({ folder, snapshot, values, synced_at, fetches_behind }: LakeState, now: number): string {
  const hours = Math.max(0, Math.round(((now - Date.parse(synced_at)) / 3_600_000) * 10) / 10)
  const behind =
    fetches_behind === 0
      ? 'up to date'
      : `${quantity(fetches_behind, 'fetch', 'fetches')} behind; update it with: indicator-sync lake sync ${shellWord(folder)}`
  return `Lake ${folder}: snapshot ${snapshot}, ${quantity(values, 'value')}, updated ${quantity(hours, 'hour')} ago; ${behind}`
}

/** The queues of a database as lines of `status`. */
export const queuesText = (queues: readonly QueueState[]): string[] =>
  queues.map(
    ({ host, queued, active, dead }) =>
      `queue of ${host}: ${quantity(queued, 'request waits', 'requests wait')}, ${grouped(active)} in progress` +
      (dead === 0
        ? ''
        : `, ${grouped(dead)} given up; \`sync --distributed\` queues ${dead === 1 ? 'it' : 'them'} again`),
  )
