import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src/db/open.ts'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { createDatabase, withClient } from '../postgres/create.ts'
import { type Arrival, type Findings, findOut, SHARED } from './findings.ts'
import { KEY, type Machine, machine } from './machines.ts'
import type { Pooler } from './pooler.ts'
import type { SmallDisk } from './smallDisk.ts'

/** Points at which a worker dies: before or after a statement. */
const POINTS: Readonly<Record<string, readonly [when: 'before' | 'after', at: string]>> = {
  'before it takes a request': ['before', 'SKIP LOCKED'],
  'when it has a request': ['after', 'SKIP LOCKED'],
  'while it waits for its slot': ['after', '_host[^;]*for update'],
  'before the answer is loaded': ['before', 'insert into "_fetch"'],
  'after the answer was recorded': ['after', 'insert into "_fetch"'],
  'before the end of the request': ['before', 'completed_on = '],
  'between the end of the request and the commit': ['after', 'completed_on = '],
  'with a heartbeat': ['before', 'heartbeat_on = [^,]*$'],
}

/** Options of a campaign. */
export interface CampaignOptions {
  /** The address of the server and a way to crash it; null if it must not be crashed. */
  readonly server: {
    readonly url: string
    readonly restart: ((how: 'fast' | 'immediate', afterMs: number) => Promise<void>) | null
  }
  /** The pooler in front of the server, if any. */
  readonly pooler?: Pooler | null
  /** The disk of the database, and how often it is full for a few seconds. */
  readonly disk?: SmallDisk | null
  readonly fills?: number
  readonly kills: number
  readonly workers: number
  /** Number of days, each of which is one request. */
  readonly days: number
  /** How often the server restarts and all connections are cut. */
  readonly restarts: number
  readonly cuts: number
  readonly random: () => number
  /** Whether no more workers are killed. */
  readonly isOver?: () => boolean
  readonly say: (text: string) => void
}

/** The results of a campaign. */
export interface Found extends Findings {
  readonly kills: number
  /** Seconds from the last death of a worker to the end. */
  readonly seconds: number
}

const LATENCY_MS = 50
const PACE = { perSecond: 20, callsPerMinute: 600 }

/** A plan without requests for this time is stuck. */
const STUCK_MS = 180_000

/** Returns the requests, slots and connections of a database for debugging. */
const stateOf = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    const texts = [
      'select id, state, group_id, singleton_key, retry_count, start_after, heartbeat_on from pgboss.job where completed_on is null',
      'select *, extract(epoch from clock_timestamp()) * 1000 as now from _host',
      'select pid, state, wait_event_type, wait_event, query from pg_stat_activity where datname = current_database()',
    ]
    const rows: unknown[] = []
    for (const text of texts) rows.push((await client.query(text)).rows)
    return JSON.stringify(rows, null, 1)
  })

/**
 * Kills workers, cuts connections and restarts the server during a plan, and compares the result with an undisturbed
 * run.
 */
export async function campaign(options: CampaignOptions): Promise<Found> {
  const { server, random, say } = options
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-cluster-'))
  const now = Math.floor(Date.parse('2025-11-04T12:00:00Z') / 1000)
  const arrivals: Arrival[] = []
  const emulator = await startEmulator({
    key: KEY,
    now,
    latencyMs: LATENCY_MS,
    log: ({ url, ms }) => arrivals.push({ at: Date.now() - ms, target: url }),
  })
  const day = (ago: number): string => new Date((now - ago * 86_400) * 1000).toISOString().slice(0, 10)
  const job = (name: string, pace: object, text: string): string => {
    const file = join(folder, `${name}${Object.keys(pace).length}.yaml`)
    writeFileSync(file, `name: ${name}\npace: ${JSON.stringify(pace)}\n${text}`)
    return file
  }
  const pace = { ...PACE, concurrency: options.workers * 2 }
  const jobs = (pace: object) => [
    job(
      'campaign',
      pace,
      `catalogue: true
series:
  - { indicators: [600, 1739, ${SHARED}], geoIds: [3], window: { from: ${day(options.days)}, to: 2025-11-04 }, chunk: 1d }
content: [{ kinds: [news], refresh: 1h }]
`,
    ),
    job(
      'beside',
      pace,
      `series:\n  - { indicators: [${SHARED}], geoIds: [3], window: { from: ${day(options.days - 1)}, to: 2025-11-04 }, chunk: 3d }\n`,
    ),
  ]
  const undisturbed = await createDatabase(server.url)
  const disturbed = await createDatabase(server.url)
  const machines = new Set<Machine>()
  const start = (args: readonly string[], env: Record<string, string> = {}): Machine => {
    const one = machine(options.pooler?.through(disturbed.url) ?? disturbed.url, emulator.url, args, env)
    machines.add(one)
    void one.ended.then(() => machines.delete(one))
    return one
  }
  try {
    const name = new URL(disturbed.url).pathname.slice(1)
    await withClient(server.url, async (client) => {
      if (options.disk) await client.query(`alter database ${name} set tablespace ${options.disk.tablespace}`)
      await client.query(`alter database ${name} set search_path = public, compat`)
      await client.query(`alter database ${name} set timezone = 'UTC'`)
    })
    for (const { url } of [undisturbed, disturbed]) await (await openStore(url)).close()
    for (const file of jobs({ perSecond: 50 })) {
      const run = machine(undisturbed.url, emulator.url, ['sync', file, '--quiet'])
      if ((await run.ended) !== 0) throw new Error(`the undisturbed run failed: ${run.said()}`)
    }
    say(`undisturbed: ${arrivals.length} requests`)
    arrivals.length = 0

    const preload = resolve('test/cluster/deaths.ts')
    const worker = (dies: boolean): Machine => {
      const points = Object.values(POINTS)
      const [when, at] = points[Math.floor(random() * points.length)]!
      const atPoint = dies && random() < 0.7
      const one = start(['worker', '--concurrency', '2'], {
        NODE_OPTIONS: `--import ${preload}`,
        ...(atPoint ? { DIES_AT: at, DIES_WHEN: when, DIES_NTH: `${1 + Math.floor(random() * 4)}` } : {}),
      })
      if (dies && !atPoint) setTimeout(() => one.child.kill('SIGKILL'), 1_500 + random() * 4_000).unref()
      return one
    }
    let kills = 0
    let cuts = 0
    let restarts = 0
    let fills = 0
    const deaths: number[] = []
    // The second job shares windows of one series with the first. A plan that loses its connection or finds another
    // plan is restarted, as a user would do.
    let planned = 2
    const syncPlan = async (file: string): Promise<void> => {
      for (let code: number | null = null; code !== 0; ) {
        const plan = start(['sync', file, '--distributed', '--quiet'])
        code = await plan.ended
        if (code !== 0 && code !== 5) say(`a plan ended with ${code}: ${plan.said().slice(-300)}`)
        if (code !== 0) await sleep(1_000)
      }
      planned--
    }
    const plans = jobs(pace).map(syncPlan)
    const workers = new Set<Machine>()
    const hire = (): void => {
      const dies = kills + workers.size < options.kills && !options.isOver?.()
      const one = worker(dies)
      workers.add(one)
      void one.ended.then(() => {
        workers.delete(one)
        if (one.child.signalCode !== 'SIGKILL') return
        kills++
        deaths.push(Date.now())
      })
    }
    const began = Date.now()
    while (planned > 0) {
      while (workers.size < options.workers) hire()
      await sleep(250)
      if (Date.now() - Math.max(began, arrivals.at(-1)?.at ?? 0) > STUCK_MS)
        throw new Error(`nothing is requested any more, and a plan waits: ${await stateOf(disturbed.url)}`)
      const due = Date.now() - began
      if (cuts < options.cuts && due > (cuts + 1) * 5_000) {
        cuts++
        await withClient(server.url, (client) =>
          client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]),
        ).catch(() => undefined)
      }
      if (options.disk && fills < (options.fills ?? 0) && due > (fills + 1) * 20_000) {
        fills++
        options.disk.fill()
        say('the disk is full')
        setTimeout(options.disk.free, 4_000)
      }
      if (server.restart && restarts < options.restarts && due > 8_000 + restarts * 15_000)
        await server.restart(restarts++ % 2 === 0 ? 'immediate' : 'fast', restarts * 500)
    }
    const ended = Date.now()
    for (const one of workers) one.child.kill('SIGTERM')
    await Promise.all([...workers].map(({ ended }) => ended))
    await Promise.all(plans)

    return {
      kills,
      ...(await findOut({ undisturbed: undisturbed.url, disturbed: disturbed.url, arrivals, say })),
      seconds: deaths.length === 0 ? 0 : (ended - Math.min(ended, Math.max(...deaths))) / 1000,
    }
  } finally {
    for (const one of machines) one.child.kill('SIGKILL')
    await Promise.all([...machines].map(({ ended }) => ended))
    await emulator.close()
    await undisturbed.drop().catch(() => undefined)
    await disturbed.drop().catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}
