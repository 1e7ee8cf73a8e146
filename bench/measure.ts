import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Bench } from './bench.ts'

/** Resource use of a process, and its output. */
export interface Measured {
  /** Wall clock, including the start of the process. */
  readonly seconds: number
  /** Largest resident set in MB (10^6 bytes); null if the system does not report it (only Linux does). */
  readonly peakMb: number | null
  /** Processor time of all threads in seconds, including the start (Linux only). */
  readonly cpuS: number | null
  readonly stdout: string
  /** The last line of stdout, usually JSON. */
  readonly last: string
}

const ending = new AbortController()
process.once('exit', () => ending.abort())
/** Ends child processes when this process ends. */
export const untilTheEnd: AbortSignal = ending.signal

/** Reads the memory of a process in MB (Linux only): its largest resident set, or the current one. */
export function memoryMb(pid: number, kind: 'VmHWM' | 'VmRSS'): number | null {
  try {
    const match = new RegExp(`${kind}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return match ? (Number(match[1]) * 1024) / 1e6 : null
  } catch {
    return null
  }
}

/** Clock ticks per second in which Linux counts processor time. */
const TICKS_PER_S = 100

/** Reads the processor time of a process, or with its ended children, in seconds (Linux only). */
export function processorSeconds(pid: number, withChildren = false): number | null {
  try {
    // The name of the process, which may contain blanks, is in brackets before the numbers.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields.slice(11, withChildren ? 15 : 13).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_S
  } catch {
    return null
  }
}

/** Runs a process to its end and measures it. Throws with its stderr if it fails. */
export async function measure(command: string, args: readonly string[], env: object = {}): Promise<Measured> {
  const began = performance.now()
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: untilTheEnd,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (piece) => {
    stdout += piece
  })
  child.stderr.on('data', (piece) => {
    stderr += piece
  })
  let peakMb: number | null = null
  let cpuS: number | null = null
  const timer = setInterval(() => {
    peakMb = memoryMb(child.pid!, 'VmHWM') ?? peakMb
    cpuS = processorSeconds(child.pid!) || cpuS
  }, 20)
  try {
    const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${stderr}`)
  } finally {
    clearInterval(timer)
  }
  const seconds = (performance.now() - began) / 1000
  return { seconds, peakMb, cpuS, stdout, last: stdout.trim().split('\n').at(-1) ?? '' }
}

/** Measures another program. Returns null and reports its last words if it fails, so that other results are kept. */
export const measurePeer = (
  name: string,
  { skip }: Pick<Bench, 'skip'>,
  ...process: Parameters<typeof measure>
): Promise<Measured | null> =>
  measure(...process).catch((error: Error) => {
    skip(`${name} failed: ${error.message.trim().split('\n').at(-1)}`)
    return null
  })

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median of a figure of some runs; null if it was not measured. */
export function medianOf<T>(runs: readonly T[], figure: (run: T) => number | null): number | null {
  const values = runs.map(figure).filter((value) => value !== null)
  return values.length === 0 ? null : median(values)
}

/** Returns whether a command works. */
export const isInstalled = (command: string, args: readonly string[]): Promise<boolean> =>
  measure(command, args).then(
    () => true,
    () => false,
  )
