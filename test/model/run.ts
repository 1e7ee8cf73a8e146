/* Runs one sequence: creates the world, takes the steps, and compares everything after each. */

import type { Fault } from '../../src/emulator/faults.ts'
import { type Emulator, startEmulator } from '../../src/emulator/startEmulator.ts'
import type { Action } from '../../src/emulator/world/script.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { SERVICE_ZONE } from './calendar.ts'
import { checkChanges, readChanges } from './changes.ts'
import { compare } from './comparison/compare.ts'
import { type Databases, onDisk } from './databases.ts'
import { truthOf } from './oracle.ts'
import { type Killed, openProgram } from './program.ts'
import { readRecords } from './records.ts'
import { checkLoaded, checkRequests } from './requests/checkRequests.ts'
import { checkSecondSync, wasRequestedAt } from './requests/repeats.ts'
import { findRequiredRanges } from './requests/requiredRanges.ts'
import { differ, type Plan, type Scene, type Tally } from './scene.ts'
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
    repeatedAt: new Map(),
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

/** What happens to the next command: faults of the service, and its death. */
interface Disturbance {
  readonly faults: readonly Fault[]
  readonly kill: number | null
}
const UNDISTURBED: Disturbance = { faults: [], kill: null }

/** The disturbance of the next command of each sequence. */
const pending = new WeakMap<Scene, Disturbance>()

/** Adds to the disturbance of the next command. */
function disturb(scene: Scene, change: (disturbance: Disturbance) => Disturbance): void {
  pending.set(scene, change(pending.get(scene) ?? UNDISTURBED))
}

/** Takes a step. */
async function take(scene: Scene, step: Step, actions: Map<Kind, Action[]>): Promise<void> {
  const { emulator, program } = scene
  switch (step.do) {
    case 'wait':
      scene.now += step.seconds
      emulator.setNow(scene.now)
      return
    case 'fail':
      addFault(scene, step)
      return
    case 'kill':
      disturb(scene, ({ faults }) => ({ faults, kill: step.at }))
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
    case 'dismiss':
      await program.dismiss(scene.now)
      readDismissed(scene)
      await compare(scene)
      return
    case 'sync':
    case 'backfill':
    case 'restate':
    case 'retry':
    case 'both':
      await runPlans(scene, plansOf(step))
      return
    default:
      changeService(scene, step, actions)
  }
}

/** Adds a fault of every call or every n-th one, counting retries, so that some faults persist and some do not. */
function addFault(scene: Scene, { fault, every }: Extract<Step, { do: 'fail' }>): void {
  const hasInstants = scene.world.jobs.some(({ entries }) => entries.some(({ mode }) => mode === 'instant'))
  // A reply about one instant has no window, so that other times do not matter.
  if (fault === 'values outside the window' && hasInstants) return
  const added = { ...FAULTS[fault], ...(every > 1 && { every }) } as Fault
  disturb(scene, ({ faults, kill }) => ({ faults: [...faults, added], kill }))
}

/** Lets the service revise, withdraw or publish values, if the step does. */
function changeService(scene: Scene, step: Step, actions: Map<Kind, Action[]>): void {
  const done = actionOf(step, scene.now)
  if (!done) return
  actions.set(done.kind, [...(actions.get(done.kind) ?? []), done.action])
  scene.scripts = scriptsOf(scene.world, actions)
  scene.emulator.setScripts(scene.scripts)
}

/** A step that runs commands. */
type Commands = Extract<Step, { do: 'sync' | 'backfill' | 'restate' | 'retry' | 'both' }>

/** Returns the commands of a step. */
function plansOf(step: Commands): Plan[] {
  switch (step.do) {
    case 'both':
      return [
        { do: 'sync', job: 0 },
        { do: 'sync', job: 1 },
      ]
    case 'retry':
      return [{ do: 'retry' }]
    case 'sync':
      return [{ do: 'sync', job: step.job }]
    case 'backfill':
    case 'restate': {
      const { job, newestFirst } = step
      return [{ do: step.do, job, from: dayAt(step.from), to: dayAt(step.from + step.days), newestFirst }]
    }
  }
}

/** Runs commands with the pending disturbance. A whole and undisturbed sync is repeated: it requests nothing again. */
async function runPlans(scene: Scene, plans: readonly Plan[]): Promise<void> {
  const { emulator, program } = scene
  const { faults, kill } = pending.get(scene) ?? UNDISTURBED
  pending.delete(scene)
  emulator.setFaults([...faults])
  scene.kill = kill
  if (!KILLS.real) program.killAt(kill)
  const isHealthy = faults.length === 0 && kill === null
  for (const plan of plans) {
    const isWhole = await command(scene, plan, isHealthy)
    if (plan.do === 'sync' && isHealthy && isWhole) await command(scene, plan, true, true)
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

/** Runs one command and compares everything. Returns whether it completed. `isSecond`: the same one ran just before. */
async function command(scene: Scene, plan: Plan, isHealthy: boolean, isSecond = false): Promise<boolean> {
  scene.command++
  const required = findRequiredRanges(scene, plan)
  const summary = await execute(scene, plan)
  if (summary !== null && plan.do !== 'retry') scene.ran.add(plan.job)
  const firstFetch = scene.fetches + 1
  const wasRequested = wasRequestedAt(scene, scene.now)
  const records = readRecords(scene, summary)
  if (isSecond) checkSecondSync(scene, wasRequested, records)
  checkRequests(scene, plan, required, records, summary)
  readCadences(scene, firstFetch)
  checkChanges(
    scene,
    plan.do,
    records.sent.map(({ request }) => request),
  )
  if (summary !== null) readChanges(scene, records)
  if (isHealthy && summary?.earlyEnd === null) checkLoaded(scene, plan, required, records)
  await compare(scene)
  return summary !== null && summary.earlyEnd === null && summary.outcome === 'done'
}

/** Executes a command. Returns its summary; null if it died. */
async function execute(scene: Scene, plan: Plan): Promise<Summary | null> {
  const { program, now, kill } = scene
  const { options, name } = optionsOf(plan)
  const yaml = plan.do === 'retry' ? null : inOrder(scene.yaml[plan.job]!, plan)
  let summary: Summary | null = null
  try {
    if (KILLS.real && kill !== null) await program.kill({ now, yaml, command: name, options }, kill)
    else summary = await (yaml === null ? program.retry(now) : program.sync(yaml, now, name, options))
  } catch (error) {
    if ((error as Killed).constructor.name !== 'Killed' && !String((error as Error).cause).includes('Killed'))
      throw error
  }
  if (!program.died()) return summary
  // A dead process requests nothing more, and its results are invalid, wherever the death was noticed.
  await program.restart()
  return null
}
