/* Ids that the service does not know (404): they are requested again after a day and more. */
import { DAY, HOUR } from '../calendar.ts'
import type { Requirement } from '../judgedState.ts'
import type { Event, Oracle } from '../oracle.ts'

/** Returns kind and id of an indicator from the key of one of its series. */
export const indicatorOf = (key: string): string => String((JSON.parse(key) as unknown[]).slice(0, 2))

/** Whether the service last reported an indicator as unknown. */
export const isUnknown = (oracle: Oracle, key: string): boolean =>
  [...oracle].some(
    ([other, { events }]) => indicatorOf(other) === indicatorOf(key) && events.at(-1)?.outcome === 'refused',
  )

/** Returns the requirement of a unit if its id is known; an unknown one is not requested on the same day. */
export function requirementIfKnown(oracle: Oracle, key: string, now: number, requirement: Requirement): Requirement {
  const events = [...oracle].flatMap(([other, truth]) => (indicatorOf(other) === indicatorOf(key) ? truth.events : []))
  const last = events.reduce<Event | undefined>((a, b) => (a && a.at > b.at ? a : b), undefined)
  if (last?.outcome !== 'refused') return requirement
  return now - last.at < DAY - 2 * HOUR ? 'not' : 'may'
}
