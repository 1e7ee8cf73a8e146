import { type RawBuilder, sql } from 'kysely'
import type { SeriesRange } from '../../../db/engine.ts'
import type { Reader } from '../../../db/store.ts'
import { InputError } from '../../../util/errors.ts'
import type { Instant } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { addUnits, floorTo } from '../../../util/time/zone.ts'
import { type Change, isExamined, isIn, MAX_EXAMINED_DAYS } from './changes.ts'
import { withoutNoise } from './difference.ts'
import type { Line } from './window.ts'

/*
 * What runs changed. A value that became null counts as withdrawn, and one that replaces null as new. The fetches of a series are
 * numbered in the order of their records.
 */

/** What a run changed in a range. */
export interface RunRevisions extends Pick<Change, 'run' | 'at' | 'before'> {
  /** The numbers of values that it changed, withdrew and added. */
  readonly changed: number
  readonly withdrawn: number
  readonly added: number
  /** The mean change, and the change farthest from zero; null without changed values. */
  readonly mean: number | null
  readonly largest: number | null
  /** The seconds of the periods that it changed, withdrew or added. */
  readonly seconds: number
}

/** Fetches by the limits of their ids, inclusive, or those of a run. */
type Fetches = { readonly first: number; readonly last: number } | { readonly run: number }

const isOf = (column: string, fetches: Fetches, { seriesId }: Line): RawBuilder<unknown> =>
  'run' in fetches
    ? sql`${sql.ref(column)} in (select id from _fetch where run_id = ${fetches.run} and series_id = ${seriesId})`
    : sql`${sql.ref(column)} between ${fetches.first} and ${fetches.last}`

/** The versions that fetches ended, each with the value of the next one, and its fetch: null if it was withdrawn. */
const endedVersions = (range: SeriesRange & Line, fetches: Fetches): RawBuilder<unknown> => sql`
    select r.superseded_by as fetch_id, r.at, r.step_s, r.value as before, coalesce(o.value, n.value) as after,
      coalesce(o.fetch_id, n.fetch_id) as next_fetch
    from observation_revision r
    left join observation o
      on o.series_id = r.series_id and o.geo_id = r.geo_id and o.at = r.at and o.fetch_id = r.superseded_by
    left join observation_revision n
      on n.series_id = r.series_id and n.geo_id = r.geo_id and n.at = r.at and n.fetch_id = r.superseded_by
    where ${isIn('r', range)} and ${isOf('r.superseded_by', fetches, range)}`

/** The versions that fetches wrote, now current or ended. */
const writtenVersions = (range: SeriesRange & Line, fetches: Fetches): RawBuilder<unknown> => sql`
    select o.fetch_id, o.at, o.step_s, o.value from observation o
    where ${isIn('o', range)} and ${isOf('o.fetch_id', fetches, range)}
    union all
    select r.fetch_id, r.at, r.step_s, r.value from observation_revision r
    where ${isIn('r', range)} and ${isOf('r.fetch_id', fetches, range)}`

interface EndedRow {
  readonly fetchId: number
  readonly changed: number
  readonly sum: number | null
  readonly least: number | null
  readonly most: number | null
  readonly withdrawn: number
  readonly seconds: number | null
}

/** Reads what runs changed in a range: those of `changes`, which are neighbours in the order of their first fetches. */
export async function readRevisions(
  { kysely }: Reader,
  range: SeriesRange & Line,
  changes: readonly Change[],
): Promise<RunRevisions[]> {
  if (changes.length === 0) return []
  const first = Math.min(...changes.map(({ firstFetchId }) => firstFetchId))
  const last = Math.max(...changes.map(({ fetchId }) => fetchId))
  const fetches = { first, last }
  const ended = await sql<EndedRow>`
    select fetch_id as "fetchId", count(after - before) as changed, sum(after - before) as sum, min(after - before) as least,
      max(after - before) as most, count(case when after is null then before end) as withdrawn,
      sum(case when after is null and before is not null then step_s end) as seconds
    from (${endedVersions(range, fetches)}) ended group by fetch_id`.execute(kysely)
  const written = await sql<{ readonly fetchId: number; readonly count: number; readonly seconds: number | null }>`
    select fetch_id as "fetchId", count(value) as count, sum(case when value is not null then step_s end) as seconds
    from (${writtenVersions(range, fetches)}) written group by fetch_id`.execute(kysely)
  const { rows } = await sql<{ readonly id: number; readonly run: number }>`
    select id, run_id as run from _fetch where series_id = ${range.seriesId} and id between ${first} and ${last}`.execute(
    kysely,
  )
  const runs = new Map(rows.map(({ id, run }) => [id, run]))
  const endedByRun = Map.groupBy(ended.rows, ({ fetchId }) => runs.get(fetchId))
  const writtenByRun = Map.groupBy(written.rows, ({ fetchId }) => runs.get(fetchId))
  return changes.map(({ run, at, before }) => {
    const ends = endedByRun.get(run) ?? []
    const writes = writtenByRun.get(run) ?? []
    const total = (numbers: readonly (number | null)[]): number => numbers.reduce<number>((sum, n) => sum + (n ?? 0), 0)
    const changed = total(ends.map((end) => end.changed))
    const extremes = ends.flatMap(({ least, most }) => [least ?? 0, most ?? 0])
    return {
      run,
      at,
      before,
      changed,
      withdrawn: total(ends.map((end) => end.withdrawn)),
      added: total(writes.map((write) => write.count)) - changed,
      mean: changed === 0 ? null : withoutNoise(total(ends.map(({ sum }) => sum)) / changed),
      largest: changed === 0 ? null : withoutNoise(extremes.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a))),
      seconds: total([...ends, ...writes].map(({ seconds }) => seconds)),
    }
  })
}

/** A value before and after a run; null: none. */
export interface RevisedValue {
  readonly at: Instant
  readonly before: number | null
  readonly after: number | null
}

/** The values that a run changed, withdrew or added in a range. */
const revisedValues = (range: SeriesRange & Line, run: number): RawBuilder<unknown> => sql`
    select w.at, p.value as before, w.value as after
    from (${writtenVersions(range, { run })}) w
    left join observation_revision p
      on p.series_id = ${range.seriesId} and p.geo_id = ${range.geoId} and p.at = w.at and p.superseded_by = w.fetch_id
    where w.value is not null or p.value is not null
    union all
    select at, before, after from (${endedVersions(range, { run })}) e
    where e.before is not null and e.next_fetch is null`

/** Reads the values that a run changed in a range, in order of time: all, or one page of them. */
export async function readRevisedValues(
  { kysely }: Reader,
  range: SeriesRange & Line,
  run: number,
  page?: { readonly limit: number; readonly offset: number },
): Promise<RevisedValue[]> {
  const part = page ? sql`limit ${Math.trunc(page.limit)} offset ${Math.trunc(page.offset)}` : sql``
  const { rows } = await sql<RevisedValue>`
    select at, before, after from (${revisedValues(range, run)}) revised order by at ${part}`.execute(kysely)
  return rows
}

/** Counts the values that a run changed in a range. */
export async function countRevisedValues({ kysely }: Reader, range: SeriesRange & Line, run: number): Promise<number> {
  const { rows } = await sql<{ readonly n: number }>`
    select count(*) as n from (${revisedValues(range, run)}) revised`.execute(kysely)
  return rows[0]?.n ?? 0
}

/** Refuses a range that is too long to examine every value. */
export function requireExamined(range: Interval): void {
  if (isExamined(range)) return
  throw new InputError('The range is too long to list its revisions.', {
    hint: `Choose ${MAX_EXAMINED_DAYS} days at most.`,
    code: 'bad-range',
  })
}

/** Finds the local days of a range in which the values known after a fetch differ from the current ones; null if none do. */
export async function differingDays({ kysely }: Reader, range: SeriesRange & Line, fetchId: number) {
  const { rows } = await sql<{ readonly first: number | null; readonly last: number | null }>`
    select min(at) as first, max(at) as last from (
      select o.at from observation o where ${isIn('o', range)} and o.fetch_id > ${fetchId}
      union all
      select r.at from observation_revision r where ${isIn('r', range)} and r.superseded_by > ${fetchId}
    ) differing`.execute(kysely)
  const { first = null, last = null } = rows[0] ?? {}
  if (first === null || last === null) return null
  const { zone, from, to } = range
  const end = addUnits(zone, floorTo(zone, last, 'day'), 'day', 1)
  return { from: Math.max(from, floorTo(zone, first, 'day')), to: Math.min(to, end) }
}
