import { sql } from 'kysely'
import type { SeriesRange } from '../../../db/engine.ts'
import type { Reader } from '../../../db/store.ts'
import { isExamined, isIn } from './changes.ts'

/** The values of a range that changed since a past moment. A value that became null counts as withdrawn. */
export interface ChangesSince {
  readonly revised: number
  readonly withdrawn: number
  readonly added: number
}

/** Counts the values of a range that differ from those known after a fetch, whatever a chart draws; null if it is too long. */
export async function countChangesSince(
  { kysely }: Reader,
  range: SeriesRange,
  fetchId: number,
): Promise<ChangesSince | null> {
  if (!isExamined(range)) return null
  // The versions that ended since then, and the current values that are newer.
  const { rows } = await sql<ChangesSince>`
    select count(case when before <> after then 1 end) as revised,
      count(case when before is not null and after is null then 1 end) as withdrawn,
      count(case when before is null and after is not null then 1 end) as added
    from (
      select r.value as before, o.value as after
      from observation_revision r
      left join observation o on o.series_id = r.series_id and o.geo_id = r.geo_id and o.at = r.at
      where ${isIn('r', range)} and r.fetch_id <= ${fetchId} and r.superseded_by > ${fetchId}
      union all
      select null as before, o.value as after
      from observation o
      where ${isIn('o', range)} and o.fetch_id > ${fetchId} and not exists (
        select 1 from observation_revision r
        where r.series_id = o.series_id and r.geo_id = o.geo_id and r.at = o.at
          and r.fetch_id <= ${fetchId} and r.superseded_by > ${fetchId})
    ) versions`.execute(kysely)
  return rows[0]!
}
