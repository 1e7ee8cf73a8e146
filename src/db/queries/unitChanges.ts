import { sql } from 'kysely'
import type { Instant } from '../../util/time/instant.ts'
import type { Reader } from '../store.ts'
import { type Measure, measureOfQuantity, unitOfQuantity } from '../tables/sql/expressions.ts'

/** The unit of a series from an instant on, until the next one. */
export interface UnitChange {
  readonly from: Instant
  readonly unit: string | null
  readonly measure: Measure | null
}

/** Reads the units of the series whose quantity changed, in order of time, by series. Most series have none. */
export async function readUnitChanges({ kysely }: Pick<Reader, 'kysely'>): Promise<ReadonlyMap<number, UnitChange[]>> {
  const rows = await kysely
    .selectFrom('series as s')
    .innerJoin('indicator_unit as q', (join) =>
      join.onRef('q.kind', '=', 's.kind').onRef('q.id', '=', 's.indicator_id'),
    )
    .leftJoin('magnitude as m', 'm.id', 'q.magnitude_id')
    .select([
      's.id as seriesId',
      'q.from_at as from',
      sql.raw<string | null>(unitOfQuantity('s')).as('unit'),
      sql.raw<Measure | null>(measureOfQuantity('s')).as('measure'),
    ])
    .orderBy('s.id')
    .orderBy('q.from_at')
    .execute()
  return Map.groupBy(rows, ({ seriesId }) => seriesId)
}

/** The unit at an instant; undefined without changes. */
export const unitAt = (changes: readonly UnitChange[] | undefined, at: Instant): UnitChange | undefined =>
  changes?.findLast(({ from }) => from <= at)
