import type { Transaction, Updateable } from 'kysely'
import type { Reader, Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Job } from '../job/job.ts'
import { isReservedName } from '../job/reservedNames.ts'
import { graceSeconds } from '../judge/growth.ts'
import { recordSpans } from '../load/spans/recordSpans.ts'
import { findUsualInterval } from '../state/rhythm.ts'
import { fileExists, readStoredJobs, type StoredJob } from '../state/storedJobs.ts'
import { canonical } from '../util/json.ts'
import { formatMillis, HOUR, type Instant, toInstant } from '../util/time/instant.ts'

/** Where a job comes from: the host and the real path of its file. Jobs of programs that use the library have none. */
export interface JobSource {
  readonly host: string
  readonly file: string
}

/** The stored job of a run. */
export interface RegisteredJob {
  readonly id: number
  /** The file whose history the job continues, because it no longer exists; null unless that began now. */
  readonly takenOver: string | null
  /** The name that the job of this file had before; null unless it changed now. */
  readonly formerName: string | null
}

/** The definition of a job as text. Addresses for notifications may be secret. */
function definitionText(job: Job): string {
  const { file, fullJob, unmatched, notify, ...definition } = job.fullJob ?? job
  return canonical(definition)
}

/**
 * Finds the stored job of a source: the one with its name, host and file; else the one of the same file, whose name was edited; else one
 * with its name whose file no longer exists on this host, or that an older version recorded without a file. A file on another host is
 * never taken over: two hosts would take over from each other in turn.
 */
export async function findStoredJob(
  db: Reader,
  name: string,
  source: JobSource | undefined,
): Promise<StoredJob | undefined> {
  const all = await readStoredJobs(db, { includesForgotten: true })
  const jobs = all.filter((job) => job.name === name)
  const { host = null, file = null } = source ?? {}
  const ofFile = all.filter((job) => (file ?? job.definition) !== null && job.host === host && job.file === file)
  const own = ofFile.find((job) => job.name === name)
  if (own) return own
  const known = jobs.filter(({ forgottenAt }) => forgottenAt === null)
  return (
    ofFile.findLast((job) => file !== null && job.forgottenAt === null) ??
    known.find((job) => job.definition === null && job.file === null) ??
    known.findLast((job) => source !== undefined && job.host === host && job.file !== null && !fileExists(job.file))
  )
}

/** Stores the whole definition of a job, whatever part of it is run. Null for the jobs of the program itself. */
export async function registerJob(
  store: Store,
  job: Job,
  source: JobSource | undefined,
  nowMs: number,
): Promise<RegisteredJob | null> {
  const { name } = job
  if (isReservedName(name)) return null
  const definition = definitionText(job)
  const stored = await findStoredJob(store, name, source)
  const at = formatMillis(nowMs)
  const { host = null, file = null } = source ?? {}
  const usual_s = await findUsualInterval(store, stored?.id, job, toInstant(nowMs))
  if (!stored) {
    const { id } = await store.write((tx) =>
      tx
        .insertInto('_job')
        .values({ name, host, file, definition, definition_at: at, returns: 0, usual_s })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    return { id, takenOver: null, formerName: null }
  }
  const graceShift = Math.abs(graceSeconds(usual_s) - graceSeconds(stored.usualS))
  // Intervals between runs vary a little. Spans follow larger changes only, and the stored interval is the one by which they were judged.
  const isSteady = graceShift > 0 && graceShift < HOUR
  const changes: Updateable<Database['_job']> = {
    ...(stored.definition !== definition && describeChange(stored, definition, at)),
    ...((stored.host !== host || stored.file !== file) && { host, file }),
    ...(stored.name !== name && { name }),
    ...(stored.usualS !== usual_s && !isSteady && { usual_s }),
    ...(stored.forgottenAt !== null && { forgotten_at: null, former_definition: null, returns: 0 }),
  }
  if (Object.keys(changes).length > 0)
    await store.write(async (tx) => {
      await tx.updateTable('_job').set(changes).where('id', '=', stored.id).execute()
      if (graceShift >= HOUR || stored.name !== name) await judgeJob(tx, stored.id, toInstant(nowMs))
    })
  return {
    id: stored.id,
    takenOver: stored.file !== null && stored.file !== file ? stored.file : null,
    formerName: stored.name === name || stored.definition === null ? null : stored.name,
  }
}

/** A job whose file cannot be read. */
export interface UnreadJob {
  /** Its name, as far as it is known. */
  readonly name: string | null
  /** Its file, as given on the command line. */
  readonly file: string
  readonly source: JobSource
}

/**
 * Finds the stored job of a file that cannot be read, or stores one without a definition, named after the file if its name is not known.
 * The first run of the file that starts gives it a definition.
 */
export async function registerUnread(
  store: Store,
  { name, file, source }: UnreadJob,
  nowMs: number,
): Promise<Pick<StoredJob, 'id' | 'name' | 'definition'>> {
  const ofFile = (await readStoredJobs(store, { includesForgotten: true })).filter(
    (job) => job.host === source.host && job.file === source.file,
  )
  const stored = ofFile.findLast(({ forgottenAt }) => forgottenAt === null) ?? ofFile.at(-1)
  return store.write(async (tx) => {
    if (stored) {
      await tx.updateTable('_job').set({ forgotten_at: null }).where('id', '=', stored.id).execute()
      return stored
    }
    const row = { ...source, name: name ?? file, definition: null, definition_at: formatMillis(nowMs), returns: 0 }
    return tx.insertInto('_job').values(row).returning(['id', 'name', 'definition']).executeTakeFirstOrThrow()
  })
}

/** Judges the series of a job again. Spans have its name, and new time becomes missing by the interval between its runs. */
async function judgeJob(tx: Transaction<Database>, jobId: number, now: Instant): Promise<void> {
  const duties = tx.selectFrom('_duty').select('series_id').distinct().where('job_id', '=', jobId)
  for (const { series_id } of await duties.orderBy('series_id').execute()) await recordSpans(tx, series_id, now)
}

/** The columns of a changed definition. It returns if it is the one before the last change. */
const describeChange = (
  { definition: former, formerDefinition, returns }: StoredJob,
  definition: string,
  at: string,
): Updateable<Database['_job']> => ({
  definition,
  definition_at: at,
  former_definition: former,
  returns: definition === formerDefinition ? returns + 1 : 0,
})
