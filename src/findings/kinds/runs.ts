import type { Reader } from '../../db/store.ts'
import {
  findFailedRuns,
  findUnfinishedRuns,
  type IncompleteRun,
  NOT_REACHED,
  unreachedText,
} from '../../state/lastRuns.ts'
import { findOutageRun } from '../../state/outage.ts'
import { findRhythms } from '../../state/rhythm.ts'
import { floorToSecond, formatUtc, type Instant } from '../../util/time/instant.ts'
import { type CommandFacts, finishRunCommand, KEY_COMMAND } from '../commands.ts'
import { failedIn, isLeftByRun } from '../consequences.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble, TroubleOf } from '../trouble.ts'
import { listNames, withoutDot } from '../words.ts'

/** Why all runs fail, and the code of these runs. */
const COMMON_CAUSES = { key: 'key-refused', 'service down': 'unavailable' } as const

/** Finds why all runs fail now, as the last requests show, and the first run that may have failed for this reason; null if some succeed. */
async function findCommonCause(db: Reader): Promise<{ kind: keyof typeof COMMON_CAUSES; from: number } | null> {
  const last = db.kysely.selectFrom('_fetch').select('outcome').orderBy('id', 'desc').limit(1)
  if ((await last.executeTakeFirst())?.outcome === 'key') return { kind: 'key', from: 0 }
  const from = await findOutageRun(db)
  return from === null ? null : { kind: 'service down', from }
}

const sinceOf = ({ sinceAt }: IncompleteRun): Instant => floorToSecond(sinceAt)
const jobIdsOf = (runs: readonly IncompleteRun[]): number[] => runs.flatMap(({ jobId }) => jobId ?? [])

/**
 * Groups failed runs with one reason, such as a setting of their command that cannot be used. Each process that died has a reason of its
 * own, and runs of different parts need different commands.
 */
const groupByCause = (runs: readonly IncompleteRun[]): IncompleteRun[][] => [
  ...Map.groupBy(runs, ({ run, isDead, code, message, command, part }) =>
    isDead || code === null ? run : JSON.stringify([code, message, command, part]),
  ).values(),
]

/**
 * Finds jobs whose last run failed or did not finish. Runs that failed because the service refuses the key or is down are one trouble,
 * until a request succeeds.
 */
async function findRunTroubles(db: Reader, now: Instant): Promise<Trouble[]> {
  const failed = await findFailedRuns(db)
  const unfinished = await findUnfinishedRuns(db)
  const common = failed.length === 0 ? null : await findCommonCause(db)
  const runs = failed.filter(({ code, run }) => common && code === COMMON_CAUSES[common.kind] && run >= common.from)
  const rhythms = new Map((await findRhythms(db, now)).map((rhythm) => [rhythm.jobId, rhythm]))
  /** The next run by the schedule of a job continues a run of the whole job. */
  const nextRunAt = ({ jobId, part }: IncompleteRun): Instant | null => {
    const { nextAt = null, missedFrom = 0 } = rhythms.get(jobId ?? 0) ?? {}
    return part === null && now <= missedFrom ? nextAt : null
  }
  const about = (runs: readonly IncompleteRun[]) => ({
    sinceAt: Math.min(...runs.map(sinceOf)),
    jobIds: jobIdsOf(runs),
    seriesIds: [],
    cause: runs[0]!.code,
  })
  return [
    ...(common && runs.length > 0 ? [{ kind: common.kind, runs, ...about(runs) }] : []),
    ...groupByCause(failed.filter((run) => !runs.includes(run))).map(
      (runs): Trouble => ({ kind: 'last run', runs, ...about(runs) }),
    ),
    ...unfinished.map((run): Trouble => ({ kind: 'unfinished', run, nextRunAt: nextRunAt(run), ...about([run]) })),
  ]
}

const runText = ({ job, command, part, startedAt }: IncompleteRun): string =>
  `last run of ${job} (${part ?? command}, started ${startedAt})`

/** One command that finishes the runs of a trouble, and those that it kept from starting, if all were runs of whole jobs. */
function finishRunsCommand(
  { runs }: TroubleOf<'key' | 'service down' | 'last run'>,
  facts: CommandFacts,
  consequences: readonly Trouble[],
): string | null {
  const all = [...runs, ...consequences.flatMap((other) => (other.kind === 'unfinished' ? other.run : []))]
  const commands = [...new Set(all.map((run) => finishRunCommand(facts, run)))]
  const files = commands.map((command) => /^sync (\S+)$/.exec(command ?? '')?.[1])
  return files.every((file) => file !== undefined) ? `sync ${files.join(' ')}` : (commands[0] ?? null)
}

/** Whether a trouble follows from the cause that makes all runs fail. `outcome`: the outcome of the requests that failed because of it. */
function isCausedByService(cause: Trouble, trouble: Trouble, outcome: 'key' | 'transient'): boolean {
  if (trouble.kind === 'unfinished') return trouble.cause === NOT_REACHED
  if (trouble.kind === 'failure') return failedIn(trouble, (failure) => failure.outcome === outcome)
  return isLeftByRun(cause, trouble)
}

/** The service refused the key in the last runs. */
export const key: KindRules<'key'> = {
  find: findRunTroubles,
  subject: () => 'service',
  geoIds: null,
  message: ({ runs }, { toCommand, listNames }) =>
    `the service refused the API key: ${listNames(runs.map(runText))} failed. Set INDICATOR_SYNC_API_KEY to a valid key (\`${toCommand(KEY_COMMAND)}\` tests it), then run the command`,
  command: finishRunsCommand,
  isCauseOf: (cause, trouble) => isCausedByService(cause, trouble, 'key'),
}

/** The service was unavailable in the last runs. */
export const serviceDown: KindRules<'service down'> = {
  find: findRunTroubles,
  subject: () => 'service',
  geoIds: null,
  message: ({ runs }, { listNames }) =>
    `the service is unavailable: ${listNames(runs.map(runText))} failed: ${withoutDot(runs.at(-1)!.message)}`,
  command: finishRunsCommand,
  isCauseOf: (cause, trouble) => isCausedByService(cause, trouble, 'transient'),
}

/** Errors of single requests: a job may have them whether its run succeeds or not. */
const OF_REQUEST = ['bad-request', 'not-found']

/** The last runs of some jobs failed for one reason. */
export const lastRun: KindRules<'last run'> = {
  find: findRunTroubles,
  subject: ({ runs }) => `${runs.length === 1 ? 'job' : 'jobs'} ${listNames(runs.map(({ job }) => job))}`,
  geoIds: null,
  message: ({ runs }, { listNames }) => `${listNames(runs.map(runText))} failed: ${withoutDot(runs[0]!.message)}`,
  command: (trouble, facts) => finishRunsCommand(trouble, facts, []),
  isCauseOf(cause, trouble) {
    const { runs } = cause
    if (trouble.kind === 'unfinished') {
      const { code, message } = trouble.run
      return code === NOT_REACHED && runs.some(({ job }) => (message ?? '').startsWith(unreachedText(job)))
    }
    if (trouble.kind === 'failure')
      return failedIn(
        trouble,
        ({ runId, code }) => runs.some(({ run }) => run === runId) && !OF_REQUEST.includes(code ?? ''),
      )
    return runs[0]!.part === null && isLeftByRun(cause, trouble)
  },
}

/** The last run of a job did not finish. */
export const unfinished: KindRules<'unfinished'> = {
  find: findRunTroubles,
  subject: ({ run }) => `job ${run.job}`,
  geoIds: null,
  message({ run, nextRunAt }, { now }) {
    const at = nextRunAt !== null && nextRunAt > now ? `next run: ${formatUtc(nextRunAt)}` : 'a run is due'
    const next = nextRunAt === null ? '' : `. The first run after that continues; ${at}`
    return `${runText(run)} did not finish: ${withoutDot(run.message ?? 'it was stopped')}${next}`
  },
  // No command helps before a budget is free.
  command: ({ run, cause, nextRunAt }, facts) =>
    cause === 'budget' && nextRunAt !== null ? null : finishRunCommand(facts, run),
  isCauseOf: isLeftByRun,
}
