import type { Reader } from '../db/store.ts'
import { formatUtc, type Instant, toInstant } from '../util/time/instant.ts'
import { findRoots, type RootTrouble } from './causes.ts'
import { databaseCommand, readCommands } from './commands.ts'
import type { Finding } from './finding.ts'
import { findingMessage, findingSubject } from './messages.ts'
import { readNextRuns } from './nextRuns.ts'
import { findAheadValues } from './readers/ahead.ts'
import { findChangedMeanings } from './readers/changedMeanings.ts'
import { findJobTroubles } from './readers/jobs.ts'
import { findMissingTroubles } from './readers/missing.ts'
import { findQuarantineTroubles, findRequestTroubles } from './readers/requests.ts'
import { findFutureRuns, findRunTroubles } from './readers/runs.ts'
import { findCadenceChanges, findStrayValues, findUnjudged } from './readers/timelines.ts'
import { findDifferingDays, findValueTroubles } from './readers/values.ts'
import type { Trouble } from './trouble.ts'

/** How much is read: the state of runs, requests and series; also values; also the totals of days, which takes long. */
type Depth = 'state' | 'values' | 'totals'

/** Reads everything that is wrong at an instant, the causes with what follows from them. */
async function readTroubles(db: Reader, now: Instant, depth: Depth): Promise<RootTrouble[]> {
  const troubles: Trouble[] = [
    ...(await findJobTroubles(db, now)),
    ...(await findFutureRuns(db, now)),
    ...(await findRunTroubles(db, now)),
    ...(await findUnjudged(db)),
    ...(await findRequestTroubles(db)),
    ...(await findQuarantineTroubles(db)),
    ...(await findMissingTroubles(db, now)),
    ...(await findStrayValues(db, now)),
    ...(await findAheadValues(db, now)),
    ...(await findCadenceChanges(db, now)),
    ...(await findChangedMeanings(db, now)),
    ...(depth === 'state' ? [] : await findValueTroubles(db)),
    ...(depth === 'totals' ? await findDifferingDays(db) : []),
  ]
  return findRoots(troubles)
}

/** A finding, with the facts from which pages write their own sentences. */
export type FoundFinding = Finding & RootTrouble

/** As `findFindings`, with facts. `toCommand` writes a command as the user types it. */
export async function findWithFacts(
  db: Reader,
  now: Instant,
  depth: Depth = 'state',
  toCommand = (words: string): string => databaseCommand(db, words),
): Promise<FoundFinding[]> {
  const roots = await readTroubles(db, now, depth)
  if (roots.length === 0) return []
  const { jobs, decideCommand } = await readCommands(db)
  const context = { toCommand, now, nextRuns: await readNextRuns(db, now) }
  return roots.map((root): FoundFinding => {
    const { trouble } = root
    const command = decideCommand(root)
    return {
      kind: trouble.kind,
      subject: findingSubject(trouble, jobs),
      since_at: trouble.sinceAt === null ? null : formatUtc(trouble.sinceAt),
      message: findingMessage(root, context),
      command: command && toCommand(command),
      cause: trouble.cause,
      ...root,
    }
  })
}

/**
 * Finds everything that is wrong at an instant: each cause once, with the command that ends it. `check`, `status`, `/healthz`, metrics and the
 * page show this list; those that must be fast without the findings for which every value is read.
 */
export const findFindings = async (
  db: Reader,
  now: Instant = toInstant(Date.now()),
  { depth = 'values' }: { readonly depth?: Depth } = {},
): Promise<Finding[]> => (await findWithFacts(db, now, depth)).map(({ trouble, consequences, ...finding }) => finding)
