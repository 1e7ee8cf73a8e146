/* R6: the order of requests if a budget ends a run, and the budget itself. */
import type { Summary } from '../../../src/sync/sync.ts'
import { DAY } from '../calendar.ts'
import type { CommandRecords } from '../records.ts'
import { differ, type Plan, type Scene } from '../scene.ts'
import { parseRequest, type SeriesRequest } from '../service.ts'
import type { RequiredRanges } from './requiredRanges.ts'
import { isUnknown } from './unknownIds.ts'

/** Whether current data of a series was requested before the command. Its backlog has a turn of its own, which does not count. */
const hadCurrentRequest = ({ emulator, first }: Scene, key: string): boolean =>
  emulator.requests.slice(0, first).some(({ url, at }) => {
    const request = parseRequest(url)
    return request?.key === key && request.window !== null && request.window.to > at
  })

/** R6: if a budget ends a run, expects current data of a series not to be requested again before one that never was. */
export function checkTurns(
  scene: Scene,
  plan: Plan,
  { requirements, attempted }: RequiredRanges,
  sent: readonly SeriesRequest[],
  summary: Summary | null,
): void {
  if (plan.do !== 'sync' || summary?.earlyEnd?.code !== 'budget') return
  const neverRequested = [...requirements.values()].find(
    ({ requirement, key }) =>
      requirement === 'must' &&
      !attempted.has(key) &&
      !isUnknown(scene.oracle, key) &&
      !sent.some((request) => request.key === key),
  )
  const repeated = sent.find(
    ({ key, window }) => window && window.to > scene.now && attempted.has(key) && hadCurrentRequest(scene, key),
  )
  scene.tally.comparisons++
  if (neverRequested && repeated)
    differ('sync: requested again before something that was never requested', neverRequested, repeated.target)
}

/** Expects the calls of a job within a day to keep to its budget. */
export function checkBudget(scene: Scene, plan: Plan, { requests }: CommandRecords): void {
  if (plan.do === 'retry' || requests === 0) return
  const limit = scene.world.jobs[plan.job].callsPerDay
  if (limit === null) return
  const spent = scene.emulator.requests.slice(scene.first).filter(({ at }) => at > scene.now - DAY).length
  scene.tally.comparisons++
  if (spent > limit) differ(`${plan.do}: more calls within a day than the job allows`, limit, spent)
}
