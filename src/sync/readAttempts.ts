import { NO_FAILURE, REPEAT } from '../db/queries/fetchOutcomes.ts'
import type { Reader } from '../db/store.ts'
import { fromIdentityRow, seriesKey, toRouteCall, toWindow } from '../job/plannedRequest.ts'
import type { Attempts } from '../plan/plannerState.ts'
import { isBacklog, listTurn, repeatTurn, seriesTurn } from '../plan/turns.ts'
import { type Interval, overlaps } from '../util/time/interval.ts'

/** Reads the last attempt of each series at current data, and at its backlog. */
const readSeriesTurns = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('_fetch')
          .select((fetch) => [
            'series_id',
            fetch.fn.max('id').as('last'),
            fetch.case().when('to_at', '<=', fetch.ref('settled_before')).then(1).else(0).end().as('backlog'),
          ])
          .where('series_id', 'is not', null)
          .where('from_at', 'is not', null)
          .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', '!=', REPEAT)]))
          .groupBy(['series_id', 'backlog'])
          .as('f'),
      (join) => join.onRef('f.series_id', '=', 's.id'),
    )
    .selectAll('s')
    .select(['f.last', 'f.backlog'])
    .execute()

/** Reads the last request of each list, by path and query. */
const readLists = ({ kysely }: Reader) =>
  kysely
    .selectFrom('_fetch')
    .select(['id', 'target', 'route', 'params', 'from_at', 'to_at', 'settled_before'])
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('_fetch')
        .select(({ fn }) => fn.max('id').as('id'))
        .where((eb) => eb.or([eb('series_id', 'is', null), eb('from_at', 'is', null)]))
        .groupBy('target'),
    )
    .execute()

/** Reads the last failure of each window of each series. */
const readFailures = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('_fetch')
          .select(['series_id', 'from_at', 'to_at', ({ fn }) => fn.max('id').as('last')])
          .where('series_id', 'is not', null)
          .where('outcome', 'not in', NO_FAILURE)
          .groupBy(['series_id', 'from_at', 'to_at'])
          .as('f'),
      (join) => join.onRef('f.series_id', '=', 's.id'),
    )
    .selectAll('s')
    .select(['f.from_at', 'f.to_at', 'f.last'])
    .execute()

/** Reads the last repeat of each stored job. */
const readRepeatTurns = ({ kysely }: Reader) =>
  kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.reason', '=', REPEAT)
    .where('r.job_id', 'is not', null)
    .select(['r.job_id', ({ fn }) => fn.max('f.id').as('last')])
    .groupBy('r.job_id')
    .execute()

/** Reads the last attempts of everything that takes turns. It reads all requests, so it is worth its time only with a budget. */
export async function readAttempts(db: Reader): Promise<Attempts> {
  const byTurn = new Map<string, number>()
  const note = (turn: string, last: number): void => void byTurn.set(turn, Math.max(last, byTurn.get(turn) ?? 0))
  for (const row of await readSeriesTurns(db))
    note(seriesTurn(seriesKey(fromIdentityRow(row)), row.backlog === 1), row.last)
  const byTarget = new Map<string, number>()
  for (const row of await readLists(db)) {
    const { route, params, window } = toRouteCall(row)
    note(listTurn(route, params, isBacklog(window, row.settled_before)), row.id)
    byTarget.set(row.target, row.id)
  }
  for (const { job_id, last } of await readRepeatTurns(db)) note(repeatTurn(job_id!), last)
  const failures = Map.groupBy(
    (await readFailures(db)).map((row) => ({
      key: seriesKey(fromIdentityRow(row)),
      window: toWindow(row),
      last: row.last,
    })),
    ({ key }) => key,
  )
  return {
    turn: (turn) => byTurn.get(turn) ?? 0,
    target: (target) => byTarget.get(target) ?? 0,
    window: (series: string, window: Interval) =>
      (failures.get(series) ?? []).reduce(
        (last, failure) => (failure.window && overlaps(failure.window, window) ? Math.max(last, failure.last) : last),
        0,
      ),
  }
}
