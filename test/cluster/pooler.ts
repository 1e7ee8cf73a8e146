import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountOf, freePort } from '../postgres/server.ts'

const PROGRAM = process.env.INDICATOR_SYNC_TEST_POOLER ?? 'pgbouncer'

/** Whether pgbouncer is installed, on the path or at INDICATOR_SYNC_TEST_POOLER. */
export const hasPooler = (): boolean => spawnSync(PROGRAM, ['--version']).status === 0

/** A pgbouncer with transaction pooling. */
export interface Pooler {
  /** Returns the address of a database through the pooler. */
  through(url: string): string
  close(): Promise<void>
}

/** Starts a pgbouncer in front of a server. */
export async function startPooler(server: string): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-pooler-'))
  const account = accountOf()
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, 'pooler.ini')
  writeFileSync(join(folder, 'users.txt'), '"postgres" ""\n')
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${new URL(server).port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = transaction
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
max_client_conn = 200
default_pool_size = 12
server_login_retry = 1
`,
  )
  const child = spawn(PROGRAM, [file], { ...account, stdio: ['ignore', 'ignore', 'pipe'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text) => {
      output = `${output}${text}`.slice(-5_000)
      if (output.includes('process up')) resolve()
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`pgbouncer ended:\n${output}`)))
  })
  return {
    through(url) {
      const pooled = new URL(url)
      pooled.port = `${port}`
      pooled.searchParams.set('pooling', 'transaction')
      return pooled.href
    },
    async close() {
      child.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
