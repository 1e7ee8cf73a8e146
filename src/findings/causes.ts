import type { OpenFailureRow } from '../state/failedRequests.ts'
import { NOT_REACHED, unreachedText } from '../state/lastRuns.ts'
import { isOutageCode } from '../util/errors.ts'
import { FINDING_KINDS, type FindingKind } from './finding.ts'
import type { FailureTrouble, GapTrouble, Trouble } from './trouble.ts'

/* Which troubles follow from others. Pure. */

/** A trouble, and those that follow from it. */
export interface RootTrouble {
  readonly trouble: Trouble
  readonly consequences: readonly Trouble[]
}

const rank = ({ kind }: Trouble): number => FINDING_KINDS.indexOf(kind)
const areWithin = (ids: readonly number[], all: readonly number[]): boolean =>
  ids.length > 0 && ids.every((id) => all.includes(id))

/** Why a job that did not run to its end lacks data: later data was not requested, or its request failed. */
const LEFT_BY_RUNS = ['never requested', 'failed', 'late']

/** Errors of single requests, which a job has whether its run succeeds or not. */
const OF_REQUEST = ['bad-request', 'not-found']

/** Whether data is missing because its job did not run, or ended early. */
const isLeftByRun = (cause: Trouble, trouble: Trouble): boolean =>
  (trouble.kind === 'gap' || trouble.kind === 'late') &&
  LEFT_BY_RUNS.includes(trouble.cause ?? '') &&
  areWithin(trouble.jobIds, cause.jobIds)

/** Whether all failed requests of a trouble match a condition. */
const failedIn = ({ failures }: FailureTrouble, matches: (failure: OpenFailureRow) => boolean): boolean =>
  failures.every(matches)

const CAUSING: readonly FindingKind[] = [
  'job file',
  'key',
  'service down',
  'last run',
  'unfinished',
  'never run',
  'no run',
  'unknown id',
  'failure',
  'quarantine',
]

/** Whether a trouble follows from another one directly. The cause has the earlier kind. */
function follows(trouble: Trouble, cause: Trouble): boolean {
  if (rank(cause) >= rank(trouble)) return false
  switch (cause.kind) {
    case 'job file':
      return areWithin(trouble.jobIds, cause.jobIds) && trouble.kind !== 'same name'
    case 'key':
    case 'service down': {
      if (trouble.kind === 'unfinished') return trouble.cause === NOT_REACHED
      const outcome = cause.kind === 'key' ? 'key' : 'transient'
      if (trouble.kind === 'failure') return failedIn(trouble, (failure) => failure.outcome === outcome)
      return isLeftByRun(cause, trouble)
    }
    case 'last run': {
      const { run, job } = cause.run
      if (trouble.kind === 'unfinished')
        return trouble.cause === NOT_REACHED && (trouble.run.message ?? '').startsWith(unreachedText(job))
      if (trouble.kind === 'failure')
        return failedIn(trouble, ({ runId, code }) => runId === run && !OF_REQUEST.includes(code ?? ''))
      return cause.run.part === null && isLeftByRun(cause, trouble)
    }
    case 'unfinished':
    case 'never run':
    case 'no run':
      return isLeftByRun(cause, trouble)
    case 'unknown id':
      return trouble.kind === 'gap' && areWithin(trouble.seriesIds, cause.seriesIds)
    case 'failure': {
      if (trouble.kind === 'quarantine') return cause.failures.some(({ fetchId }) => fetchId === trouble.reply.fetchId)
      if (trouble.kind !== 'gap' || !areWithin(trouble.seriesIds, cause.seriesIds)) return false
      // While an item keeps failing, a run leaves out its other requests.
      const isLeftOut = trouble.cause === 'never requested' && failedIn(cause, ({ code }) => isOutageCode(code ?? ''))
      return trouble.cause === 'failed' || isLeftOut
    }
    case 'quarantine':
      return trouble.kind === 'gap' && trouble.cause === 'unverified' && areWithin(trouble.seriesIds, cause.seriesIds)
    default:
      return false
  }
}

/**
 * Assigns each trouble to the first one that it follows from, and returns those that follow from none, in the order of kinds. Gaps that were
 * never requested by one job are one trouble: its next run fetches all of them.
 */
export function findRoots(troubles: readonly Trouble[]): RootTrouble[] {
  const sorted = troubles.toSorted((a, b) => rank(a) - rank(b))
  const roots = new Map<Trouble, Trouble>()
  const consequences = new Map<Trouble, Trouble[]>()
  // Most troubles are of the last kinds, which cause nothing.
  const causes = sorted.filter(({ kind }) => CAUSING.includes(kind))
  for (const trouble of sorted) {
    const cause = causes.find((other) => follows(trouble, other))
    const root = cause ? roots.get(cause)! : trouble
    roots.set(trouble, root)
    if (root === trouble) consequences.set(trouble, [])
    else consequences.get(root)!.push(trouble)
  }
  const found = [...consequences].map(([trouble, consequences]) => ({ trouble, consequences }))
  return mergeUnrequested(found)
}

/** Merges gaps that were never requested by the job that selects them. */
function mergeUnrequested(found: readonly RootTrouble[]): RootTrouble[] {
  const isUnrequested = ({ trouble }: RootTrouble): boolean =>
    trouble.kind === 'gap' && trouble.cause === 'never requested'
  const groups = Map.groupBy(found.filter(isUnrequested), ({ trouble }) => trouble.jobIds.join())
  return found.flatMap((root): RootTrouble[] => {
    if (!isUnrequested(root)) return [root]
    const group = groups.get(root.trouble.jobIds.join())!
    if (group[0] !== root) return []
    const troubles = group.map(({ trouble }) => trouble as GapTrouble)
    const since = troubles.flatMap(({ sinceAt }) => sinceAt ?? [])
    const trouble: Trouble = {
      ...troubles[0]!,
      gaps: troubles.flatMap(({ gaps }) => gaps),
      sinceAt: since.length === 0 ? null : Math.min(...since),
      seriesIds: [...new Set(troubles.flatMap(({ seriesIds }) => seriesIds))],
    }
    return [{ trouble, consequences: [] }]
  })
}
