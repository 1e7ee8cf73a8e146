import type { Statement } from 'better-sqlite3'
import type { Instant } from '../../../util/time/instant.ts'
import type { Blocks, HeldValue, SeriesRange, SupersededValue } from '../../engine.ts'
import type { Connection } from '../connection.ts'
import { inBlocks } from './blocks.ts'

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
