import { type ChildProcess, spawn } from 'node:child_process'
import { PROGRAM_ENV, programBin } from '../support/builtProgram.ts'

export const KEY = 'k'.repeat(64)

/** Live processes, which end with the process that started them. */
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** A process of the command and its output. */
export interface Machine {
  readonly child: ChildProcess
  readonly said: () => string
  readonly ended: Promise<number | null>
}

/** Starts the command like one of several hosts that share a database. */
export function machine(
  database: string,
  service: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Machine {
  const child = spawn(process.execPath, [programBin(), ...args, '--database', database, '--base-url', service], {
    env: { PATH: process.env.PATH ?? '', INDICATOR_SYNC_API_KEY: KEY, NO_COLOR: '1', ...PROGRAM_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  living.add(child)
  child.once('close', () => living.delete(child))
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (text) => {
      output = `${output}${text}`.slice(-20_000)
    })
  return { child, said: () => output, ended: new Promise((done) => child.once('close', (code) => done(code))) }
}
