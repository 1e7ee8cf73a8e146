import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The port that returns the address of the run's PostgreSQL server and starts it on first use. */
    postgresPort: number
  }
}

/** Provides one PostgreSQL server per test run, started on first use and stopped with the run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let keeper: ChildProcess | undefined
  let url: Promise<string> | undefined
  const start = async (): Promise<string> => {
    // In its own process group, so that a terminal signal leaves it time to clean up.
    keeper = spawn(process.execPath, [join(import.meta.dirname, 'keeper.ts')], { detached: true })
    let wrong = ''
    keeper.stderr!.on('data', (text) => {
      wrong += text
    })
    const first = await Promise.race([once(keeper.stdout!, 'data'), once(keeper, 'close').then(() => null)])
    if (first === null) throw new Error(`no server for tests: ${wrong}`)
    return String(first[0]).trim()
  }
  const door = createServer((asking) => {
    asking.on('error', () => undefined)
    url ??= process.env.INDICATOR_SYNC_TEST_POSTGRES
      ? Promise.resolve(process.env.INDICATOR_SYNC_TEST_POSTGRES)
      : start()
    url.then(
      (text) => asking.end(text),
      (error: Error) => asking.end(`error: ${error.message}`),
    )
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  project.provide('postgresPort', (door.address() as AddressInfo).port)
  return async () => {
    door.close()
    await url?.catch(() => undefined)
    if (!keeper || keeper.exitCode !== null) return
    const closed = once(keeper, 'close')
    keeper.stdin!.end()
    await closed
  }
}
