import { ALL_GEOS } from '../db/tables/codes.ts'
import { seriesName } from '../reports/seriesName.ts'
import type { AnyParams } from '../service/routes.ts'
import type { OpenFailureRow } from '../state/failedRequests.ts'
import type { IncompleteRun } from '../state/lastRuns.ts'
import { roughDuration } from '../state/rhythm.ts'
import { type StoredJob, sourceName } from '../state/storedJobs.ts'
import { durationText, quantity } from '../util/text.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import { ceilTo, formatLocal, localDate } from '../util/time/zone.ts'
import type { RootTrouble } from './causes.ts'
import { dismissCommand, KEY_COMMAND, QUARANTINE_COMMAND } from './commands.ts'
import { type NextRuns, requestText } from './nextRuns.ts'
import { itemKey } from './readers/requests.ts'
import type { LackingGeos, NamedGeo, RejectedReply, SeriesGaps, Trouble } from './trouble.ts'

/* The English sentences of findings. */

/** What sentences need besides the facts. */
export interface MessageContext {
  /** Writes a command as the user types it. */
  readonly toCommand: (words: string) => string
  readonly now: Instant
  /** The next runs of each job. */
  readonly nextRuns: ReadonlyMap<number, NextRuns>
}

/** Names that a message lists. */
const MAX_NAMES = 10

/** Lists the first names, and counts the others. */
function listNames(names: readonly string[], most = MAX_NAMES): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}

const geosText = (geoIds: readonly number[]): string =>
  geoIds.includes(ALL_GEOS) ? 'all geos' : `${geoIds.length === 1 ? 'geo' : 'geos'} ${listNames(geoIds.map(String))}`

const place = (job: StoredJob): string => (job.file === null ? 'a program without a file' : sourceName(job))

const runText = ({ job, command, part, startedAt }: IncompleteRun): string =>
  `last run of ${job} (${part ?? command}, started ${startedAt})`

/** The sentence of a failure, without its last dot. */
const withoutDot = (text: string | null): string => (text ?? 'failed').replace(/\.$/, '')

const itemName = (key: string): string => key.replaceAll('_', ' ')

const namedGeosText = (geos: readonly NamedGeo[]): string =>
  listNames(geos.map(({ id, name }) => (name === null ? `${id}` : `${id} (${name})`)))

/** Says that a series or geo never had a value: `indicator 600 has no values for geo 8741; values are stored for 1 (Portugal).` */
export function lackingGeosText(lacking: LackingGeos): string {
  const { geoIds, stored, elsewhere } = lacking
  const others =
    elsewhere.length === 0 ? '' : `; other series of the indicator have values for ${namedGeosText(elsewhere)}`
  if (geoIds.length === 0) return `${seriesName(lacking)} has no values: the service responded without any${others}.`
  const lacks = `${seriesName(lacking)} has no values for geo ${listNames(geoIds.map(String))}`
  if (stored.length > 0) return `${lacks}; values are stored for ${namedGeosText(stored)}.`
  if (others !== '') return `${lacks}${others}.`
  return `${lacks}; no values are stored for any geo. Check the id and the window, or remove geoIds from the job to fetch all geos.`
}

/** Why data is missing, as the rest of a sentence about one part or several. */
function reasonText({ reason, periods, count }: SeriesGaps): string {
  const isOne = (periods ?? count) === 1
  const be = isOne ? 'is' : 'are'
  switch (reason) {
    case 'never requested':
      return `${isOne ? 'was' : 'were'} never requested`
    case 'failed':
      return `${be} missing because requests failed`
    case 'unverified':
      return `${be} unverified: a response had invalid rows, or lacked values that are stored`
    case 'absent':
      return `${be} missing: the service responded without values`
    case 'null':
      return `${be} missing: the service sent rows without a value`
    case 'withdrawn':
      return `${be} missing: the service took values back`
    case 'late':
      return `${be} late`
    case 'no values':
      return `${isOne ? 'has' : 'have'} no values`
  }
}

/** How much is missing, and from when to when. */
function extentText({ periods, count, range, timeZone }: SeriesGaps): string {
  const amount = periods === null ? '' : `${quantity(periods, 'period')} in `
  const from = formatLocal(timeZone, range.from)
  const to = formatLocal(timeZone, range.to)
  return `${amount}${quantity(count, 'range')} from ${from} to ${to}`
}

/** Says when data is requested again, or why it is not. */
function nextText({ reason, nextAt, jobId }: SeriesGaps, { now, nextRuns }: MessageContext): string {
  if (nextAt !== null) return `; requested again ${requestText(reason, nextAt, now, nextRuns.get(jobId ?? 0))}`
  return jobId === null ? '; no job has it in its window' : '; no sync requests it any more'
}

/** Says when missing periods are requested again, and how to accept that they never come. */
function closingText(gaps: SeriesGaps, context: MessageContext): string {
  const { reason, nextAt, indicator_id, series_id, timeZone, range } = gaps
  if (reason === 'never requested' || reason === 'failed') return ''
  if (nextAt !== null) return nextText(gaps, context)
  const to = localDate(timeZone, ceilTo(timeZone, range.to, 'day'))
  const accept = `gaps accept ${indicator_id} --series ${series_id} --from ${localDate(timeZone, range.from)} --to ${to} --note "known"`
  return `${nextText(gaps, context)}. If this is known: \`${context.toCommand(accept)}\``
}

function gapText(gaps: readonly SeriesGaps[], context: MessageContext): string {
  const first = gaps[0]!
  if (gaps.length > 1)
    return `data of ${quantity(gaps.length, 'series', 'series')} was never requested: ${listNames(gaps.map(seriesName))}`
  return `${seriesName(first)}, ${geosText(first.geoIds)}: ${extentText(first)} ${reasonText(first)}${closingText(first, context)}`
}

/** Says that nothing came after the last value, and how to accept that a series has ended. */
function lateText(gaps: SeriesGaps, context: MessageContext): string {
  const { geoIds, timeZone, range, indicator_id } = gaps
  const last = formatLocal(timeZone, range.from)
  const accept = `gaps accept ${indicator_id} --series ${gaps.series_id} --from ${localDate(timeZone, range.from)} --note "has ended"`
  return `${seriesName(gaps)}, ${geosText(geoIds)}: no value from ${last} on, which is later than usual${nextText(gaps, context)}. Check the source. If the series has ended: \`${context.toCommand(accept)}\``
}

/** The series or listing of rejects. */
const rejectedSubject = ({ series, target }: RejectedReply): string => (series === null ? target : seriesName(series))

const daysText = ([first, last]: readonly [string, string]): string => (first === last ? first : `${first} to ${last}`)

const unitText = (name: string | null, unit: string | null): string => (unit === null ? `${name}` : `${name} (${unit})`)

/** What is wrong, and what a person must do if no command helps. */
function describe(trouble: Trouble, context: MessageContext): string {
  const { toCommand, now } = context
  switch (trouble.kind) {
    case 'job file': {
      const { file, name, definition } = trouble.job
      if (definition === null)
        return `job file ${file} does not exist, but a command was to run it. Restore it, or correct the command that names it; then the command forgets it`
      return `job file ${file} of ${name} is gone, but what it selects is still required. Restore the file, or run it from its new place, which continues its history. If the job is no longer needed, the command forgets it`
    }
    case 'same name': {
      const { named } = trouble
      return `job ${named[0]!.name} is defined ${named.length} times: ${named.length > MAX_NAMES ? listNames(named.map(place)) : named.map(place).join(' and ')}; rename one, or forget one`
    }
    case 'alternating':
      return `two definitions of job ${trouble.job.name} alternate under ${place(trouble.job)}, so each drops what only the other selects; give each a name of its own`
    case 'key':
      return `the service refused the API key: ${listNames(trouble.runs.map(runText))} failed. Set INDICATOR_SYNC_API_KEY to a valid key (\`${toCommand(KEY_COMMAND)}\` tests it), then run the command`
    case 'service down':
      return `the service is unavailable: ${listNames(trouble.runs.map(runText))} failed: ${withoutDot(trouble.runs.at(-1)!.message)}`
    case 'last run':
      return `${runText(trouble.run)} failed: ${withoutDot(trouble.run.message)}`
    case 'unfinished': {
      const { run, nextRunAt } = trouble
      const at = nextRunAt !== null && nextRunAt > now ? `next run: ${formatUtc(nextRunAt)}` : 'a run is due'
      const next = nextRunAt === null ? '' : `. The first run after that continues; ${at}`
      return `${runText(run)} did not finish: ${withoutDot(run.message ?? 'it was stopped')}${next}`
    }
    case 'never run':
      return `job ${trouble.job.name} has never run since it was stored at ${trouble.job.definitionAt}. Check its timer or \`schedule\``
    case 'no run': {
      const { job, lastAt, usualS, missedFrom } = trouble.rhythm
      return `job ${job}: no run since ${formatUtc(lastAt)}; it usually runs every ${roughDuration(usualS)}, and was overdue at ${formatUtc(Math.floor(missedFrom))}. Check its timer or \`schedule\``
    }
    case 'not judged':
      return `${quantity(trouble.series, 'series is', 'series are')} not judged by this version: what they lack is not known. The next sync judges them`
    case 'unknown id': {
      const name = itemName(itemKey(trouble.failures[0]!))
      const job = trouble.failures[0]!.job
      return `the service does not know ${name}. Correct or remove it in ${job === null ? 'the job' : `job ${job}`}, then run the job; \`${toCommand('discover')}\` lists the indicators. ${trouble.nextAt > now ? `Next request: ${formatUtc(trouble.nextAt)}` : 'The next run requests it again'}`
    }
    case 'failure': {
      const { failures, cause } = trouble
      const targets = listNames(
        failures.map(({ target }) => target),
        3,
      )
      const { message, entry, job } = failures.at(-1)!
      const count = quantity(failures.length, 'request')
      const text = withoutDot(message)
      const fix =
        cause === 'bad-request'
          ? `. Correct ${entry} of ${job === null ? 'the job' : `job ${job}`}, then run the job: the service would reject the same request again`
          : ''
      return `${count} failed: ${text}: ${targets}${fix}`
    }
    case 'quarantine': {
      const { entries, replies, path, reason } = trouble.reply
      const count = quantity(entries, 'rejected row or field', 'rejected rows or fields')
      const list = `\`${toCommand(QUARANTINE_COMMAND)}\` lists them`
      const fix =
        replies > 1
          ? `Requesting them again did not help. ${list}; dismiss them if the service does not correct them`
          : `Another response may be valid. ${list}; if they stay invalid: \`${toCommand(dismissCommand(trouble.reply))}\``
      return `${rejectedSubject(trouble.reply)}: ${count}${replies > 1 ? ` in ${replies} responses` : ''}, such as ${path}: ${reason}. ${fix}`
    }
    case 'geo':
    case 'no values': {
      const { job } = trouble.lacking
      const fix = job === null ? 'the job' : `job ${job}`
      return `${lackingGeosText(trouble.lacking)} Unless they are still to come, correct ${fix}, then run the job`
    }
    case 'late':
      return lateText(trouble.gaps[0]!, context)
    case 'gap':
      return gapText(trouble.gaps, context)
    case 'off the grid': {
      const { days } = trouble
      return `${seriesName(days)}, ${geosText(days.geoIds)}: ${quantity(days.count, 'value is', 'values are')} between the periods of the series, ${daysText(days.days)}. They are kept, and stand for no period: compare them with the source. Reported for 31 days`
    }
    case 'ahead': {
      const { ahead } = trouble
      const to = formatLocal(ahead.timeZone, ahead.range.to)
      const usual = ahead.usualS > 0 ? `reached at most ${roughDuration(ahead.usualS)} ahead` : 'had no future values'
      return `${seriesName(ahead)}, ${geosText(ahead.geoIds)}: has values up to ${to}, but earlier responses ${usual}. Its source may not know them yet: compare them with it. Reported for 31 days`
    }
    case 'overlap': {
      const { days } = trouble
      return `${seriesName(days)}, ${geosText(days.geoIds)}: ${quantity(days.count, 'day has', 'days have')} more than 25 hours of values, ${daysText(days.days)}`
    }
    case 'cadence changed': {
      const { change } = trouble
      return `${seriesName(change)}, ${geosText(change.geoIds)}: has a value every ${durationText(change.newStepS)} from ${change.at} on, every ${durationText(change.oldStepS)} before. Check that this is right, or set \`expect\` in the job. Reported for 31 days`
    }
    case 'clock':
      return `${quantity(trouble.runs, 'run')} ${trouble.runs === 1 ? 'has a time' : 'have times'} in the future, up to ${formatUtc(trouble.latest)}: the clock of this machine is behind, or was ahead then. Correct it. This ends when that time has come`
    case 'id changed meaning': {
      const { kind, id, from, oldName, oldUnit, name, unit } = trouble.meaning
      return `${kind} ${id} was ${unitText(oldName, oldUnit)} and is ${unitText(name, unit)} from ${formatUtc(from)} on: the service uses the id for something else. Check that the job still selects what you want. Reported for 31 days`
    }
    case 'out of range':
      return `${trouble.subject}, ${trouble.what}. Compare it with the source`
    case 'reference':
      return `${trouble.subject} ${trouble.what}. Check the database with \`${toCommand('doctor')}\`, then rebuild it with \`${toCommand('replay')}\``
    case 'daily totals':
      return `${trouble.subject}, ${trouble.what}. Another program changed values`
  }
}

/** Kinds whose message names the series themselves. */
const OF_ONE_SERIES = ['unknown id', 'quarantine']

/** The series that lack data because of a trouble. */
function consequencesText({ trouble, consequences }: RootTrouble): string {
  if (OF_ONE_SERIES.includes(trouble.kind)) return ''
  const gaps = consequences.flatMap((trouble) =>
    trouble.kind === 'gap' || trouble.kind === 'late' ? trouble.gaps : [],
  )
  const series = [...new Set(gaps.map(seriesName))]
  return series.length === 0 ? '' : `. Missing because of this: ${listNames(series)}`
}

/** The sentence of a finding: what is wrong, and what is missing because of it. */
export const findingMessage = (root: RootTrouble, context: MessageContext): string =>
  describe(root.trouble, context) + consequencesText(root)

const seriesSubject = (gaps: readonly SeriesGaps[], jobs: ReadonlyMap<number, StoredJob>): string => {
  const { jobId } = gaps[0]!
  if (gaps.length > 1 && jobId !== null) return `job ${jobs.get(jobId)?.name ?? jobId}`
  return `${seriesName(gaps[0]!)}, ${geosText(gaps[0]!.geoIds)}`
}

/** What failed requests are about: one item, one request, or a job. */
function failureSubject(failures: readonly OpenFailureRow[]): string {
  const [first, ...others] = failures.map(({ target, params, route, job }) => {
    const { id } = JSON.parse(params) as AnyParams
    return { item: id === undefined ? target : itemName(`${route} ${id}`), job }
  })
  return others.every(({ item }) => item === first!.item) ? first!.item : `job ${first!.job ?? ''}`.trim()
}

/** What a finding is about, in some words. */
export function findingSubject(trouble: Trouble, jobs: ReadonlyMap<number, StoredJob>): string {
  switch (trouble.kind) {
    case 'job file':
    case 'alternating':
    case 'never run':
      return `job ${trouble.job.name}`
    case 'same name':
      return `job ${trouble.named[0]!.name}`
    case 'key':
    case 'service down':
      return 'service'
    case 'last run':
    case 'unfinished':
      return `job ${trouble.run.job}`
    case 'no run':
      return `job ${trouble.rhythm.job}`
    case 'not judged':
      return 'database'
    case 'clock':
      return 'clock'
    case 'unknown id':
      return itemName(itemKey(trouble.failures[0]!))
    case 'failure':
      return failureSubject(trouble.failures)
    case 'quarantine':
      return rejectedSubject(trouble.reply)
    case 'geo':
    case 'no values':
      return seriesName(trouble.lacking)
    case 'late':
    case 'gap':
      return seriesSubject(trouble.gaps, jobs)
    case 'off the grid':
    case 'overlap':
      return seriesName(trouble.days)
    case 'ahead':
      return seriesName(trouble.ahead)
    case 'cadence changed':
      return seriesName(trouble.change)
    case 'id changed meaning':
      return itemName(`${trouble.meaning.kind} ${trouble.meaning.id}`)
    default:
      return trouble.subject
  }
}
