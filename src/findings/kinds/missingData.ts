import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { findRunningRun } from '../../state/lastRuns.ts'
import type { StoredJob } from '../../state/storedJobs.ts'
import { readUnknown } from '../../state/unknownItems.ts'
import { quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import { ceilTo, formatLocal, localDate } from '../../util/time/zone.ts'
import { type CommandFacts, rangeCommand, syncCommand } from '../commands.ts'
import type { KindRules, MessageContext } from '../kindRules.ts'
import { requestText } from '../nextRuns.ts'
import { readMissingData } from '../readers/missingData.ts'
import type { GapData, MissingData, Trouble } from '../trouble.ts'
import { seriesAndGeos } from '../words.ts'

/** Finds missing data. A run in progress requests what its job lacks. Unknown ids and geos without values are other kinds. */
async function findMissingData(db: Reader, now: Instant): Promise<Trouble[]> {
  const missing = await readMissingData(db, now)
  const running = await findRunningRun(db)
  const unknown = await readUnknown(db)
  return missing.flatMap((series): Trouble[] => {
    const { kind, indicator_id, series_id, reason, sinceAt, jobId } = series
    const isFetching = reason === 'never requested' && running !== undefined && jobId === running.job_id
    if (reason === 'no values' || isFetching || unknown.has(`${kind} ${indicator_id}`)) return []
    const about = { sinceAt, jobIds: jobId === null ? [] : [jobId], seriesIds: [series_id], cause: reason }
    if (reason === 'late') return [{ kind: 'late', gaps: [{ ...series, reason }], ...about }]
    return [{ kind: 'gap', gaps: [{ ...series, reason }], ...about }]
  })
}

/** Why data is missing, after the verb. */
const REASON_TEXTS: Readonly<Record<GapData['reason'], string>> = {
  'never requested': 'never requested',
  failed: 'missing because requests failed',
  unverified: 'unverified: a stored value was missing from a newer response, or rows of it were invalid',
  absent: 'missing: the service responded without values',
  null: 'missing: the service sent rows without a value',
  withdrawn: 'missing: the service took values back',
}

/** Why data is missing, as the rest of a sentence about one part or several. */
function reasonText({ reason, periods, count }: GapData): string {
  const [one, several] = reason === 'never requested' ? ['was', 'were'] : ['is', 'are']
  return `${(periods ?? count) === 1 ? one : several} ${REASON_TEXTS[reason]}`
}

/** How much is missing, and from when to when. */
function extentText({ periods, count, range, timeZone }: MissingData): string {
  const amount = periods === null ? '' : `${quantity(periods, 'period')} in `
  const from = formatLocal(timeZone, range.from)
  const to = formatLocal(timeZone, range.to)
  return `${amount}${quantity(count, 'range')} from ${from} to ${to}`
}

/** Says when data is requested again, or why it is not. */
function nextText({ reason, nextAt, jobId }: MissingData, { now, nextRuns }: MessageContext): string {
  if (nextAt !== null) return `; requested again ${requestText(reason, nextAt, now, nextRuns.get(jobId ?? 0))}`
  return jobId === null ? '; no job has it in its window' : '; no sync requests it any more'
}

/** Says when missing periods are requested again, and how to accept that they never come. */
function closingText(gaps: GapData, context: MessageContext): string {
  const { reason, nextAt, indicator_id, series_id, timeZone, range } = gaps
  if (reason === 'never requested' || reason === 'failed') return ''
  if (nextAt !== null) return nextText(gaps, context)
  const to = localDate(timeZone, ceilTo(timeZone, range.to, 'day'))
  const accept = `gaps accept ${indicator_id} --series ${series_id} --from ${localDate(timeZone, range.from)} --to ${to} --note "known"`
  return `${nextText(gaps, context)}. If this is known: \`${context.toCommand(accept)}\``
}

function gapText(gaps: readonly GapData[], context: MessageContext): string {
  const first = gaps[0]!
  if (gaps.length > 1)
    return `data of ${quantity(gaps.length, 'series', 'series')} was never requested: ${context.listNames(gaps.map(seriesName))}`
  return `${seriesAndGeos(first, context.listNames)}: ${extentText(first)} ${reasonText(first)}${closingText(first, context)}`
}

/** The geos of all gaps, each once. */
const listGeos = ({ gaps }: { readonly gaps: readonly MissingData[] }): number[] => [
  ...new Set(gaps.flatMap(({ geoIds }) => geoIds)),
]

/** Says that nothing came after the last value, and how to accept that a series has ended. */
function lateText(gaps: MissingData, context: MessageContext): string {
  const { timeZone, range, indicator_id } = gaps
  const last = formatLocal(timeZone, range.from)
  const accept = `gaps accept ${indicator_id} --series ${gaps.series_id} --from ${localDate(timeZone, range.from)} --note "has ended"`
  return `${seriesAndGeos(gaps, context.listNames)}: no value from ${last} on, which is later than usual${nextText(gaps, context)}. Check the source. If the series has ended: \`${context.toCommand(accept)}\``
}

/** Names the series, or the job that never requested several. */
function subject(gaps: readonly MissingData[], jobs: ReadonlyMap<number, StoredJob>): string {
  const { jobId } = gaps[0]!
  if (gaps.length > 1 && jobId !== null) return `job ${jobs.get(jobId)?.name ?? jobId}`
  return seriesAndGeos(gaps[0]!)
}

/** The command that closes the gaps of a series. */
function closeCommand(gaps: GapData, facts: CommandFacts): string | null {
  const { series_id, geoIds, reason, jobId } = gaps
  if (reason === 'never requested') return syncCommand(facts, jobId)
  if (reason === 'failed') return 'retry'
  if (reason === 'unverified' && !facts.unconfirmed.has(series_id)) return 'retry'
  const selecting = jobId === null ? undefined : facts.jobs.get(jobId)
  return rangeCommand(facts, selecting ?? facts.findJob(series_id, geoIds[0]!), gaps, !selecting)
}

/** Nothing came after the last value of a series for longer than usual. */
export const late: KindRules<'late'> = {
  find: findMissingData,
  subject: ({ gaps }, jobs) => subject(gaps, jobs),
  geoIds: listGeos,
  message: ({ gaps }, context) => lateText(gaps[0]!, context),
  command: null,
}

/** Data of a series is missing. */
export const gap: KindRules<'gap'> = {
  find: findMissingData,
  subject: ({ gaps }, jobs) => subject(gaps, jobs),
  geoIds: listGeos,
  message: ({ gaps }, context) => gapText(gaps, context),
  command: ({ gaps }, facts) => closeCommand(gaps[0]!, facts),
}
