import type { Job } from '../../job/job.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import { namesAnything } from '../../job/select.ts'
import { emptyWindowHints } from '../../job/windowHints.ts'
import { durationText, grouped, quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { tableText } from '../terminal/table.ts'
import { inZone } from './findingsText.ts'
import { NOTHING_SELECTED } from './summary.ts'

/** A planned job: its requests and notes. */
export interface PlannedJob {
  readonly job: Job
  readonly requests: Iterable<PlannedRequest>
  /** Whether the requested data left the window of its job before it was final. */
  readonly isEarlier: (request: PlannedRequest) => boolean
  readonly notes: readonly string[]
}

export interface PlanTextOptions {
  readonly now: Instant
  /** The zone in which the service counts days. */
  readonly zone: string
  /** True if `--from`, `--to` or `--only` select a part of the job. */
  readonly isPart: boolean
  /** Describes the data of the job that is missing; empty if none is. */
  readonly gaps: string
}

/** A line of the table: some requests, and the time from the first window to the last; null if none has a window. */
interface PlanLine {
  readonly labels: readonly string[]
  readonly calls: number
  readonly window: Interval | null
}

/** Joins the windows of two requests. */
const joinWindows = (a: Interval | null, b: Interval | null): Interval | null =>
  a && b ? { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) } : (a ?? b)

/** Estimates how long calls take at least, and over how many days the limit spreads them. */
function estimateText({ pace: { perSecond, callsPerDay } }: Job, calls: number): string {
  const seconds = Math.ceil(calls / perSecond)
  const days = callsPerDay ? Math.ceil(calls / callsPerDay) : 1
  const limit = days > 1 ? `; ${days} days at the limit of ${quantity(callsPerDay!, 'call')} per day` : ''
  return `${quantity(calls, 'call')}, at least ${durationText(seconds)} at ${quantity(perSecond, 'call')} per second${limit}`
}

/** An entry with more indicators has one line for all of them. */
const MAX_LINES_PER_ENTRY = 20

const requestName = ({ route, params, series }: PlannedRequest, indicators: number | undefined): string =>
  [
    ...(series && indicators !== undefined ? [`${grouped(indicators)} indicators`] : [route, params.id ?? '']),
    series?.timeTrunc ?? '',
    params.locale && !series ? params.locale : '',
  ]
    .filter((part) => part !== '')
    .join(' ')

const localText = (zone: string, at: Instant | undefined): string =>
  at === undefined ? '' : formatLocal(zone, at).slice(0, 16).replace('T00:00', '')

/** Writes the plan of a job: a table of its calls by entry and reason, notes, and an estimate. */
export function planText(planned: PlannedJob, options: PlanTextOptions): string {
  const { job, requests, isEarlier, notes } = planned
  const { zone, isPart, gaps } = options
  const byEntry = Map.groupBy(job.series, ({ path }) => path)
  const manyIndicators = new Map(
    [...byEntry]
      .map(([path, parts]) => [path, parts.reduce((sum, { indicators }) => sum + indicators.length, 0)] as const)
      .filter(([, count]) => count > MAX_LINES_PER_ENTRY),
  )
  const lines = new Map<string, PlanLine>()
  let calls = 0
  let earlierCalls = 0
  for (const request of requests) {
    calls++
    if (isEarlier(request)) earlierCalls++
    const { entryPath, reason, window } = request
    const labels = [entryPath, requestName(request, manyIndicators.get(entryPath)), reason]
    const key = labels.join(' ')
    const line = lines.get(key) ?? { labels, calls: 0, window: null }
    lines.set(key, { labels, calls: line.calls + 1, window: joinWindows(line.window, window) })
  }
  if (calls === 0) {
    const isUpToDate = emptyWindowHints(job, options.now).length === 0
    const gapsText = gaps !== '' ? ` now; ${inZone(zone, gaps)}` : ''
    const text = isPart ? ' in the selected part of the job' : gapsText || (isUpToDate ? '; up to date' : '')
    return [...notes, `${job.name}: ${namesAnything(job) ? `nothing to request${text}.` : NOTHING_SELECTED}`].join('\n')
  }
  const table = tableText({
    columns: ['entry', 'request', 'reason', 'calls', 'from', 'to'],
    rows: [...lines.values()].map(({ labels, calls, window }) => {
      return [...labels, calls, localText(zone, window?.from), localText(zone, window?.to)]
    }),
  })
  const earlier = `${earlierCalls} of ${quantity(calls, 'call')} fetch data that an earlier run selected and that left its window before it was final.`
  return [table, ...(earlierCalls > 0 ? [earlier] : []), ...notes, `${job.name}: ${estimateText(job, calls)}`].join(
    '\n\n',
  )
}
