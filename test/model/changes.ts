/* Known changes of resolution: no window spans such a day. */
import { SERVICE_ZONE, startOf } from './calendar.ts'
import type { Taken } from './intake.ts'
import { differ, type Scene } from './run.ts'
import type { Question } from './service.ts'
import { idOf } from './world.ts'

/** Changes announced by the operator: indicators, and the first day of quarter-hours. */
const ANNOUNCED: Readonly<Record<number, string>> = { 600: '2025-10-01' }

const isInside = (at: number, { window }: Question): boolean => window !== null && window.from < at && window.to > at

/** Compares the requests of a command with the changes known before it. */
export function judgeChanges({ changes, tally }: Scene, command: string, sent: readonly Question[]): void {
  // A failed request is repeated unchanged.
  if (command === 'retry') return
  for (const question of sent) {
    if (question.trunc !== null) continue
    const announced = ANNOUNCED[question.id]
    const known = [...(changes.get(question.key) ?? []), ...(announced ? [startOf(SERVICE_ZONE, announced)] : [])]
    tally.comparisons++
    const at = known.find((one) => isInside(one, question))
    if (at !== undefined)
      differ(`${command}: a window spans a known change`, new Date(at * 1000).toISOString(), question.target)
  }
}

/** Adds the changes that a command found: between two adjacent parts of a coarse reply with different steps. */
export function takeChanges({ changes }: Scene, { fetches }: Taken): void {
  if (fetches.some(({ fetch }) => fetch.outcome === 'too-large')) return
  const all = fetches.flatMap(({ fetch, question }) =>
    question?.window ? [{ fetch, question, ...question.window }] : [],
  )
  // The step of events is a guess, which reveals no change.
  const good = all.filter(
    ({ fetch, question }) =>
      fetch.outcome === 'ok' && fetch.rows_rejected === 0 && fetch.step_s !== null && question.id !== idOf('events'),
  )
  for (const coarse of all.filter(({ fetch }) => fetch.outcome === 'coarse')) {
    const parts = good.filter(
      ({ question, from, to }) =>
        question.key === coarse.question.key &&
        String(question.geos) === String(coarse.question.geos) &&
        from >= coarse.from &&
        to <= coarse.to,
    )
    for (const before of parts)
      for (const after of parts)
        if (before.to === after.from && before.fetch.step_s !== after.fetch.step_s)
          changes.set(coarse.question.key, new Set([...(changes.get(coarse.question.key) ?? []), after.from]))
  }
}
