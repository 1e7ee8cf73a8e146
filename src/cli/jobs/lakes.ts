import { openReader } from '../../db/open.ts'
import { type LakeSummary, syncLake } from '../../lake/syncLake.ts'
import { SyncError } from '../../util/errors.ts'
import { errorFields } from '../../util/eventFields.ts'
import { createEmitter } from '../../util/events.ts'
import { asWriteError } from '../../util/files/target.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import { withLake } from '../settings/storage.ts'

/** What a sync of a lake did, in a sentence. */
export function lakeText({ folder, snapshot, changed, rows, bytes, files, written, caution }: LakeSummary): string {
  const contents = `${quantity(rows.observation, 'value')}, ${grouped(bytes)} bytes in ${quantity(files, 'file')}`
  const done = changed
    ? `${folder}: snapshot ${snapshot}, ${contents}; ${quantity(written.files, 'file')} with ${quantity(written.rows, 'row')} ${written.files === 1 ? 'is' : 'are'} new.`
    : `${folder}: nothing changed since snapshot ${snapshot}, ${contents}.`
  return caution === null ? done : `${done} ${caution}`
}

interface LakeOptions {
  readonly file: string
  readonly command: string
  readonly log: Logger
  readonly onActivity?: () => void
}

/** Brings the lake of a job up to date after its run. Returns why that failed, if it did. */
export async function syncJobLake(
  job: string,
  lake: string,
  { file, command, log, onActivity }: LakeOptions,
): Promise<SyncError | null> {
  const emit = createEmitter(eventsTo(log), { command })
  const began = performance.now()
  const reader = openReader(file)
  try {
    const summary = await withLake(lake, (place) =>
      syncLake(reader, place, {
        program: `indicator-sync ${version()}`,
        now: Date.now,
        onPart: () => onActivity?.(),
      }),
    )
    const ms = performance.now() - began
    emit('lake.synced', { job, ms, bytes: summary.bytes, reason: lakeText(summary) })
    return null
  } catch (error) {
    const why = asWriteError(error, lake)
    if (!(why instanceof SyncError)) throw why
    emit('lake.failed', { job, ...errorFields(why) })
    return why
  } finally {
    await reader.close()
  }
}
