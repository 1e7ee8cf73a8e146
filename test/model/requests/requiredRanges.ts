/* Predicts what a command must, may and must not request before it runs. */
import { unitsOf } from '../calendar.ts'
import { type JudgedState, judgeState, type Requirement } from '../judgedState.ts'
import { type Oracle, truthOf } from '../oracle.ts'
import type { Plan, Scene } from '../scene.ts'
import { unitOf } from '../units.ts'
import { entriesOf, type ResolvedEntry } from '../world.ts'
import type { EntryUnit } from './entryUnit.ts'
import { isOverdue, lacksValues, mayRetry } from './missingPeriods.ts'
import { geosToRepeat } from './outside.ts'
import { addRequirement, type RequiredUnit, type Requirements, type SeriesUnit } from './requirements.ts'
import { selectedRange } from './selected.ts'
import { isLookbackLonger, isMonthOfGroupOpen, isSourceBehind, requirementByAge } from './settled.ts'
import { type PeriodCounts, periodCounts } from './share.ts'
import { requirementIfKnown } from './unknownIds.ts'

/** What a command must and may request. */
export interface RequiredRanges {
  readonly requirements: ReadonlyMap<string, RequiredUnit>
  /** Units with periods that are missing for long: some of them must be requested (R4). */
  readonly overdue: readonly SeriesUnit[]
  /** How the periods of each series are counted, by what was stored before the command. */
  readonly counts: PeriodCounts
  /** Series that were requested before the command. */
  readonly attempted: ReadonlySet<string>
}

/** Returns what a command must and may request, by what is stored before it. */
export function findRequiredRanges(scene: Scene, plan: Plan): RequiredRanges {
  const { oracle } = scene
  const before = {
    counts: periodCounts(oracle),
    attempted: new Set([...oracle].flatMap(([key, { events }]) => (events.length > 0 ? [key] : []))),
  }
  if (plan.do === 'retry') return { requirements: requireFailures(oracle), overdue: [], ...before }
  const parts = entriesOf(scene.world.jobs[plan.job]).flatMap((entry) => entryUnits(scene, plan, entry))
  const requirements: Requirements = new Map()
  for (const part of parts) requireUnit(requirements, plan, part)
  const overdue = parts
    .filter((part) => requirementOf(plan, part) === 'not' && lacksValues(part) && isOverdue(part))
    .map(({ entry, geo, unit }) => ({ key: entry.key, geo, ...unit }))
  return { requirements, overdue, ...before }
}

/** Returns the units that an entry selects, for each of its geos or (null) for all. */
function entryUnits(scene: Scene, plan: Exclude<Plan, { do: 'retry' }>, entry: ResolvedEntry): EntryUnit[] {
  if (entry.mode === 'instant') return []
  const { from, to } = selectedRange(plan, entry, scene)
  if (from >= to) return []
  const truth = truthOf(scene.oracle, entry.key)
  const geos = entry.geoIds.length === 0 ? [null] : entry.geoIds
  return unitsOf(from, to, unitOf(entry.trunc)).flatMap((unit) =>
    geos.map((geo) => ({ scene, truth, entry, unit, geo, judged: judgeState(truth, unit, geo) })),
  )
}

/** R1–R3: whether the values of a unit are requested. A restate requests all of them. */
const requirementOf = (plan: Plan, part: EntryUnit): Requirement =>
  plan.do === 'restate' ? 'must' : requirementByAge(part)

/** R1–R4 and R7: adds the requirement of a unit of an entry, and those of geos that may be requested by name. */
function requireUnit(requirements: Requirements, plan: Plan, part: EntryUnit): void {
  const { scene, entry, unit, geo } = part
  const { key } = entry
  const add = (one: number | null, requirement: Requirement): void =>
    addRequirement(requirements, { key, geo: one, ...unit, requirement })
  const requirement = requirementOf(plan, part)
  if (requirement !== 'not') {
    const isForced = plan.do === 'restate'
    add(geo, isForced ? requirement : requirementIfKnown(scene.oracle, key, scene.now, requirement))
    return
  }
  const repeated = geosToRepeat(part)
  add(geo, repeated.length > 0 || mayRequestSettled(part) ? 'may' : 'not')
  for (const known of repeated) add(known, 'may')
}

/** R2 and R4: whether a command may request a settled unit again. */
const mayRequestSettled = (part: EntryUnit): boolean =>
  isLookbackLonger(part) || isSourceBehind(part) || isMonthOfGroupOpen(part) || (lacksValues(part) && mayRetry(part))

/** R3: a retry requests failed windows, and may request unverified ones. */
function requireFailures(oracle: Oracle): Requirements {
  const requirements: Requirements = new Map()
  for (const [key, truth] of oracle)
    for (const { request } of truth.events) {
      if (!request.window) continue
      for (const unit of unitsOf(request.window.from, request.window.to, unitOf(request.trunc)))
        for (const geo of request.geos ?? [null]) {
          const judged = judgeState(truth, unit, geo)
          addRequirement(requirements, { key, geo, ...unit, requirement: retryRequirement(judged) })
          if (geo !== null) continue
          // A geo that is missing in a reply for all may be requested alone.
          for (const known of truth.values.keys())
            if (isUnverified(judgeState(truth, unit, known)))
              addRequirement(requirements, { key, geo: known, ...unit, requirement: 'may' })
        }
    }
  return requirements
}

const isUnverified = ({ state }: JudgedState): boolean => state === 'unverified' || state === 'undecided'

/** Whether a retry requests a unit. */
function retryRequirement(judged: JudgedState): Requirement {
  if (judged.state === 'uncovered' && judged.lastOutcome === 'failed') return 'must'
  return judged.lastOutcome !== 'loaded' || isUnverified(judged) ? 'may' : 'not'
}
