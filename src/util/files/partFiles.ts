import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../checksum.ts'

/** The text of a system file; empty where this system has none. */
function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

const shortHash = (text: string): string => sha256(text).slice(0, 6)

let knownMachine: { readonly host: string; readonly start: string } | undefined
/** This machine, and this boot and process namespace of it: process numbers mean something only within them. */
const thisMachine = (): NonNullable<typeof knownMachine> =>
  (knownMachine ??= {
    host: shortHash(hostname()),
    start: shortHash(
      readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) +
        readOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
    ),
  })

/** Milliseconds. A part file of another machine or an earlier boot is stale when nothing was written to it for this long. */
const STALE_MS = 24 * 3_600_000

/** The name of a file while it is written, beside its final place: it names the process, so that what a killed one left is recognised. */
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

/** Removes the part files that dead processes left beside a file; `now` in epoch milliseconds. */
export function removeStaleParts(file: string, now: number): void {
  const folder = dirname(file)
  const start = `${basename(file)}.`
  for (const name of readdirSync(folder)) {
    const [, pid, host, begun] = name.startsWith(start)
      ? (/^([1-9]\d*)-([0-9a-f]{6})-([0-9a-f]{6})\.(?:part|copy)(?:-wal|-shm|-journal)?$/.exec(
          name.slice(start.length),
        ) ?? [])
      : []
    if (pid === undefined) continue
    const path = join(folder, name)
    const here = host === thisMachine().host && begun === thisMachine().start
    const rests = now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now)
    // A part file with our own process number was left by an earlier process.
    const gone = here ? Number(pid) === process.pid || !isRunning(Number(pid)) : rests > STALE_MS
    if (gone) rmSync(path, { recursive: true, force: true })
  }
}

/** The same by the clock of this machine. */
export const removeStalePartsNow = (file: string): void => removeStaleParts(file, Date.now())
