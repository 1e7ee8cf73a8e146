import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../checksum.ts'

/** The text of a system file; empty on systems without it. */
function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

const shortHash = (text: string): string => sha256(text).slice(0, 6)

let machine: { readonly host: string; readonly start: string } | undefined
/** This machine, and its boot and process namespace: process ids are unique only within them. */
const thisMachine = (): NonNullable<typeof machine> =>
  (machine ??= {
    host: shortHash(hostname()),
    start: shortHash(
      readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) +
        readOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
    ),
  })

/** Milliseconds. A part file of another machine or boot is stale if it did not change for this long. */
const STALE_MS = 24 * 3_600_000

/** The name of a file while it is written, beside its final place. It names the process, to recognise files of killed ones. */
export const partFileName = (file: string, ending: 'part' | 'copy' = 'part'): string =>
  `${file}.${process.pid}-${thisMachine().host}-${thisMachine().start}.${ending}`

/** Whether a process of this machine is running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Removes the part files that killed processes left beside a file; `now` in epoch milliseconds. */
export function removeStaleParts(file: string, now = Date.now()): void {
  const folder = dirname(file)
  const start = `${basename(file)}.`
  for (const name of readdirSync(folder)) {
    const [, pid, host, boot] = name.startsWith(start)
      ? (/^([1-9]\d*)-([0-9a-f]{6})-([0-9a-f]{6})\.(?:part|copy)(?:-wal|-shm|-journal)?$/.exec(
          name.slice(start.length),
        ) ?? [])
      : []
    if (pid === undefined) continue
    const path = join(folder, name)
    const isHere = host === thisMachine().host && boot === thisMachine().start
    const age = now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now)
    // A part file with our own process id was left by an earlier process.
    const isStale = isHere ? Number(pid) === process.pid || !isRunning(Number(pid)) : age > STALE_MS
    if (isStale) rmSync(path, { recursive: true, force: true })
  }
}
