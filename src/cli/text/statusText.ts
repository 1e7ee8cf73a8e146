import type { QueueState } from '../../db/queries/queues.ts'
import { groupFindings } from '../../findings/groupFindings.ts'
import type { Status, StatusSeries } from '../../findings/readStatus.ts'
import type { LakeState } from '../../lake/state.ts'
import { grouped, quantity, shellWord } from '../../util/text.ts'
import { tableText } from '../terminal/table.ts'
import { wrapText } from '../terminal/width.ts'
import { findingsText, inZone } from './findingsText.ts'

/** The number of findings, and of series, that are listed. */
const MAX_FINDINGS = 20
const MAX_SERIES = 20
/** The command that lists all of them. */
const LIST_COMMAND = 'indicator-sync status --all'
/** The width in cells from which local times have their year. */
const WIDE = 80

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

/** Shortens a timestamp to the minute: `2025-11-04 12:00`. */
const minuteText = (timestamp: string): string => timestamp.slice(0, 16).replace('T', ' ')

/** A value that begins later than now, as a forecast does, is not behind. */
export const withLag = (row: StatusSeries): StatusSeries => ({ ...row, lag_hours: Math.max(0, row.lag_hours) })

/** Shortens a local time to few cells: within this year to day and clock, else to the date. */
function briefTime(timestamp: string): string {
  const text = minuteText(timestamp)
  return text.startsWith(String(new Date().getUTCFullYear())) ? text.slice(5) : text.slice(0, 10)
}

/** Writes the state of a database in lines of some cells, with the times of a zone. */
export function statusText(
  file: string,
  status: Status,
  { cells, zone, listsAll }: { readonly cells: number; readonly zone: string; readonly listsAll: boolean },
): string {
  const { runs, series, replies, quarantined, gaps, rows, estimated } = status
  /** Wraps a text; `first` is the indent of its first line. */
  const item = (text: string, first = '  ', indent = '    '): string => wrapText(text, cells, indent, first)
  const line = (text: string): string => item(text, '', '  ')
  const section = (title: string, lines: readonly string[]): string => `\n${title}\n${lines.join('\n') || '  none'}`
  const tables = Object.entries(rows).map(
    ([name, count]) => `${name} ${estimated.includes(name) ? 'about ' : ''}${grouped(count)}`,
  )
  const runLines = runs.flatMap((run) => [
    item(`Run ${run.id}: ${run.command}${run.job ? `, job ${run.job}` : ''}: ${run.outcome}`),
    item(
      `${minuteText(inZone(zone, run.started_at))}${run.seconds === null ? '' : `, ${run.seconds} s`}, ${quantity(run.requests, 'request')}, ${grouped(run.failed)} failed; rows: ${grouped(run.rows_new)} new, ${grouped(run.rows_revised)} revised`,
      '    ',
    ),
    ...(run.message ? [item(inZone(zone, run.message), '    ')] : []),
  ])
  const findings = listsAll ? status.findings : groupFindings(status.findings, LIST_COMMAND)
  const shownFindings = listsAll ? findings : findings.slice(0, MAX_FINDINGS)
  // The series that are furthest behind need attention first; an ended series needs none.
  const urgency = ({ has_ended, lag_hours }: StatusSeries): number => (has_ended ? -1 : lag_hours)
  const shownSeries =
    listsAll || series.length <= MAX_SERIES
      ? series
      : series.toSorted((a, b) => urgency(b) - urgency(a)).slice(0, MAX_SERIES)
  const more = (shown: number, all: number): string[] =>
    shown < all ? [`  … and ${grouped(all - shown)} more: ${LIST_COMMAND}`] : []
  const time = cells < WIDE ? briefTime : minuteText
  const seriesTable = tableText(
    {
      columns: ['id', 'indicator', 'step', 'geo', 'last value', 'hours ago'],
      rows: shownSeries.map((row) => [
        row.indicator_id,
        row.indicator_name,
        row.time_trunc,
        row.geo_name ?? (row.geo_id || ''),
        time(row.last_local),
        row.has_ended ? 'ended' : row.lag_hours,
      ]),
    },
    cells,
  )
  const gapCounts = Object.entries(gaps).filter(([, count]) => count > 0)
  const gapText = gapCounts.map(([reason, count]) => `${grouped(count)} ${reason}`).join(', ')
  const replyFacts = [
    `${grouped(replies.bodies)}, ${mebibytes(replies.bytes)} (${mebibytes(replies.packed_bytes)} compressed)`,
    ...(replies.since === null ? [] : [`since ${minuteText(inZone(zone, replies.since))}`]),
    ...(replies.missing === 0
      ? []
      : [`${quantity(replies.missing, 'response was', 'responses were')} not stored or pruned`]),
  ]
  const findingLines = [
    ...findingsText(shownFindings, cells - 2, zone).map((text) => text.replaceAll(/^/gm, '  ')),
    ...more(shownFindings.length, findings.length),
  ]
  const quarantine = `${quantity(quarantined, 'row')} in quarantine (list them: indicator-sync quarantine list)`
  return [
    line(`${file}: ${tables.join(' · ')}`),
    line(`Times: ${zone}`),
    section('Last runs', runLines),
    section('Series', series.length === 0 ? [] : [seriesTable, ...more(shownSeries.length, series.length)]),
    section('Findings', findingLines),
    ...(gapCounts.length === 0 ? [] : [`\n${line(`Gaps: ${gapText} (list them: indicator-sync gaps)`)}`]),
    `\n${line(`Stored responses: ${replyFacts.join(', ')}`)}`,
    ...(quarantined > 0 ? [`\n${line(quarantine)}`] : []),
  ].join('\n')
}

/** Says how far a lake is behind the database. */
export function lakeStateText({ folder, snapshot, values, synced_at, fetches_behind }: LakeState, now: number): string {
  const hours = Math.max(0, Math.round(((now - Date.parse(synced_at)) / 3_600_000) * 10) / 10)
  const behind =
    fetches_behind === 0
      ? 'up to date'
      : `${quantity(fetches_behind, 'fetch', 'fetches')} behind; update it with: indicator-sync lake sync ${shellWord(folder)}`
  return `Lake ${folder}: snapshot ${snapshot}, ${quantity(values, 'value')}, updated ${quantity(hours, 'hour')} ago; ${behind}`
}

/** Describes the queues of a database, a line each. */
export const queuesText = (queues: readonly QueueState[]): string[] =>
  queues.map(({ host, queued, active, dead }) => {
    const retry = `\`sync --distributed\` queues ${dead === 1 ? 'it' : 'them'} again`
    const failed = dead === 0 ? '' : `, ${grouped(dead)} given up; ${retry}`
    return `queue of ${host}: ${quantity(queued, 'request waits', 'requests wait')}, ${grouped(active)} in progress${failed}`
  })
