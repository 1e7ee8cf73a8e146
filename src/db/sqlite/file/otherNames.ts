import { existsSync, readFileSync, statSync } from 'node:fs'
import { BusyError, StoreError } from '../../../util/errors.ts'
import { removeStaleParts } from '../../../util/files/partFiles.ts'
import { retryWhileBusy } from '../busy.ts'
import { checkNotInUse } from '../connection.ts'
import { isBusy } from '../storeErrors.ts'

/*
 * The lock and the write-ahead log of a database are named after its path. A file with several paths, other than by symbolic
 * links, would have a lock and a log for each, and two writers would destroy it.
 */

/** Milliseconds to wait for a process that has the file open. */
const OPEN_FILE_WAIT_MS = 2_000

/** Whether a path is a mount point, such as a single file in a container. False on systems other than Linux. */
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

/** Refuses a file with other paths, after removing leftovers of killed commands. */
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
      hint: 'Mount its folder instead of the file. Nothing was changed.',
      code: 'mounted-file',
    })
}

/**
 * Refuses a file that a process has open under another name, such as one that was renamed under its writer. If it has no log
 * under this name, nobody should have it open.
 */
export async function requireOneName(file: string): Promise<void> {
  try {
    await retryWhileBusy(
      () => {
        if (existsSync(file) && !existsSync(`${file}-shm`)) checkNotInUse(file)
      },
      { busyTimeoutMs: OPEN_FILE_WAIT_MS },
    )
  } catch (error) {
    // Opening the file reports other problems.
    if (!isBusy(error)) return
    throw new BusyError(`Another process has the database ${file} open under another name.`, {
      hint: 'The file was renamed or mounted elsewhere. Wait for that process, or stop it.',
      code: 'other-name',
      cause: error,
    })
  }
}
