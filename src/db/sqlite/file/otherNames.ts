import { existsSync, readFileSync, statSync } from 'node:fs'
import { BusyError, StoreError } from '../../../util/errors.ts'
import { removeStaleParts } from '../../../util/files/partFiles.ts'
import { retryWhileBusy } from '../busy.ts'
import { checkNotInUse } from '../connection.ts'
import { isBusy } from '../storeErrors.ts'

/*
 * The lock and the write-ahead log of a database are named after its path. A file that several paths lead to, other than by
 * symbolic links, would have a lock and a log for each: two writers that do not know of each other would destroy it.
 */

/** Milliseconds that we wait for a process that holds the file under another name, or reads it just now. */
const NAMES_MEETING_MS = 2_000

/** Whether a path is itself a place where something was mounted, as a single file in a container; unknown, and so false, but on Linux. */
function isMountPoint(path: string): boolean {
  try {
    const escaped = path.replace(/[\s\\]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`)
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .some((line) => line.split(' ')[4] === escaped)
  } catch {
    return false
  }
}

/** Refuses a file that other paths lead to as well. What a killed command left of its making is tidied first. */
export function refuseOtherNames(file: string, now: number): void {
  const names = (): number => statSync(file, { throwIfNoEntry: false })?.nlink ?? 0
  if (names() > 1) removeStaleParts(file, now)
  if (names() > 1)
    throw new StoreError(
      `The database ${file} has ${names()} names (hard links); its write-ahead log and lock would belong to only one of them.`,
      {
        hint: `Keep one of them: find the others with \`find DISK -samefile ${file}\`, or replace this one with a separate copy (\`indicator-sync publish\`, or \`cp\` while nothing writes). Symbolic links are safe. Nothing was changed.`,
        code: 'hard-links',
      },
    )
  if (isMountPoint(file))
    throw new StoreError(`The database ${file} is mounted as a single file, without its write-ahead log and lock.`, {
      hint: 'Mount its directory instead of the file. Nothing was changed.',
      code: 'mounted-file',
    })
}

/**
 * Makes sure, before a file is opened, that nobody has it open under another name. Where no log shows that somebody has it open
 * under this one, the system is asked for the file itself. So a file that was renamed under a writer does not get a second one.
 */
export async function requireOneName(file: string): Promise<void> {
  try {
    await retryWhileBusy(
      () => {
        if (existsSync(file) && !existsSync(`${file}-shm`)) checkNotInUse(file)
      },
      { busyTimeoutMs: NAMES_MEETING_MS },
    )
  } catch (error) {
    // Whoever opens the file reports what else is wrong with it.
    if (!isBusy(error)) return
    throw new BusyError(`Another process has the database ${file} open under another name.`, {
      hint: 'The file was renamed or mounted elsewhere. Wait for that process, or stop it.',
      code: 'other-name',
      cause: error,
    })
  }
}
