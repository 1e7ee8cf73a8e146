import { FINDING_KINDS } from './finding.ts'
import { kindRules } from './kinds.ts'
import type { RootTrouble, Trouble, TroubleOf } from './trouble.ts'

/* Which troubles follow from others. Pure. */

const rank = ({ kind }: Trouble): number => FINDING_KINDS.indexOf(kind)

/** Whether a trouble follows from another one directly. The cause has the earlier kind. */
const follows = (trouble: Trouble, cause: Trouble): boolean =>
  rank(cause) < rank(trouble) && kindRules(cause).isCauseOf!(cause, trouble)

/**
 * Assigns each trouble to the first one that it follows from, and returns those that follow from none, in the order of kinds. Gaps that were
 * never requested by one job are one trouble: its next run fetches all of them.
 */
export function findRoots(troubles: readonly Trouble[]): RootTrouble[] {
  const sorted = troubles.toSorted((a, b) => rank(a) - rank(b))
  const roots = new Map<Trouble, Trouble>()
  const consequences = new Map<Trouble, Trouble[]>()
  // Most troubles are of the last kinds, which cause nothing.
  const causes = sorted.filter((trouble) => kindRules(trouble).isCauseOf)
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
    const troubles = group.map(({ trouble }) => trouble as TroubleOf<'gap'>)
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
