import type { Transaction } from 'kysely'
import type { GeoDay } from '../../tables/dayTotals.ts'
import type { Database } from '../../tables/schema.ts'
import { doubles, wholeNumbers } from '../connection/binary.ts'
import { sendSql } from '../connection/runSql.ts'

const COLUMNS = [
  'geo_id',
  'month',
  'day',
  'count',
  'hours',
  'min',
  'max',
  'sum',
  'energy',
  'first_s',
  'last_s',
  'missing',
]
const DOUBLES = ['hours', 'min', 'max', 'sum', 'energy', 'first_s', 'last_s']
const DAY_TOTALS = COLUMNS.slice(3)
const of = (row: string): string => DAY_TOTALS.map((column) => `${row}.${column}`).join(', ')

// Existing days are looked up first: a conflict takes a lock even where nothing changes.
const UPSERT = `insert into _day (series_id, ${COLUMNS.join(', ')})
  select $1::bigint, v.* from unnest(${COLUMNS.map((column, i) => `$${i + 2}::${DOUBLES.includes(column) ? 'float8' : 'bigint'}[]`).join(', ')}) v (${COLUMNS.join(', ')})
  left join _day d on d.series_id = $1 and d.geo_id = v.geo_id and d.month = v.month and d.day = v.day
  where d.series_id is null or (${of('d')}) is distinct from (${of('v')})
  on conflict (series_id, geo_id, month, day) do update set ${DAY_TOTALS.map((column) => `${column} = excluded.${column}`).join(', ')}`

/** Writes the totals of days; equal ones write nothing. */
export async function upsertDays(tx: Transaction<Database>, seriesId: number, days: readonly GeoDay[]): Promise<void> {
  if (days.length === 0) return
  const rows = days.map(
    ([geoId, { month, dayOfMonth }, { count, hours, min, max, sum, energy, firstS, lastS, missing }]) => [
      ...[geoId, month, dayOfMonth, count, hours, min, max, sum, energy, firstS, lastS, missing],
    ],
  )
  const columns = COLUMNS.map((column, i) => {
    const values = rows.map((row) => row[i]!)
    return DOUBLES.includes(column) ? doubles(values) : wholeNumbers(values)
  })
  await sendSql(tx, UPSERT, [seriesId, ...columns])
}
