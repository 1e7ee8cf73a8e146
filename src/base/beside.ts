import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** What a system file says; empty where this system has none. */
function said(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 6)
/** This machine, and this start of it with its own numbering of processes: a container has one of its own. */
const HOST = short(hostname())
const START = short(
  said(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) + said(() => readlinkSync('/proc/self/ns/pid')),
)

/** How long a file of another machine, or of an earlier start, must have rested before its process counts as gone. */
const REST_MS = 24 * 3_600_000

/** The name of a file that is made beside its place: it says whose it is, so that what a killed process left is known. */
export const besideOf = (file: string, ending: 'part' | 'copy' = 'part'): string =>
  `${file}.${process.pid}-${HOST}-${START}.${ending}`

/** Whether a process of this machine lives. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Removes what processes that are gone left beside a file; `now` in epoch milliseconds. */
export function tidyBeside(file: string, now: number): void {
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
    const here = host === HOST && begun === START
    const rests = now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now)
    // Our own number was that of another process before.
    const gone = here ? Number(pid) === process.pid || !lives(Number(pid)) : rests > REST_MS
    if (gone) rmSync(path, { recursive: true, force: true })
  }
}

/** The same by the clock of this machine. */
export const tidyNow = (file: string): void => tidyBeside(file, Date.now())
