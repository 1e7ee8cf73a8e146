/* Runs one sequence: creates the world, takes the steps, and compares everything after each. */

import type { Fault } from '../../src/emulator/faults.ts'
import { type Emulator, startEmulator } from '../../src/emulator/startEmulator.ts'
import type { Action, Script } from '../../src/emulator/world/script.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { SERVICE_ZONE } from './calendar.ts'
import { checkChanges, readChanges } from './changes.ts'
import { compare } from './compare.ts'
import { type Databases, onDisk } from './databases.ts'
import { type Oracle, truthOf } from './oracle.ts'
import { type Killed, openProgram, type Program } from './program.ts'
import { readRecords } from './records.ts'
import { checkLoaded, checkRequests, findRequiredRanges, type Plan, wasRequestedAt } from './requiredRanges.ts'
import { KILLS, SCOPE } from './scope.ts'
import { canonicalText } from './service.ts'
import {
  actionOf,
  BEGINNING,
  dayAt,
  FAULTS,
  type Kind,
  type Sequence,
  type Step,
  scriptsOf,
  type World,
  yamlOf,
} from './world.ts'

/** Counts of comparisons. */
export interface Tally {
  comparisons: number
  steps: number
  requests: number
}

/** The state of a running sequence. */
export interface Scene {
  readonly world: World
  readonly program: Program
  readonly emulator: Emulator
  readonly oracle: Oracle
  readonly tally: Tally
  readonly yaml: readonly [string, string]
  now: number
  /** When the next command dies: at a statement, or after a number of milliseconds. */
  kill: number | null
  /** The limit of days times geos, above which the service returns 504. */
  limit: number
  scripts: readonly Script[]
  /** Number of processed log entries and fetches. */
  seen: number
  fetches: number
  command: number
  /** Longest lookback in days with which each series was requested. */
  readonly lookbacks: Map<string, number>
  /** Shortest lookback: data settled for it may be merged with older data. */
  readonly shortest: Map<string, number>
  /** When a run of each job last requested absent data. */
  readonly absentAt: Map<0 | 1, number>
  /** When a reply last changed the cadence of a series. */
  readonly learnedAt: Map<string, number>
  /** The jobs of which a run ended, so that what they require is stored. */
  readonly ran: Set<0 | 1>
  /** Instants after commands, for queries as of the past. */
  readonly past: number[]
  /** Known days of resolution changes by series. */
  readonly changes: Map<string, Set<number>>
  /** When each request without a window last succeeded. */
  readonly singles: Map<string, number>
  /** Start of the sequence in the service's log. */
  readonly first: number
}

/** A difference between model and program. */
export class Difference extends Error {}

/** Reports a difference and ends the sequence. */
export function differ(what: string, expected: unknown, actual: unknown): never {
  throw new Difference(`${what}\n  expected ${JSON.stringify(expected)}\n  actual   ${JSON.stringify(actual)}`)
}

/** Shared by the sequences of a process: an embedded service and a place for databases. */
let shared: Promise<{ readonly emulator: Emulator; readonly databases: Databases }> | undefined

/** Prepares shared resources; databases are files by default. */
export function beginModel(where: () => Promise<Databases> = onDisk): NonNullable<typeof shared> {
  shared ??= (async () => ({
    databases: await where(),
    emulator: await startEmulator({ keepBodies: true, now: BEGINNING }),
  }))()
  return shared
}

/** Closes shared resources. */
export async function endModel(): Promise<void> {
  if (!shared) return
  const { emulator, databases } = await shared
  await emulator.close()
  await databases.close()
  shared = undefined
}

/** Runs one sequence; throws a Difference if the program deviates from the model. */
export async function runSequence({ world: given, steps }: Sequence, tally: Tally): Promise<void> {
  const inMadrid = (spec: World['jobs'][0]) => (SCOPE.has('zones') ? spec : { ...spec, zone: SERVICE_ZONE })
  const world = { ...given, jobs: [inMadrid(given.jobs[0]), inMadrid(given.jobs[1])] as const }
  const { emulator: one, databases } = await beginModel()
  const database = await databases.make()
  one.setNow(BEGINNING)
  one.setFaults([])
  one.setGeoDays(world.limit ?? Number.POSITIVE_INFINITY)
  const scripts = scriptsOf(world, new Map())
  one.setScripts(scripts)
  const program = await openProgram(database.name, one)
  const scene: Scene = {
    world,
    program,
    emulator: one,
    tally,
    scripts,
    oracle: new Map(),
    now: BEGINNING,
    kill: null,
    limit: world.limit ?? Number.POSITIVE_INFINITY,
    yaml: [yamlOf(world.jobs[0], 'first'), yamlOf(world.jobs[1], 'second')],
    seen: one.requests.length,
    fetches: 0,
    learnedAt: new Map(),
    command: 0,
    lookbacks: new Map(),
    shortest: new Map(),
    absentAt: new Map(),
    ran: new Set(),
    changes: new Map(),
    past: [],
    singles: new Map(),
    first: one.requests.length,
  }
  const actions = new Map<Kind, Action[]>()
  try {
    for (const step of steps) {
      tally.steps++
      await take(scene, step, actions)
    }
  } finally {
    await program.close().catch(() => undefined)
    await database.remove()
  }
}

/** Faults for the next command. */
const pending = new WeakMap<Scene, { faults: Fault[]; kill: number | null }>()

async function take(scene: Scene, step: Step, actions: Map<Kind, Action[]>): Promise<void> {
  const { emulator, program } = scene
  const next = pending.get(scene) ?? { faults: [], kill: null }
  switch (step.do) {
    case 'wait':
      scene.now += step.seconds
      emulator.setNow(scene.now)
      return
    case 'fail':
      // A reply about one instant has no window, so that other times do not matter.
      if (
        step.fault === 'values outside' &&
        scene.world.jobs.some(({ entries }) => entries.some(({ mode }) => mode === 'instant'))
      )
        return
      // Every call or every n-th call, counting retries, so that some faults persist and some do not.
      pending.set(scene, {
        ...next,
        faults: [...next.faults, { ...FAULTS[step.fault], ...(step.every > 1 ? { every: step.every } : {}) } as Fault],
      })
      return
    case 'kill':
      pending.set(scene, { ...next, kill: step.at })
      return
    case 'limit':
      scene.limit = step.geoDays ?? Number.POSITIVE_INFINITY
      emulator.setGeoDays(scene.limit)
      return
    case 'replay': {
      const wrong = await program.replay(scene.now)
      if (wrong.length > 0) differ('replay makes another database', [], wrong)
      await compare(scene)
      return
    }
    case 'dismiss': {
      await program.dismiss(scene.now)
      readDismissed(scene)
      await compare(scene)
      return
    }
    case 'sync':
    case 'backfill':
    case 'restate':
    case 'retry':
    case 'both':
      break
    default: {
      const done = actionOf(step, scene.now)
      if (!done) return
      actions.set(done.kind, [...(actions.get(done.kind) ?? []), done.action])
      scene.scripts = scriptsOf(scene.world, actions)
      emulator.setScripts(scene.scripts)
      return
    }
  }
  pending.delete(scene)
  emulator.setFaults(next.faults)
  scene.kill = next.kill
  if (!KILLS.real) program.killAt(next.kill)
  const plans: Plan[] =
    step.do === 'both'
      ? [
          { do: 'sync', job: 0 },
          { do: 'sync', job: 1 },
        ]
      : step.do === 'retry'
        ? [{ do: 'retry' }]
        : step.do === 'sync'
          ? [{ do: 'sync', job: step.job }]
          : [
              {
                do: step.do,
                job: step.job,
                from: dayAt(step.from),
                to: dayAt(step.from + step.days),
                newestFirst: step.newestFirst,
              },
            ]
  for (const plan of plans) {
    const healthy = next.faults.length === 0 && next.kill === null
    const whole = await command(scene, plan, healthy)
    if (plan.do !== 'sync' || !healthy || !whole) continue
    // Freshly fetched data is not requested again.
    await command(scene, plan, true, true)
  }
  emulator.setFaults([])
  program.killAt(null)
  scene.kill = null
  scene.past.push(scene.now)
  scene.now += 60
  emulator.setNow(scene.now)
}

/** Adds the dismissed rows to the model: later replies with them are accepted. */
function readDismissed({ program, oracle }: Scene): void {
  const rows = program.store().all(
    `select q.fragment, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.geo_ids
     from _quarantine q join _fetch f on f.id = q.fetch_id join series s on s.id = f.series_id where q.dismissed is not null`,
  ) as Record<string, string>[]
  for (const { fragment, ...series } of rows)
    truthOf(oracle, JSON.stringify(Object.values(series))).dismissed.add(canonicalText(JSON.parse(fragment!)))
}

/** Returns the planner options of a command. */
function optionsOf(plan: Plan): { readonly name: string; readonly options: UserOptions } {
  if (plan.do === 'sync' || plan.do === 'retry') return { name: plan.do, options: {} }
  const interval = { from: plan.from, to: plan.to }
  if (plan.do === 'restate') return { name: 'restate', options: { range: { interval, how: 'narrow' }, restate: true } }
  return { name: 'backfill', options: { range: { interval, how: 'replace' } } }
}

/** Returns the job of a command; a backfill may request the newest windows first. */
const inOrder = (yaml: string, plan: Plan): string =>
  plan.do === 'backfill' && plan.newestFirst && !yaml.includes('newestFirst') ? `newestFirst: true\n${yaml}` : yaml

/** Notes the series whose cadence a fetch changed, from a fetch on. */
function readCadences({ program, learnedAt, now }: Scene, firstFetch: number): void {
  const rows = program.store().all(
    `select distinct s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.geo_ids
     from _cadence c join series s on s.id = c.series_id where c.fetch_id >= ?`,
    [firstFetch],
  ) as Record<string, unknown>[]
  for (const row of rows) learnedAt.set(JSON.stringify(Object.values(row)), now)
}

/** Runs one command and compares everything. Returns whether it completed. */
async function command(scene: Scene, plan: Plan, healthy: boolean, again = false): Promise<boolean> {
  const { program, now } = scene
  scene.command++
  const required = findRequiredRanges(scene, plan)
  const { options, name } = optionsOf(plan)
  const yaml = plan.do === 'retry' ? null : inOrder(scene.yaml[plan.job]!, plan)
  const run = (): Promise<Summary> => (yaml === null ? program.retry(now) : program.sync(yaml, now, name, options))
  let summary: Summary | null = null
  const { kill } = scene
  try {
    if (KILLS.real && kill !== null) await program.kill({ now, yaml, command: name, options }, kill)
    else summary = await run()
  } catch (error) {
    if ((error as Killed).constructor.name !== 'Killed' && !String((error as Error).cause).includes('Killed'))
      throw error
    summary = null
  }
  // A dead process requests nothing more, and its results are invalid, wherever the death was noticed.
  if (program.died()) {
    summary = null
    await program.restart()
  }
  if (summary !== null && plan.do !== 'retry') scene.ran.add(plan.job)
  const firstFetch = scene.fetches + 1
  const lastRequest = again ? wasRequestedAt(scene, now) : null
  const records = readRecords(scene, summary)
  if (SCOPE.has('repeats'))
    for (const { request, entry } of lastRequest ? records.sent : []) {
      const { reason } = records.fetches.findLast(({ fetch }) => fetch.target === entry.url)?.fetch ?? {}
      const isNewlyMissing = reason === 'absent' && scene.learnedAt.get(request.key) === now
      if ((!request.window || lastRequest!(request)) && !isNewlyMissing)
        differ('a second sync with nothing new asks', [], entry.url)
    }
  checkRequests(scene, plan, required, records, summary)
  readCadences(scene, firstFetch)
  checkChanges(
    scene,
    plan.do,
    records.sent.map(({ request }) => request),
  )
  if (summary !== null) readChanges(scene, records)
  if (healthy && summary?.earlyEnd === null) checkLoaded(scene, plan, required, records)
  await compare(scene)
  return summary !== null && summary.earlyEnd === null && summary.outcome === 'done'
}
