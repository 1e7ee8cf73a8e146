import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../checksum.ts'
import { isRunning } from '../host.ts'
import { DAY_MS } from '../time/instant.ts'

/** Process ids are unique only on one machine or in one container, each with its own host name. */
const host = (): string => sha256(hostname()).slice(0, 6)

/** Milliseconds. A part file of another machine is stale if it did not change for this long. */
const STALE_MS = DAY_MS

/** The name of a file while it is written, beside its final place. It names the process, to recognise files of killed ones. */
export const partFileName = (file: string, ending: 'part' | 'copy' = 'part'): string =>
  `${file}.${process.pid}-${host()}.${ending}`

/** Removes the part files that killed processes left beside a file; `now` in epoch milliseconds. */
export function removeStaleParts(file: string, now = Date.now()): void {
  const start = `${basename(file)}.`
  for (const name of readdirSync(dirname(file))) {
    const part = /^([1-9]\d*)-([0-9a-f]{6})\.(?:part|copy)(?:-wal|-shm|-journal)?$/.exec(name.slice(start.length))
    if (!part || !name.startsWith(start)) continue
    const path = join(dirname(file), name)
    const pid = Number(part[1])
    const isOld = now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > STALE_MS
    // A part file with our own process id was left by an earlier process.
    if (part[2] === host() ? pid === process.pid || !isRunning(pid) : isOld)
      rmSync(path, { recursive: true, force: true })
  }
}
