/* The program under test through its public entry points: jobs, sync, retry, replay, gaps and SQL. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KyselyPlugin } from 'kysely'
import { isAddress } from '../../src/db/address.ts'
import type { Emulator } from '../../src/emulator/startEmulator.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import type { Job } from '../../src/job/job.ts'
import { readJob } from '../../src/job/read.ts'
import { dismiss } from '../../src/load/quarantine/quarantine.ts'
import { REBUILT_TABLES } from '../../src/load/replies/rebuild.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import { planRetry } from '../../src/plan/planRetry.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import type { SyncContext } from '../../src/sync/context.ts'
import { createFixedPlan } from '../../src/sync/planRun.ts'
import { replay } from '../../src/sync/replay.ts'
import { executeRun } from '../../src/sync/run.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { NO_JOB_NOTES, sync } from '../../src/sync/sync.ts'
import { askAtOnce } from '../postgres/suites/atOnce.ts'
import { openReader, openStore, type Store } from '../support/testStore.ts'
import type { Orders } from './child.ts'

/** Thrown within a transaction instead of a kill. */
export class Killed extends Error {}

export interface Program {
  readonly store: () => Store
  /** Dies once at the given statement, counted from now. */
  killAt(statement: number | null): void
  /** Whether it died since `killAt`. */
  readonly died: () => boolean
  sync(yaml: string, now: number, command: string, options?: UserOptions): Promise<Summary>
  retry(now: number): Promise<Summary>
  /** Rebuilds the database from its stored replies, replaces it, and returns the differences. */
  replay(now: number): Promise<string[]>
  gaps(now: number): Promise<readonly object[]>
  /** Dismisses all quarantine entries. */
  dismiss(now: number): Promise<void>
  /** Runs a command in a separate process and kills it a number of milliseconds after it is ready. */
  kill(orders: Omit<Orders, 'file' | 'service'>, afterMs: number): Promise<void>
  /** Closes and reopens the database, as after a death. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Tables that a replay must restore row for row, without columns that vary. */
const REBUILT = [
  ...['observation', 'observation_revision', '_day', '_coverage', '_absent', '_resolution', 'series_geo'],
  ...['indicator', 'indicator_text', 'content_text', 'archive_edition', 'widget_text', 'geo_text'],
]

const jobs = new Map<string, Job>()
/** Parses a job, at a pace without waiting. */
function jobOf(yaml: string): Job {
  let job = jobs.get(yaml)
  if (!job) {
    const read = readJob(yaml, 'model.yaml')
    job = { ...read, pace: { ...read.pace, perSecond: 100_000 } }
    if (jobs.size > 100) jobs.clear()
    jobs.set(yaml, job)
  }
  return job
}

/** Opens a database; one on a server also supports synchronous queries. */
async function open(name: string): Promise<Store> {
  const store = await openStore(name)
  return isAddress(name) ? { ...store, ...askAtOnce(name) } : store
}

/** Opens the program on its own database. */
export async function openProgram(file: string, emulator: Pick<Emulator, 'url' | 'key'>): Promise<Program> {
  let store = await open(file)
  let left: number | null = null
  let dead = false
  const death: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (left !== null && --left <= 0) {
        left = null
        dead = true
        throw new Killed()
      }
      return result
    },
  }
  const createContext = (now: number): SyncContext => ({
    store: {
      ...store,
      write: (work) => store.write((tx) => work(tx.withPlugin(death))),
    },
    service: SERVICES.generic,
    baseUrl: emulator.url,
    key: emulator.key,
    nowMs: () => now * 1000,
    signal: new AbortController().signal,
    retryMs: 1,
    breaker: { failures: 1000, pauseMs: 1, openings: 3, giveUpMs: 60_000 },
  })
  const dump = (one: { all(sql: string): unknown[] }): Map<string, string[]> =>
    new Map(
      REBUILT.map((table) => [
        table,
        one
          .all(`select * from ${table}`)
          .map((row) => JSON.stringify(row))
          .sort(),
      ]),
    )
  return {
    store: () => store,
    killAt(statement) {
      left = statement
      dead = false
    },
    died: () => dead,
    sync: (yaml, now, command, options = {}) => sync(createContext(now), { job: jobOf(yaml), command, options }),
    async retry(now) {
      const context = createContext(now)
      const again = planRetry({ service: context.service, now }, await readRetryRequests(store))
      const run = await executeRun(context, { job: jobOf(RETRY), command: 'retry' }, createFixedPlan(again))
      return { ...run, ...NO_JOB_NOTES }
    },
    async replay(now) {
      const before = dump(store)
      const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-model-'))
      const source = openReader(file)
      const made = await openStore(join(folder, 'rebuilt.db'), { durability: 'none' })
      await replay(source, made, { nowMs: () => now * 1000 })
      const after = dump(made)
      await source.close()
      await store.replaceTables(made, REBUILT_TABLES)
      await made.close()
      rmSync(folder, { recursive: true, force: true })
      return REBUILT.flatMap((table) => {
        const was = before.get(table)!
        const is = after.get(table)!
        if (JSON.stringify(was) === JSON.stringify(is)) return []
        const lost = was.find((row) => !is.includes(row))
        const added = is.find((row) => !was.includes(row))
        return [`${table}: was ${lost}, is ${added}`]
      })
    },
    async kill(orders, afterMs) {
      await store.close()
      const { url, key } = emulator
      const all: Orders = { file, service: { url, key }, ...orders }
      const child = spawn(process.execPath, ['test/model/child.ts', JSON.stringify(all)])
      let err = ''
      child.stderr.on('data', (data) => {
        err += data
      })
      child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs))
      const [code] = await once(child, 'close')
      if (code !== null && code !== 0) throw new Error(err)
      store = await open(file)
    },
    gaps: (now) => findGaps(store, now),
    async dismiss(now) {
      const open = store.all('select id from _quarantine where resolved_at is null') as { id: number }[]
      const ids = open.map(({ id }) => id)
      await dismiss(store, ids, 'a misprint', now * 1000)
    },
    async restart() {
      await store.close()
      store = await open(file)
    },
    close: () => store.close(),
  }
}

const RETRY = 'name: again\ncatalogue: true\npace: { concurrency: 1 }\n'
