import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { AnyParams } from '../service/routes.ts'
import { canonical } from '../util/json.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/*
 * R6 (docs/decisions/001-coverage.md): a budget may end a run at any request, so requests are sent in turns. The ids of attempts
 * decide the order, because a clock may be set back. Only what is due has a turn, so the times of being due need not be compared.
 */

/** A participant in the rotation: the current data of a series, its backlog, one list, or the repeats of a job. */
export interface Turn {
  /** The id of its last attempt in `_fetch`, failed ones included; 0 before the first. */
  readonly lastAttempt: number
  /** The requests that it needs, the most urgent first. */
  readonly requests: Iterable<PlannedRequest>
}

/** A request in the queue of a turn. */
export interface TurnRequest {
  /** The key of its turn. */
  readonly turn: string
  /** The id of the last failed attempt at this request; 0 without one. */
  readonly lastAttempt: number
  readonly window: Interval | null
  /** Plans it only when its turn comes, because a backfill may have many. */
  readonly plan: () => PlannedRequest
}

/** Whether a request is for the backlog: final data only. The backlog takes turns of its own, so it never holds up current data. */
export const isBacklog = (window: Interval | null, settledBefore: Instant | null): boolean =>
  window !== null && settledBefore !== null && window.to <= settledBefore

/** The key of the turn of a series. */
export const seriesTurn = (seriesKey: string, backlog: boolean): string =>
  `${backlog ? 'backlog' : 'current'} ${seriesKey}`

/** The key of the turn of a list or of an instant of a series: the same list of another day has the same key. */
export function listTurn(route: string, params: AnyParams, backlog: boolean): string {
  const { date: _date, datetime: _datetime, start_date: _start, end_date: _end, ...rest } = params
  return `${backlog ? 'backlog' : 'current'} ${route} ${canonical(rest)}`
}

/** The key of the turn of the repeats of a stored job. */
export const repeatTurn = (jobId: number): string => `repeats ${jobId}`

/** Groups requests by turn. In each turn, requests without a failed attempt come first, the newest window before others. */
export function groupByTurn(requests: Iterable<TurnRequest>, lastAttempt: (turn: string) => number): Turn[] {
  const end = ({ window }: TurnRequest): number => window?.to ?? 0
  return [...Map.groupBy(requests, ({ turn }) => turn)].map(([turn, queue]) => ({
    lastAttempt: lastAttempt(turn),
    requests: queue
      .sort((a, b) => a.lastAttempt - b.lastAttempt || end(b) - end(a))
      .values()
      .map(({ plan }) => plan()),
  }))
}

/** Goes round the turns, the one with the oldest attempt first, and yields one request of each in every round. */
export function* takeTurns(turns: readonly Turn[]): Generator<PlannedRequest> {
  let waiting = turns
    .toSorted((a, b) => a.lastAttempt - b.lastAttempt)
    .map(({ requests }) => requests[Symbol.iterator]())
  while (waiting.length > 0) {
    const left: typeof waiting = []
    for (const requests of waiting) {
      const next = requests.next()
      if (next.done) continue
      yield next.value
      left.push(requests)
    }
    waiting = left
  }
}
