import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Bench } from './bench.ts'

/** What a process took, and what it said. */
export interface Measured {
  /** Wall clock, the start of the process included. */
  readonly seconds: number
  /** Largest resident set in MB (10^6 bytes), as the operating system tells it; null where it does not (Linux only). */
  readonly peakMb: number | null
  /** Seconds of the processor, all threads together and the start included, to some hundredths (Linux only). */
  readonly cpuS: number | null
  /** What it said on stdout. */
  readonly out: string
  /** The last line of that, which is JSON as a rule. */
  readonly last: string
}

const ending = new AbortController()
process.once('exit', () => ending.abort())
/** Ends the processes that are begun with it when this one ends. */
export const untilTheEnd: AbortSignal = ending.signal

/** What Linux tells of the memory of a process, in MB (10^6 bytes): the largest resident set as long as it lives, or the one of now. */
function memoryOf(pid: number, which: 'VmHWM' | 'VmRSS'): number | null {
  try {
    const found = new RegExp(`${which}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found ? (Number(found[1]) * 1024) / 1e6 : null
  } catch {
    return null
  }
}
/** The largest resident set of a process so far. */
export const peakOf = (pid: number): number | null => memoryOf(pid, 'VmHWM')
/** The resident set of a process. */
export const residentOf = (pid: number): number | null => memoryOf(pid, 'VmRSS')

/** Ticks of the clock in which Linux counts the time of processors, a second: the same on every architecture that Node runs on. */
const TICKS = 100

/** What a process has worked so far; its name, which may have blanks in it, stands in brackets before the numbers. */
function workOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  } catch {
    return null
  }
}

/** Runs a process to its end and measures it; throws with what it said on stderr when it fails. One that takes longer than `patience` seconds is ended, and has said nothing. */
export async function measure(
  command: string,
  args: readonly string[],
  env: object = {},
  patience = Number.POSITIVE_INFINITY,
): Promise<Measured> {
  const began = performance.now()
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: untilTheEnd,
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (piece) => {
    out += piece
  })
  child.stderr.on('data', (piece) => {
    err += piece
  })
  let peakMb: number | null = null
  let cpuS: number | null = null
  let late = false
  const timer = setInterval(() => {
    peakMb = peakOf(child.pid!) ?? peakMb
    cpuS = workOf(child.pid!) || cpuS
    late ||= performance.now() - began > patience * 1000
    if (late) child.kill('SIGKILL')
  }, 20)
  try {
    const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    if (code !== 0 && !late) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${err}`)
  } finally {
    clearInterval(timer)
  }
  return {
    seconds: (performance.now() - began) / 1000,
    peakMb,
    cpuS,
    out,
    last: late ? '' : (out.trim().split('\n').at(-1) ?? ''),
  }
}

/** Measures a program of others; null where it fails, which is told with its last words: what else is measured is not lost with it. */
export const measurePeer = (
  name: string,
  { skip }: Pick<Bench, 'skip'>,
  ...how: Parameters<typeof measure>
): Promise<Measured | null> =>
  measure(...how).catch((error: Error) => {
    skip(`${name} failed: ${error.message.trim().split('\n').at(-1)}`)
    return null
  })

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Whether a command is installed. */
export const isThere = (command: string, args: readonly string[]): Promise<boolean> =>
  measure(command, args).then(
    () => true,
    () => false,
  )
