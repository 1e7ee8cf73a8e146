import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { afterAll, onTestFinished } from 'vitest'
import type { Store } from '../../src/db/store.ts'
import { type EmulatorOptions, startEmulator } from '../../src/emulator/startEmulator.ts'
import { BREAKER, type BreakerOptions } from '../../src/fetch/breaker.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import type { Job, OnReject } from '../../src/job/job.ts'
import { readJob } from '../../src/job/read.ts'
import { narrowToIndicators } from '../../src/job/select.ts'
import { judgeAll } from '../../src/load/spans/recordSpans.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import type { RequestRegister } from '../../src/plan/requestRegister.ts'
import type { Service } from '../../src/service/service.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { RunSpec, SyncContext } from '../../src/sync/context.ts'
import { replay } from '../../src/sync/replay.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { sync } from '../../src/sync/sync.ts'
import type { OnEvent } from '../../src/util/events.ts'
import { openNew } from './preparedDatabase.ts'
import { openReader, type Store as TestStore } from './testStore.ts'

export { type Done, runCli, runCommand, runSource, whenSaid } from './command.ts'
export { ON_SERVER, onlyInFile } from './onServer.ts'

/** Deletes a folder; Windows refuses while a file in it is open. */
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Creates a folder that is deleted after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
  onTestFinished(() => remove(folder))
  return folder
}

/** Creates a folder for all tests of a file. */
export function fileFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
  afterAll(() => remove(folder))
  return folder
}

/** Creates a database on disk. */
export async function tempStore(): Promise<TestStore> {
  const store = await openNew(join(tempFolder(), 'test.db'))
  onTestFinished(() => store.close())
  return store
}

/** Replays the stored replies of a database into a new one. */
export async function replayed({ file }: Pick<TestStore, 'file'>, now: () => number = Date.now): Promise<TestStore> {
  const made = await openNew(join(tempFolder(), 'replayed.db'), { durability: 'none' })
  onTestFinished(() => made.close())
  const source = openReader(file)
  await replay(source, made, { nowMs: now })
  await source.close()
  return made
}

/** The time of the last run, by the clock of the test. */
export const lastRunTime = (store: TestStore): number =>
  Math.floor(
    Date.parse((store.get('select started_at from _run order by id desc limit 1') as string | null) ?? '2025-11-04') /
      1000,
  )

/** The gaps as of the last run: at a later time, data that was not requested since is missing, too. */
export const gapsAtLastRun = (store: TestStore) => findGaps(store, lastRunTime(store))

/** Judges all series, after a test has changed tables itself. */
export const judgeAgain = (store: TestStore): Promise<void> => judgeAll(store, Date.now())

/** Starts an embedded service that ends with the test. */
export async function emulate(options: EmulatorOptions = {}) {
  const emulator = await startEmulator(options)
  onTestFinished(() => emulator.close())
  return emulator
}

/** Responds to a request; `call` is its number, from 1. */
export type Script = (request: IncomingMessage, response: ServerResponse, call: number) => void

/** Starts an HTTP server for the test. */
export async function serve(
  script: Script,
): Promise<{ url: string; calls: IncomingMessage[]; connections: ReadonlySet<Socket> }> {
  const calls: IncomingMessage[] = []
  const connections = new Set<Socket>()
  const server = createServer((request, response) => {
    calls.push(request)
    script(request, response, calls.length)
  })
  server.on('connection', (socket) => connections.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, connections }
}

/** Compresses as fast as the embedded service: the highest quality takes three seconds for a year. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** Responds with JSON in brotli compression, like the service. */
export function json(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Encoding': 'br',
    ...headers,
  })
  response.end(brotliCompressSync(typeof body === 'string' ? body : JSON.stringify(body), QUICKLY))
}

interface RunWith {
  readonly now?: number
  /** Default: sync. */
  readonly command?: string
  readonly options?: UserOptions
  /** The ids of `--only`. */
  readonly only?: readonly number[]
  readonly signal?: AbortSignal
  /** Default: that of commands, with pauses of a thousandth. */
  readonly breaker?: BreakerOptions
  readonly onReject?: OnReject
  /** The requests of earlier jobs in the same call. */
  readonly requested?: RequestRegister
  readonly onEvent?: OnEvent
  readonly onProgress?: NonNullable<SyncContext['onProgress']>
  readonly service?: Service
  readonly limits?: NonNullable<SyncContext['limits']>
  /** The host and file of the job; default: none, like a caller of the library. */
  readonly jobSource?: NonNullable<RunSpec['source']>
}

/**
 * Calls per second of test jobs: no limit in practice, because waiting would take most of the time of a test. A test of the pace calls
 * `sync` with a job of `readJob`.
 */
const UNLIMITED = 1e6

/** Pauses of milliseconds while the service is down: the real ones take 35 s of each run. */
const QUICK_BREAKER: BreakerOptions = { ...BREAKER, pauseMs: BREAKER.pauseMs / 1000 }

/** Parses a job, and replaces its calls per second by no limit. Its other budgets stay. */
export function jobOf(yaml: string, service: Service): Job {
  const job = readJob(yaml, 'test.yaml', service)
  return { ...job, pace: { ...job.pace, perSecond: UNLIMITED } }
}

/** Runs a job in YAML like a command, but without waiting for its calls per second or for a service that is down. */
export function runJob(
  store: Store,
  server: { url: string; key?: string },
  yaml: string,
  {
    now = Date.now(),
    command = 'sync',
    options = {},
    only,
    signal = new AbortController().signal,
    service = SERVICES.generic,
    jobSource,
    requested,
    ...more
  }: RunWith = {},
): Promise<Summary> {
  const name = /^name:/m.test(yaml) ? '' : 'name: test\n'
  const job = jobOf(`${name}${yaml}`, service)
  return sync(
    {
      store,
      service,
      baseUrl: server.url,
      key: server.key ?? 'k'.repeat(64),
      nowMs: () => now,
      signal,
      retryMs: 5,
      breaker: QUICK_BREAKER,
      ...more,
    },
    {
      job: only ? narrowToIndicators([job], only)[0]! : job,
      command,
      source: jobSource,
      options,
      ...(requested && { requested }),
    },
  )
}

/** Parses a timestamp into milliseconds. */
export const ms = (text: string): number => Date.parse(text)

/** Returns the window of a request: its first and last second (epoch seconds). */
export function requestedWindow({ url }: IncomingMessage): { readonly from: number; readonly end: number } {
  const search = new URL(url!, 'http://x').searchParams
  return { from: ms(search.get('start_date')!) / 1000, end: ms(search.get('end_date')!) / 1000 }
}

/** Formats a value like the service. */
export const valueAt = (at: number, value: unknown = 1, geo_id = 3) => ({
  value,
  datetime: new Date(at * 1000).toISOString().replace('Z', '+00:00'),
  geo_id,
})
