import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openReader } from '../../db/open.ts'
import type { Job } from '../../job/job.ts'
import type { LakeSummary } from '../../lake/syncLake.ts'
import type { Service } from '../../service/service.ts'
import { SyncError } from '../../util/errors.ts'
import { errorFields } from '../../util/eventFields.ts'
import { createEmitter } from '../../util/events.ts'
import { asWriteError } from '../../util/files/target.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import { readJobs } from './readJobs.ts'

/** Describes the result of updating a lake in a sentence. */
export function lakeText({ folder, snapshot, changed, rows, bytes, files, written, caution }: LakeSummary): string {
  const contents = `${quantity(rows.observation, 'value')}, ${grouped(bytes)} bytes in ${quantity(files, 'file')}`
  const done = changed
    ? `${folder}: snapshot ${snapshot}, ${contents}; ${quantity(written.files, 'file')} with ${quantity(written.rows, 'row')} ${written.files === 1 ? 'is' : 'are'} new.`
    : `${folder}: nothing changed since snapshot ${snapshot}, ${contents}.`
  return caution === null ? done : `${done} ${caution}`
}

interface LakeUpdate {
  readonly file: string
  readonly command: string
  readonly log: Logger
}

/** Updates the lake of a job, if it has one. Returns the error if that fails. */
export async function syncJobLake({ name, lake }: Job, { file, command, log }: LakeUpdate): Promise<SyncError | null> {
  if (lake === null) return null
  const { syncLake } = await import('../../lake/syncLake.ts')
  const { withLake } = await import('../settings/storage.ts')
  const emit = createEmitter(eventsTo(log), { command })
  const began = performance.now()
  const reader = openReader(file)
  try {
    const program = `indicator-sync ${version()}`
    const summary = await withLake(lake, (place) => syncLake(reader, place, { program, nowMs: Date.now }))
    const ms = performance.now() - began
    emit('lake.synced', { job: name, ms, bytes: summary.bytes, reason: lakeText(summary) })
    return null
  } catch (error) {
    const syncError = asWriteError(error, lake)
    if (!(syncError instanceof SyncError)) throw syncError
    emit('lake.failed', { job: name, ...errorFields(syncError) })
    return syncError
  } finally {
    await reader.close()
  }
}

const JOBS_FOLDER = 'jobs'

/**
 * The lakes of the job files in `jobs/`, which `status` shows if the user names no lake. Skips job files with mistakes; running them
 * reports those.
 */
export function listLakesOfJobs(service: Service): string[] {
  if (!statSync(JOBS_FOLDER, { throwIfNoEntry: false })?.isDirectory()) return []
  const files = readdirSync(JOBS_FOLDER)
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => join(JOBS_FOLDER, name))
  // Reading a pipe could block.
  const regular = files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
  return regular.flatMap((file) => {
    try {
      return readJobs([file], service).flatMap(({ lake }) => lake ?? [])
    } catch {
      return []
    }
  })
}
