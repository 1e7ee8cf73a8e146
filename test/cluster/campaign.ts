import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src/db/open.ts'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { createDatabase, withClient } from '../postgres/create.ts'
import { KEY, type Machine, machine } from './machines.ts'

/** Where a worker dies: before or after a statement that it sends. */
const POINTS: Readonly<Record<string, readonly [when: 'before' | 'after', at: string]>> = {
  'before it takes a request': ['before', 'SKIP LOCKED'],
  'with a request in hand': ['after', 'SKIP LOCKED'],
  'while it waits for its turn': ['after', 'insert into "_call"'],
  'before the answer is loaded': ['before', 'insert into "_fetch"'],
  'after the answer was recorded': ['after', 'insert into "_fetch"'],
  'before the end of the request': ['before', 'completed_on = '],
  'between the end of the request and the commit': ['after', 'completed_on = '],
  'after the call was forgotten': ['after', 'delete from "_call"'],
  'when its run begins': ['after', 'insert into "_run"'],
}

/** How a campaign goes. */
export interface CampaignOptions {
  /** The address of a server, and how it is crashed; null where it is not ours to crash. */
  readonly server: {
    readonly url: string
    readonly restart: ((how: 'fast' | 'immediate', afterMs: number) => Promise<void>) | null
  }
  readonly kills: number
  readonly workers: number
  /** Days that are requested one by one. */
  readonly days: number
  /** How often the server is restarted, and all connections are cut. */
  readonly restarts: number
  readonly cuts: number
  readonly random: () => number
  readonly say: (text: string) => void
}

/** What a campaign found. */
export interface Found {
  readonly kills: number
  readonly requests: number
  /** Requests of what was in hand of a worker that died, or whose connection was cut. */
  readonly again: number
  /** Requests of what had been loaded already. */
  readonly twice: number
  /** The most calls that came in any second, and in any minute. */
  readonly mostASecond: number
  readonly mostAMinute: number
  /** Tables whose rows differ from those of an undisturbed run. */
  readonly different: readonly string[]
  /** The longest time from the death of a worker to the end of what it had in hand, in seconds. */
  readonly seconds: number
}

const LATENCY_MS = 50
const PACE = { perSecond: 20, callsPerMinute: 600 }

const SAME = {
  observation: `select s.indicator_id, o.geo_id, o.at, o.value, o.step_s from observation o join series s on s.id = o.series_id`,
  observation_revision: `select s.indicator_id, o.geo_id, o.at, o.value, o.step_s from observation_revision o join series s on s.id = o.series_id`,
  _coverage: `select s.indicator_id, c.geo_id, c.from_at, c.to_at, c.state from _coverage c join series s on s.id = c.series_id`,
  _absent: `select s.indicator_id, a.geo_id, a.from_at, a.to_at, a.step_s, a.missing from _absent a join series s on s.id = a.series_id`,
  _day: `select s.indicator_id, d.geo_id, d.month, d.day, d.count, d.min, d.max, d.missing from _day d join series s on s.id = d.series_id`,
  _resolution: `select s.indicator_id, r.from_at, r.step_s from _resolution r join series s on s.id = r.series_id`,
  _reply: 'select hash, bytes from _reply',
  indicator: 'select kind, id from indicator',
  fetches: `select target, outcome, count(*) from _fetch where outcome in ('ok', 'empty') group by 1, 2`,
}

const most = (times: readonly number[], ms: number): number => {
  const sorted = [...times].sort((a, b) => a - b)
  let [from, found] = [0, 0]
  for (const [to, time] of sorted.entries()) {
    while (sorted[from]! <= time - ms) from++
    found = Math.max(found, to - from + 1)
  }
  return found
}

/** Workers are killed, connections cut and the server restarted while a plan is carried out; what came of it is compared with an undisturbed run. */
export async function campaign(options: CampaignOptions): Promise<Found> {
  const { server, random, say } = options
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-cluster-'))
  const now = Math.floor(Date.parse('2025-11-04T12:00:00Z') / 1000)
  const arrivals: { at: number; target: string }[] = []
  // Noted when it is answered, and that is a moment after it came.
  const emulator = await startEmulator({
    ...{ key: KEY, now, latencyMs: LATENCY_MS },
    log: ({ url }) => arrivals.push({ at: Date.now() - LATENCY_MS, target: url }),
  })
  const job = join(folder, 'job.yaml')
  const from = new Date((now - options.days * 86_400) * 1000).toISOString().slice(0, 10)
  writeFileSync(
    job,
    `name: campaign
pace: { perSecond: ${PACE.perSecond}, concurrency: ${options.workers * 2}, callsPerMinute: ${PACE.callsPerMinute} }
catalogue: true
series:
  - { indicators: [600, 1739, 1293], geoIds: [3], window: { from: ${from}, to: 2025-11-04 }, chunk: 1d }
content: [{ kinds: [news], refresh: 1h }]
`,
  )
  const calm = await createDatabase(server.url)
  const rough = await createDatabase(server.url)
  const machines = new Set<Machine>()
  const start = (args: readonly string[], env: Record<string, string> = {}): Machine => {
    const one = machine(rough.url, emulator.url, args, env)
    machines.add(one)
    void one.ended.then(() => machines.delete(one))
    return one
  }
  try {
    for (const { url } of [calm, rough]) await (await openStore(url)).close()
    const undisturbed = machine(calm.url, emulator.url, ['sync', job, '--quiet'])
    if ((await undisturbed.ended) !== 0) throw new Error(`the undisturbed run failed: ${undisturbed.said()}`)
    say(`undisturbed: ${arrivals.length} requests`)
    arrivals.length = 0

    const preload = resolve('test/cluster/deaths.ts')
    const worker = (dies: boolean): Machine => {
      const points = Object.values(POINTS)
      const [when, at] = points[Math.floor(random() * points.length)]!
      const atPoint = dies && random() < 0.7
      const one = start(['worker', '--concurrency', '2'], {
        NODE_OPTIONS: `--import ${preload}`,
        CLOCK_MS: `${Math.round((random() - 0.5) * 120_000)}`,
        ...(atPoint ? { DIES_AT: at, DIES_WHEN: when, DIES_NTH: `${1 + Math.floor(random() * 4)}` } : {}),
      })
      if (dies && !atPoint) setTimeout(() => one.child.kill('SIGKILL'), 1_500 + random() * 4_000).unref()
      return one
    }
    let [kills, cuts, restarts] = [0, 0, 0]
    const deaths: number[] = []
    // Two plans at once; one that ends with its connection is begun again, as its user would.
    let planned = 2
    const carryOut = async (): Promise<void> => {
      for (let code: number | null = null; code !== 0; ) {
        const plan = start(['sync', job, '--distributed', '--quiet'])
        code = await plan.ended
        if (code !== 0) say(`a plan ended with ${code}: ${plan.said().slice(-300)}`)
      }
      planned--
    }
    const plans = [carryOut(), carryOut()]
    const workers = new Set<Machine>()
    const hire = (): void => {
      const dies = kills + workers.size < options.kills
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
      const due = Date.now() - began
      if (cuts < options.cuts && due > (cuts + 1) * 5_000) {
        cuts++
        await withClient(server.url, (client) =>
          client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
            new URL(rough.url).pathname.slice(1),
          ]),
        ).catch(() => undefined)
      }
      if (server.restart && restarts < options.restarts && due > 8_000 + restarts * 10_000)
        await server.restart(restarts++ % 2 === 0 ? 'immediate' : 'fast', restarts * 500)
    }
    const ended = Date.now()
    for (const one of workers) one.child.kill('SIGTERM')
    await Promise.all([...workers].map(({ ended }) => ended))
    await Promise.all(plans)

    const rows = (url: string, sql: string): Promise<string[]> =>
      withClient(url, async (client) =>
        (await client.query({ text: sql, rowMode: 'array' })).rows.map((row) => JSON.stringify(row)).sort(),
      )
    const different: string[] = []
    for (const [name, sql] of Object.entries(SAME)) {
      const [one, other] = [await rows(calm.url, sql), await rows(rough.url, sql)]
      if (one.join('\n') === other.join('\n')) continue
      different.push(name)
      say(
        `${name}: ${one.length} and ${other.length} rows; ${other.filter((row) => !one.includes(row)).slice(0, 3)} / ${one.filter((row) => !other.includes(row)).slice(0, 3)}`,
      )
    }
    const loaded = new Map(
      (
        await withClient(
          rough.url,
          async (client) =>
            (
              await client.query(
                `select target, min(finished_at) as at from _fetch where outcome in ('ok', 'empty') group by 1`,
              )
            ).rows,
        )
      ).map(({ target, at }) => [target as string, Date.parse(at)]),
    )
    const seen = new Map<string, number>()
    for (const { target } of arrivals) seen.set(target, (seen.get(target) ?? 0) + 1)
    return {
      kills,
      requests: arrivals.length,
      again: [...seen.values()].reduce((sum, count) => sum + count - 1, 0),
      twice: arrivals.filter(({ at, target }) => at > (loaded.get(target) ?? Number.POSITIVE_INFINITY)).length,
      mostASecond: most(
        arrivals.map(({ at }) => at),
        1000,
      ),
      mostAMinute: most(
        arrivals.map(({ at }) => at),
        60_000,
      ),
      different,
      seconds: deaths.length === 0 ? 0 : (ended - Math.min(ended, Math.max(...deaths))) / 1000,
    }
  } finally {
    for (const one of machines) one.child.kill('SIGKILL')
    await Promise.all([...machines].map(({ ended }) => ended))
    await emulator.close()
    await calm.drop().catch(() => undefined)
    await rough.drop().catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}
