import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { END, type HostedCommand } from './commandHost.ts'
import { commandOnServer } from './onServer.ts'
import { PROGRAM_ENV, programBin, programModule, SOURCE_BIN } from './program.ts'

/** All that a command gets of our environment; where coverage is measured, the folder that its own goes to. */
const OURS = {
  PATH: process.env.PATH ?? '',
  TZ: process.env.TZ ?? '',
  ...(process.env.NODE_V8_COVERAGE && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
}

/** What a command did. */
export interface Done {
  readonly code: number | null
  /** What ended it, where a signal did. */
  readonly signal?: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** Does something once, as soon as a process has said something on stderr. */
export function whenSaid(child: ChildProcess, what: string | RegExp, then: () => unknown): void {
  let output = ''
  const listen = (data: Buffer): void => {
    output += data
    if (output.search(what) < 0) return
    child.stderr!.off('data', listen)
    then()
  }
  child.stderr!.on('data', listen)
}

/** Runs the command as a user would: a process of its own, in a folder of its own, without our environment. */
export const runCli = (
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
  during?: (child: ChildProcess) => void,
): Promise<Done> => runBin(programBin(), cwd, args, { ...PROGRAM_ENV, ...env }, during)

/** The same from source, for tests of what it loads. */
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
  // A process that cannot be started closes with an error: `once` throws it.
  const [code, signal] = await once(child, 'close')
  return { code, signal, ...texts }
}

/** What a process writes, as far as it has come. */
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

/** Processes of this file's tests that run commands, and those of them that wait for one. */
const hosts = new Set<ChildProcess>()
const idle: ChildProcess[] = []

/** Ends the processes that `runCommand` started. */
export async function endHosts(): Promise<void> {
  idle.length = 0
  await Promise.all(
    [...hosts].map((host) => {
      host.disconnect()
      return once(host, 'exit')
    }),
  )
}

/** A process that waits for a command: one that has run others, or a new one. */
function takeHost(): ChildProcess {
  const waiting = idle.pop()
  if (waiting) return waiting
  const host = fork(resolve('test/commandHost.ts'), [programModule('main')], {
    env: { ...process.env, ...PROGRAM_ENV },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  host.stdout!.setEncoding('utf8')
  host.stderr!.setEncoding('utf8')
  hosts.add(host)
  host.once('exit', () => hosts.delete(host))
  return host
}

/** What a process writes up to the mark that ends a command, or to its end. */
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
 * Runs the command as `runCli` does, but one after another in a process that stays: to start one costs more than most commands.
 * For tests of what a command says and writes; those of signals, pipes, memory and the end of a process need `runCli`.
 * With REAL_PROCESSES=1 each has a process of its own here, too.
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
