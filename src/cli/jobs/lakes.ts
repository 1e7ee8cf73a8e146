import { openReader } from '../../db/open.ts'
import type { Job } from '../../job/job.ts'
import { type LakeSummary, syncLake } from '../../lake/syncLake.ts'
import { SyncError } from '../../util/errors.ts'
import { errorFields } from '../../util/eventFields.ts'
import { createEmitter } from '../../util/events.ts'
import { asWriteError } from '../../util/files/target.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import { withLake } from '../settings/storage.ts'
import { EXIT, exitCodeFor } from '../terminal/fail.ts'

/** What a sync of a lake did, in a sentence. */
export function lakeText({ folder, snapshot, changed, rows, bytes, files, written, caution }: LakeSummary): string {
  const contents = `${quantity(rows.observation, 'value')}, ${grouped(bytes)} bytes in ${quantity(files, 'file')}`
  const done = changed
    ? `${folder}: snapshot ${snapshot}, ${contents}; ${quantity(written.files, 'file')} with ${quantity(written.rows, 'row')} ${written.files === 1 ? 'is' : 'are'} new.`
    : `${folder}: nothing changed since snapshot ${snapshot}, ${contents}.`
  return caution === null ? done : `${done} ${caution}`
}

interface LakesOptions {
  readonly file: string
  readonly command: string
  readonly log: Logger
  readonly onActivity?: () => void
}

/** Brings the lakes of jobs up to date after their runs, each once. Answers the exit code of the first that failed; what was synced stays. */
export async function syncLakes(
  jobs: readonly Job[],
  { file, command, log, onActivity }: LakesOptions,
): Promise<number> {
  const emit = createEmitter(eventsTo(log), { command })
  const done = new Set<string>()
  let code: number = EXIT.done
  for (const { name: job, lake } of jobs) {
    if (lake === null || done.has(lake)) continue
    done.add(lake)
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
    } catch (error) {
      const why = asWriteError(error, lake)
      if (!(why instanceof SyncError)) throw why
      emit('lake.failed', { job, ...errorFields(why) })
      if (code === EXIT.done) code = exitCodeFor(why)
    } finally {
      await reader.close()
    }
  }
  return code
}
