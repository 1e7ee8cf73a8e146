/* One sequence: the world is made, the steps are taken, and after each of them everything is compared. */
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts'
import type { Fault } from '../../src/emulator/faults.ts'
import type { Action, Script } from '../../src/emulator/world/script.ts'
import type { PlanOptions } from '../../src/plan/planning.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { SERVICE_ZONE } from './calendar.ts'
import { judgeChanges, takeChanges } from './changes.ts'
import { compare } from './compare.ts'
import { type Databases, onDisk } from './databases.ts'
import { dutiesOf, judgeAsked, judgeHeld, type Plan, triedAt } from './duties.ts'
import { takeIn } from './intake.ts'
import { accept, type Oracle, truthOf } from './oracle.ts'
import { type Killed, openProgram, type Program } from './program.ts'
import { KILLS, SCOPE } from './scope.ts'
import { plainly } from './service.ts'
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

/** What is compared, and how often. */
export interface Tally {
  comparisons: number
  steps: number
  requests: number
}

/** All that one sequence knows while it runs. */
export interface Scene {
  readonly world: World
  readonly program: Program
  readonly emulator: Emulator
  readonly oracle: Oracle
  readonly tally: Tally
  readonly yaml: readonly [string, string]
  now: number
  /** When the next command dies: at a statement, or after so many milliseconds. */
  kill: number | null
  /** Days times geos beyond which the service answers 504. */
  limit: number
  scripts: readonly Script[]
  /** Requests of the log that were looked at, and fetches of the database. */
  seen: number
  fetches: number
  command: number
  /** Longest lookback in days with which each series was asked. */
  readonly lookbacks: Map<string, number>
  /** And the shortest: what is settled for it may have become one row with what is older. */
  readonly shortest: Map<string, number>
  /** When a run of each job last asked for something absent. */
  readonly absentAt: Map<0 | 1, number>
  /** Instants after commands, for as-of questions. */
  readonly past: number[]
  /** Days on which each series was found to change its resolution. */
  readonly changes: Map<string, Set<number>>
  /** When each question without a window was last answered well. */
  readonly singles: Map<string, number>
  /** Where in the log of the service the sequence began. */
  readonly first: number
}

/** A difference between the model and the program. */
export class Difference extends Error {}

/** Says what differs, and ends the sequence. */
export function differ(what: string, expected: unknown, actual: unknown): never {
  throw new Difference(`${what}\n  expected ${JSON.stringify(expected)}\n  actual   ${JSON.stringify(actual)}`)
}

/** What the sequences of a process share: an embedded service, and a place for databases. */
let shared: Promise<{ readonly emulator: Emulator; readonly databases: Databases }> | undefined

/** Makes what the sequences share; their databases are files where nothing else is said. */
export function beginModel(where: () => Promise<Databases> = onDisk): NonNullable<typeof shared> {
  shared ??= (async () => ({
    databases: await where(),
    emulator: await startEmulator({ keepBodies: true, now: BEGINNING }),
  }))()
  return shared
}

/** Ends what the sequences share. */
export async function endModel(): Promise<void> {
  if (!shared) return
  const { emulator, databases } = await shared
  await emulator.close()
  await databases.close()
  shared = undefined
}

/** Runs one sequence; throws a Difference where the program is not as the model says. */
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
    command: 0,
    lookbacks: new Map(),
    shortest: new Map(),
    absentAt: new Map(),
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

/** Faults that the next command meets. */
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
      // An answer about one instant has no window: what lies outside it is nobody's.
      if (
        step.fault === 'values outside' &&
        scene.world.jobs.some(({ entries }) => entries.some(({ mode }) => mode === 'instant'))
      )
        return
      // Every call, or every so manieth; repetitions count, so that some faults pass and some do not.
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
      takeDismissed(scene)
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
    // What was just asked well is not asked again.
    await command(scene, plan, true, true)
  }
  emulator.setFaults([])
  program.killAt(null)
  scene.kill = null
  scene.past.push(scene.now)
  scene.now += 60
  emulator.setNow(scene.now)
}

/** Takes what somebody dismissed, and accepts the answers with nothing else wrong in them. */
function takeDismissed({ program, oracle }: Scene): void {
  const rows = program.store().all(
    `select q.fragment, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.geo_ids
     from _quarantine q join _fetch f on f.id = q.fetch_id join series s on s.id = f.series_id where q.dismissed is not null`,
  ) as Record<string, string>[]
  for (const { fragment, ...series } of rows)
    accept(truthOf(oracle, JSON.stringify(Object.values(series))), [plainly(JSON.parse(fragment!))])
}

/** What a command tells the planner. */
function optionsOf(plan: Plan): { readonly name: string; readonly options: PlanOptions } {
  if (plan.do === 'sync' || plan.do === 'retry') return { name: plan.do, options: {} }
  const interval = { from: plan.from, to: plan.to }
  if (plan.do === 'restate') return { name: 'restate', options: { range: { interval, how: 'narrow' }, restate: true } }
  return { name: 'backfill', options: { range: { interval, how: 'replace' } } }
}

/** The job of a command; a backfill may take the newest windows first. */
const inOrder = (yaml: string, plan: Plan): string =>
  plan.do === 'backfill' && plan.newestFirst && !yaml.includes('newestFirst') ? `newestFirst: true\n${yaml}` : yaml

/** Runs one command and compares everything; answers whether it came to its end. */
async function command(scene: Scene, plan: Plan, healthy: boolean, again = false): Promise<boolean> {
  const { program, now } = scene
  scene.command++
  const duties = dutiesOf(scene, plan)
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
  // Who is dead asks nothing more, and says nothing true of what it did; wherever the death was noticed.
  if (program.died()) {
    summary = null
    await program.restart()
  }
  const tried = again ? triedAt(scene, now) : null
  const taken = takeIn(scene, summary)
  if (SCOPE.has('again'))
    for (const { question, entry } of tried ? taken.sent : [])
      if (!question.window || tried!(question)) differ('a second sync with nothing new asks', [], entry.url)
  judgeAsked(scene, plan, duties, taken, summary)
  judgeChanges(
    scene,
    plan.do,
    taken.sent.map(({ question }) => question),
  )
  if (summary !== null) takeChanges(scene, taken)
  if (healthy && summary?.stop === null) judgeHeld(scene, plan, duties, taken)
  await compare(scene)
  return summary !== null && summary.stop === null && summary.outcome === 'done'
}
