import type { Statement } from 'better-sqlite3'
import type { Instant } from '../../../util/time/instant.ts'
import {
  type Blocks,
  type HeldValue,
  inBlocks,
  type Revision,
  type SeriesRange,
  type SupersededValue,
  type ValueAt,
  type ValueVersion,
} from '../../engine.ts'
import type { Connection, Prepare } from '../connection.ts'

const NOW = `select at, value, step_s from observation
  where series_id = :series and geo_id = :geo and at >= :from and at < :to order by at`
const VALUES_THEN = `select v.at, v.value, v.step_s from (
    select at, value, step_s, fetch_id, null as superseded_by from observation
    where series_id = :series and geo_id = :geo and at >= :from and at < :to
    union all
    select at, value, step_s, fetch_id, superseded_by from observation_revision
    where series_id = :series and geo_id = :geo and at >= :from and at < :to
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where f.finished_at <= :asOf and (n.finished_at is null or n.finished_at > :asOf)
  order by v.at`

type Value = [at: Instant, value: number | null, step: number]

/** Values in the order of their instants, which is that of the key: nothing is sorted. A statement of its own, for several are read side by side. */
export const values = (
  raw: Connection['raw'],
  { seriesId, geoId, from, to }: SeriesRange,
  asOf: string | null,
): Blocks<Value> => {
  const parameters = { series: seriesId, geo: geoId, from, to, ...(asOf === null ? {} : { asOf }) }
  const statement = raw.prepare(asOf === null ? NOW : VALUES_THEN).raw()
  return inBlocks(() => statement.iterate(parameters) as IterableIterator<Value>)
}

const WITHIN = 'series_id = ? and geo_id = ? and at >= ? and at < ?'
const HELD = `select at, value, step_s, fetch_id from observation where ${WITHIN} order by at`
const SUPERSEDED = `select at, value, step_s, fetch_id, superseded_by from observation_revision where ${WITHIN} order by at, fetch_id`

/** Reads whole intervals. The statements are prepared once, because there may be very many intervals. */
export function createIntervalReads(raw: Connection['raw']): {
  heldIn(of: SeriesRange): HeldValue[]
  supersededIn(of: SeriesRange): SupersededValue[]
} {
  const lazily = <Row>(sql: string): ((of: SeriesRange) => Row[]) => {
    let statement: Statement<number[]> | undefined
    return ({ seriesId, geoId, from, to }) => {
      statement ??= raw.prepare<number[]>(sql).raw()
      return statement.all(seriesId, geoId, from, to) as Row[]
    }
  }
  return { heldIn: lazily(HELD), supersededIn: lazily(SUPERSEDED) }
}

const RANGE_CONDITION = 'series_id = :series and geo_id = :geo and at >= :from and at < :to'
const VALUE_VERSIONS = `with v as (
  select v.at, v.value, v.step_s, v.fetch_id, v.superseded_by, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select at, value, step_s, fetch_id, null as superseded_by from observation where ${RANGE_CONDITION}
    union all
    select at, value, step_s, fetch_id, superseded_by from observation_revision where ${RANGE_CONDITION}
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
)`

const named = ({ seriesId, geoId, from, to }: SeriesRange) => ({ series: seriesId, geo: geoId, from, to })

/** The values of a range: as they are, as they were known at an instant (UTC to the millisecond), or as each was first. */
export function valuesThen(prepare: Prepare, range: SeriesRange, then: string): ValueAt[] {
  const sql =
    then === 'now'
      ? `select at, value, step_s as step from observation where ${RANGE_CONDITION} order by at`
      : then === 'first'
        ? `${VALUE_VERSIONS} select at, value, step_s as step from (
             select *, row_number() over (partition by at order by valid_from, fetch_id) as n from v) where n = 1 order by at`
        : `${VALUE_VERSIONS} select at, value, step_s as step from v
           where valid_from <= :then and (valid_to is null or valid_to > :then) order by at`
  const parameters = then === 'now' || then === 'first' ? named(range) : { ...named(range), then }
  return prepare(sql).all(parameters) as ValueAt[]
}

interface Successor {
  readonly at: number
  readonly value: number | null
  readonly fetch_id: number
}
type Superseded = Successor & { readonly superseded_by: number }

/**
 * Every time that a value of a range was replaced or withdrawn, after an instant where one is given; the latest first. Both tables
 * are read once, in the order of their keys, and put together here: to look up what follows each version takes three times as long.
 */
export function revisionsOf(prepare: Prepare, range: SeriesRange, after: string | null): Revision[] {
  const parameters = named(range)
  const versions = prepare(
    `select at, value, fetch_id, superseded_by from observation_revision where ${RANGE_CONDITION} order by at, fetch_id`,
  ).all(parameters) as Superseded[]
  if (versions.length === 0) return []
  const held = prepare(`select at, value, fetch_id from observation where ${RANGE_CONDITION} order by at`).all(
    parameters,
  ) as Successor[]
  const finished = prepare('select finished_at from _fetch where id = :id')
  // In order of time in each of them, because versions are.
  const byMoment = new Map<string, Revision[]>()
  const byFetch = new Map<number, { readonly moment: string; readonly revisions: Revision[] }>()
  const of = (id: number) => {
    const known = byFetch.get(id)
    if (known) return known
    const { finished_at: moment } = finished.get({ id }) as { finished_at: string }
    const revisions = byMoment.get(moment) ?? []
    byMoment.set(moment, revisions)
    const found = { moment, revisions }
    byFetch.set(id, found)
    return found
  }
  let next = 0
  for (const [i, { at, value, superseded_by }] of versions.entries()) {
    while (next < held.length && held[next]!.at < at) next++
    const successor = [versions[i + 1], held[next]].find((one) => one?.at === at && one.fetch_id === superseded_by)
    const { moment, revisions } = of(superseded_by)
    if (after === null || moment > after)
      revisions.push({
        at,
        before: value,
        after: successor?.value ?? null,
        withdrawn: successor === undefined,
        revisedAt: moment,
      })
  }
  const moments = [...byMoment.keys()].sort().reverse()
  return moments.flatMap((moment) => byMoment.get(moment)!)
}

/** Versions that began or ended between two instants: all that is needed to know both sides of what changed. */
const CHANGED = `select v.geo_id, v.at, v.value, v.step_s, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select o.geo_id, o.at, o.value, o.step_s, o.fetch_id, null as superseded_by
    from series_geo g cross join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
    where g.series_id = :series and o.at >= :first and o.at < :last
    union all
    select o.geo_id, o.at, o.value, o.step_s, o.fetch_id, o.superseded_by
    from series_geo g cross join observation_revision o on o.series_id = g.series_id and o.geo_id = g.geo_id
    where g.series_id = :series and o.at >= :first and o.at < :last
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where (f.finished_at > :from and f.finished_at <= :to) or (n.finished_at > :from and n.finished_at <= :to)
  order by v.geo_id, v.at, f.finished_at`

/** Versions of the values of a range, of all geos, that began or ended after one instant and not after another. */
export const changedVersions = (
  raw: Connection['raw'],
  seriesId: number,
  { from, to }: { readonly from: number; readonly to: number },
  between: { readonly from: string; readonly to: string },
): Blocks<ValueVersion> => {
  const parameters = { series: seriesId, first: from, last: to, ...between }
  return inBlocks(() => raw.prepare(CHANGED).iterate(parameters) as IterableIterator<ValueVersion>)
}
