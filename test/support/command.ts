import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { PROGRAM_ENV, programBin, programModule, SOURCE_BIN } from './builtProgram.ts'
import { END, type HostedCommand } from './commandHost.ts'
import { commandOnServer } from './onServer.ts'

/** The inherited environment of a command, with the coverage folder if coverage is measured. */
const OURS = {
  PATH: process.env.PATH ?? '',
  TZ: process.env.TZ ?? '',
  ...(process.env.NODE_V8_COVERAGE && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
}

/** The result of a command. */
export interface Done {
  readonly code: number | null
  /** The signal that ended it, if any. */
  readonly signal?: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** Runs an action once when the output of a process matches. */
export function whenSaid(child: ChildProcess, what: string | RegExp, then: () => unknown): void {
  let output = ''
  const outputs = [child.stdout!, child.stderr!]
  const listen = (data: Buffer): void => {
    output += data
    if (output.search(what) < 0) return
    for (const stream of outputs) stream.off('data', listen)
    then()
  }
  for (const stream of outputs) stream.on('data', listen)
}

/** Runs the command like a user: in its own process and folder, without the environment of the tests. */
export const runCli = (
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
  during?: (child: ChildProcess) => void,
): Promise<Done> => runBin(programBin(), cwd, args, { ...PROGRAM_ENV, ...env }, during)

/** Like `runCli` from source, for tests of loaded modules. */
export const runSource = (cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Done> =>
  runBin(SOURCE_BIN, cwd, args, env)

async function runBin(
  bin: string,
  cwd: string,
  args: readonly string[],
  env: Record<string, string>,
  during?: (child: ChildProcess) => void,
): Promise<Done> {
  const [words, variables] = await commandOnServer(cwd, args, env)
  const child = spawn(process.execPath, [bin, ...words], {
    cwd,
    env: { ...OURS, HOME: cwd, ...variables },
  })
  child.stdin.end()
  const texts = outputs(child)
  during?.(child)
  // `once` throws the error of a process that cannot start.
  const [code, signal] = await once(child, 'close')
  return { code, signal, ...texts }
}

/** Collects the output of a process so far. */
export function outputs(child: ChildProcess): { out: string; err: string } {
  const texts = { out: '', err: '' }
  child.stdout!.on('data', (data) => {
    texts.out += data
  })
  child.stderr!.on('data', (data) => {
    texts.err += data
  })
  return texts
}

/** Processes that run commands for the tests of a worker, and the idle ones. */
const hosts = new Set<ChildProcess>()
const idle: ChildProcess[] = []

/** Ends the processes that `runCommand` started; otherwise they end when this process does. */
export async function endHosts(): Promise<void> {
  idle.length = 0
  await Promise.all(
    [...hosts].map((host) => {
      host.disconnect()
      return once(host, 'exit')
    }),
  )
}

/** Returns an idle process or starts a new one. */
function takeHost(): ChildProcess {
  const waiting = idle.pop()
  if (waiting) return waiting
  const host = fork(resolve('test/support/commandHost.ts'), [programModule('main')], {
    env: { ...process.env, ...PROGRAM_ENV },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  host.stdout!.setEncoding('utf8')
  host.stderr!.setEncoding('utf8')
  hosts.add(host)
  host.once('exit', () => hosts.delete(host))
  return host
}

/** Reads the output up to the end mark of a command, or to its end. */
function textOf(output: Readable): Promise<string> {
  return new Promise((done) => {
    let text = ''
    const end = (): void => {
      output.off('data', listen)
      output.off('end', end)
      done(text)
    }
    const listen = (data: string): void => {
      text += data
      if (!text.endsWith(END)) return
      text = text.slice(0, -END.length)
      end()
    }
    output.on('data', listen)
    output.on('end', end)
  })
}

/**
 * Runs the command like `runCli`, but in a reused process, which is faster than a start. Tests of signals, pipes,
 * memory or process ends need `runCli`. REAL_PROCESSES=1 gives each command its own process.
 */
export async function runCommand(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Done> {
  if (process.env.REAL_PROCESSES) return runCli(cwd, args, env)
  const [words, variables] = await commandOnServer(cwd, args, env)
  const host = takeHost()
  const texts = Promise.all([textOf(host.stdout!), textOf(host.stderr!)])
  const ended = new Promise<number | null>((done) => {
    const end = (code: number | null): void => {
      host.off('message', end)
      host.off('exit', end)
      done(code)
    }
    host.once('message', end)
    host.once('exit', end)
  })
  host.send({ cwd, args: words, env: { ...OURS, HOME: cwd, ...variables } } satisfies HostedCommand)
  const code = await ended
  const [out, err] = await texts
  if (host.connected) idle.push(host)
  return { code, out, err }
}
