import { jobGapsText } from '../../findings/findGaps.ts'
import { lackingGeosText } from '../../findings/readers/lackingGeos.ts'
import type { LackingGeos } from '../../findings/trouble.ts'
import type { ListNames } from '../../findings/words.ts'
import type { SkippedItem } from '../../plan/plannerState.ts'
import type { Summary } from '../../sync/sync.ts'
import { SignalError, UnavailableError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'

/** The number of different errors that are listed, and of the requests that failed with each. */
const SHOWN_ERRORS = 5
const SHOWN_FAILURES = 3
/** The command that lists everything that is wrong. */
const LIST_COMMAND = 'indicator-sync check --all'

/** The message when `--only` leaves nothing of a job. */
export const NOTHING_SELECTED = 'nothing selected: --only names no indicator of this job.'

/** The number of lines of one kind that are printed. */
const SHOWN_LINES = 10

/** The first lines of one kind, and how many there are. `command` lists all. */
const firstLines = (lines: readonly string[], command: string): string[] =>
  lines.length > SHOWN_LINES
    ? [...lines.slice(0, SHOWN_LINES), `… and ${lines.length - SHOWN_LINES} more: ${command}`]
    : [...lines]

/** Lists the first skipped items, one on each line. */
export const skippedText = (skipped: readonly SkippedItem[]): string[] =>
  firstLines(
    skipped.map(
      ({ entryPath, route, id, sinceAt, nextAt }) =>
        `${entryPath}: the service has had no ${route} ${id} since ${formatUtc(sinceAt)}; the next request is after ${formatUtc(nextAt)} (retry requests it now).`,
    ),
    LIST_COMMAND,
  )

/** Warnings about geos without values, one line for each of the first indicators. */
export const lackingGeosTexts = (lacking: readonly LackingGeos[], list?: ListNames): string[] =>
  firstLines(
    lacking.map((geos) => `Warning: ${lackingGeosText(geos, list)}`),
    LIST_COMMAND,
  )

/** The messages of commands that sent no requests. Default: up to date. */
const NOTHING_REQUESTED: Readonly<Record<string, string>> = {
  retry: 'there are no failed requests to retry.',
  restate: 'nothing to do; no values are stored in this range.',
  backfill: 'nothing to do; no data is missing in this range.',
}

/** Explains why a run sent no requests. */
function idleText({ command, hasSelection, skipped, isPart, windowHints, gaps }: Summary): string {
  if (!hasSelection) return NOTHING_SELECTED
  if (skipped.length > 0)
    return `nothing requested; the service does not know ${quantity(skipped.length, 'item')} of the job:`
  if (windowHints.length > 0) return 'nothing to do.'
  if (gaps.ranges > 0 && command !== 'retry')
    return isPart ? 'nothing to do now in the selected part.' : 'nothing to do now.'
  const isUpToDate = isPart ? 'nothing to do; the selected part is up to date.' : 'nothing to do; up to date.'
  return NOTHING_REQUESTED[command] ?? isUpToDate
}

/** Whether something failed, data is missing, or the job has changed since its last run. */
export const needsAttention = (summary: Summary): boolean => {
  const { outcome, skipped, gaps, lackingGeos, windowHints, takenOver, formerName, unselected } = summary
  const count = gaps.ranges + skipped.length + lackingGeos.length + windowHints.length + unselected
  return outcome !== 'done' || takenOver !== null || formerName !== null || count > 0
}

/** Describes changes of a job, once. */
const changeTexts = ({ takenOver, formerName, unselected }: Summary): string[] => [
  ...(takenOver === null ? [] : [`Continues the history of ${takenOver}, which no longer exists.`]),
  ...(formerName === null ? [] : [`Continues the history of ${formerName}, as this job was called before.`]),
  ...(unselected === 0
    ? []
    : [
        `The job changed and no longer selects ${quantity(unselected, 'stored range')}. ${unselected === 1 ? 'Its' : 'Their'} values are kept, but not updated.`,
      ]),
]

/** Formats the summary of a run for people. */
export function summaryText(summary: Summary): string {
  const { job, command, outcome, counts, failures, seconds, earlyEnd, skipped, lackingGeos, windowHints, gaps } =
    summary
  const rows = [
    `${grouped(counts.rows_new)} new`,
    `${grouped(counts.rows_unchanged)} unchanged`,
    `${grouped(counts.rows_revised)} revised`,
    `${grouped(counts.rows_withdrawn)} withdrawn`,
  ].join(', ')
  const lines =
    counts.requests === 0 && !earlyEnd && failures.length === 0
      ? [`${job}: ${idleText(summary)}`]
      : [`${job}: ${outcome} in ${seconds.toFixed(1)} s. ${quantity(counts.requests, 'request')}, rows: ${rows}.`]
  if (earlyEnd)
    lines.push(
      earlyEnd instanceof SignalError || earlyEnd instanceof UnavailableError
        ? earlyEnd.message
        : `${outcome === 'failed' ? 'Failed' : 'Stopped'}: ${earlyEnd.message}`,
      ...(earlyEnd.hint ? [`  → ${earlyEnd.hint}`] : []),
    )
  if (command === 'restate' && counts.rows_withdrawn > 0)
    lines.push(
      `The responses lacked ${quantity(counts.rows_withdrawn, 'stored value')}; the history keeps ${counts.rows_withdrawn === 1 ? 'it' : 'them'}:`,
      '  → indicator-sync gaps',
    )
  if (counts.rows_rejected > 0)
    lines.push(
      `${quantity(counts.rows_rejected, 'invalid row or response', 'invalid rows or responses')} quarantined:`,
      '  → indicator-sync quarantine list',
    )
  lines.push(
    ...changeTexts(summary),
    ...skippedText(skipped),
    ...(gaps.ranges > 0 ? [`${jobGapsText(gaps)}.`] : []),
    ...lackingGeosTexts(lackingGeos),
    ...firstLines(
      windowHints.map((hint) => `Warning: ${hint}.`),
      'indicator-sync validate',
    ),
  )
  // The error that ended the run is above.
  const listed = failures.filter(({ error }) => error !== earlyEnd)
  if (listed.length > 0) {
    const { requests, failed } = counts
    const all = failed === 1 ? 'The only request failed:' : `All ${failed} requests failed:`
    lines.push(requests === failed ? all : `${quantity(failed, 'request')} failed; all other responses are stored:`)
    const byError = [...Map.groupBy(listed, ({ error }) => `${error.message} ${error.hint}`).values()]
    const shown = byError.slice(0, SHOWN_ERRORS).map((alike) => alike.slice(0, SHOWN_FAILURES))
    for (const [i, requests] of shown.entries()) {
      const { error } = requests[0]!
      const others = byError[i]!.length - requests.length
      lines.push(
        ...requests.map(({ planned }) => `  ${planned.entryPath}  ${planned.http.target}`),
        ...(others > 0 ? [`  … and ${others} more with the same error`] : []),
        `    ${error.message}`,
        // The command of a run that ended early also repeats its failed requests.
        ...(error.hint && !earlyEnd ? [`    → ${error.hint}`] : []),
      )
    }
    const more = failed - byError.slice(0, SHOWN_ERRORS).flat().length
    if (more > 0) lines.push(`  … and ${more} more: indicator-sync status --json`)
  }
  return lines.join('\n')
}

/** Formats the summary of a run for scripts. */
export const summaryJson = ({
  runId,
  job,
  outcome,
  counts,
  failures,
  seconds,
  earlyEnd,
  skipped,
  lackingGeos,
  gaps,
  hasSelection,
  takenOver,
  formerName,
  unselected,
}: Summary): object => ({
  run: runId,
  job,
  outcome,
  seconds,
  selected: hasSelection,
  ...counts,
  stop: earlyEnd && { code: earlyEnd.code, message: earlyEnd.message, hint: earlyEnd.hint ?? null },
  unknown: skipped.map(({ entryPath, route, id, sinceAt, nextAt }) => ({
    entry: entryPath,
    route,
    id,
    since: formatUtc(sinceAt),
    next_at: formatUtc(nextAt),
  })),
  missing_geos: lackingGeos.map(({ series_id, kind, indicator_id, geoIds, stored }) => ({
    series_id,
    kind,
    indicator_id,
    geo_ids: geoIds,
    stored,
  })),
  gaps: { ranges: gaps.ranges, next_at: gaps.nextAt },
  taken_over: takenOver,
  former_name: formerName,
  unselected,
  failures: failures.map(({ planned, error }) => ({
    entry: planned.entryPath,
    route: planned.route,
    target: planned.http.target,
    code: error.code,
    message: error.message,
    hint: error.hint ?? null,
  })),
})
