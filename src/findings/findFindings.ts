import type { Reader } from '../db/store.ts'
import { seriesName } from '../reports/seriesName.ts'
import { formatUtc, type Instant, toInstant } from '../util/time/instant.ts'
import { findRoots } from './causes.ts'
import { databaseCommand, readCommandFacts } from './commands.ts'
import { areWithin } from './consequences.ts'
import { type Finding, type FindingKind, STATE_KINDS, TOTALS_KINDS, VALUE_KINDS } from './finding.ts'
import { kindRules } from './kinds.ts'
import { readNextRuns } from './nextRuns.ts'
import type { MissingData, RootTrouble, Trouble } from './trouble.ts'
import { type ListNames, listAllNames, listNames } from './words.ts'

/** The kinds that are searched: those of the state; also of values; also of the totals of days, which takes long. */
const KINDS_OF_DEPTH = {
  state: STATE_KINDS,
  values: [...STATE_KINDS, ...VALUE_KINDS],
  totals: [...STATE_KINDS, ...VALUE_KINDS, ...TOTALS_KINDS],
} as const satisfies Record<string, readonly FindingKind[]>

type Depth = keyof typeof KINDS_OF_DEPTH

/** Reads everything that is wrong at an instant, the causes with what follows from them. */
async function readTroubles(db: Reader, now: Instant, depth: Depth): Promise<RootTrouble[]> {
  const troubles: Trouble[] = []
  const finders = new Set(KINDS_OF_DEPTH[depth].map((kind) => kindRules({ kind }).find))
  for (const find of finders) troubles.push(...(await find(db, now)))
  return findRoots(troubles)
}

/** The series that lack data because of a trouble. */
function consequencesText({ trouble, consequences }: RootTrouble, list: ListNames): string {
  if (kindRules(trouble).namesItsSeries) return ''
  const gaps = consequences.flatMap((trouble): readonly MissingData[] =>
    trouble.kind === 'gap' || trouble.kind === 'late' ? trouble.gaps : [],
  )
  const series = [...new Set(gaps.map(seriesName))]
  return series.length === 0 ? '' : `. Missing because of this: ${list(series)}`
}

/** A finding, with the facts from which pages write their own sentences. */
export type FoundFinding = Finding & RootTrouble

/** How findings are worded. */
interface Wording {
  /** Writes a command as the user types it. */
  readonly toCommand?: (words: string) => string
  /** Whether messages name everything they are about; default: only the first names, and the number of others. */
  readonly isComplete?: boolean
}

/** As `findFindings`, with facts. */
export async function findWithFacts(
  db: Reader,
  now: Instant,
  depth: Depth = 'state',
  { toCommand = (words) => databaseCommand(db, words), isComplete = false }: Wording = {},
): Promise<FoundFinding[]> {
  const roots = await readTroubles(db, now, depth)
  if (roots.length === 0) return []
  const facts = await readCommandFacts(db)
  const list = isComplete ? listAllNames : listNames
  const context = { toCommand, listNames: list, now, nextRuns: await readNextRuns(db, now) }
  return roots.map((root): FoundFinding => {
    const { trouble, consequences } = root
    const rules = kindRules(trouble)
    const command = rules.command?.(trouble, facts, consequences) ?? null
    return {
      kind: trouble.kind,
      subject: rules.subject(trouble, facts.jobs),
      since_at: trouble.sinceAt === null ? null : formatUtc(trouble.sinceAt),
      message: rules.message(trouble, context) + consequencesText(root, list),
      command: command && toCommand(command),
      cause: trouble.cause,
      geo_ids: rules.geoIds?.(trouble) ?? [],
      targets: 'failures' in trouble ? trouble.failures.map(({ target }) => target) : [],
      ...root,
    }
  })
}

/**
 * Finds everything that is wrong at an instant: each cause once, with the command that ends it. `check`, `status`, `/healthz`, metrics and the
 * page show this list; those that must be fast without the findings for which every value is read. `withoutJobs`: leaves out findings that
 * concern only these jobs.
 */
export const findFindings = async (
  db: Reader,
  now: Instant = toInstant(Date.now()),
  {
    depth = 'values',
    withoutJobs = [],
    ...wording
  }: { readonly depth?: Depth; readonly withoutJobs?: readonly number[] } & Pick<Wording, 'isComplete'> = {},
): Promise<Finding[]> =>
  (await findWithFacts(db, now, depth, wording))
    .filter(({ trouble }) => !areWithin(trouble.jobIds, withoutJobs))
    .map(({ trouble, consequences, ...finding }) => finding)
