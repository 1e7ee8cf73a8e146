import type { Kysely, Transaction } from 'kysely'
import type { GeoDay } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import { doubles, wholeNumbers } from '../connection/binary.ts'
import { queryRows, sendSql } from '../connection/statements.ts'

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
  'step_s',
  'offset_s',
  'strays',
]
const DOUBLES = ['hours', 'min', 'max', 'sum', 'energy', 'first_s', 'last_s', 'step_s', 'offset_s', 'strays']
const DAY_TOTALS = COLUMNS.slice(3)
const totals = (row: string): string => DAY_TOTALS.map((column) => `${row}.${column}`).join(', ')

// Existing days are joined first, because a conflict takes a lock even if nothing changes.
const UPSERT = `insert into _day (series_id, ${COLUMNS.join(', ')})
  select $1::bigint, v.* from unnest(${COLUMNS.map((column, i) => `$${i + 2}::${DOUBLES.includes(column) ? 'float8' : 'bigint'}[]`).join(', ')}) v (${COLUMNS.join(', ')})
  left join _day d on d.series_id = $1 and d.geo_id = v.geo_id and d.month = v.month and d.day = v.day
  where d.series_id is null or (${totals('d')}) is distinct from (${totals('v')})
  on conflict (series_id, geo_id, month, day) do update set ${DAY_TOTALS.map((column) => `${column} = excluded.${column}`).join(', ')}`

export async function upsertDays(tx: Transaction<Database>, seriesId: number, days: readonly GeoDay[]): Promise<void> {
  if (days.length === 0) return
  const rows = days.map(([geoId, { month, dayOfMonth }, day]) => [
    geoId,
    month,
    dayOfMonth,
    day.count,
    day.hours,
    day.min,
    day.max,
    day.sum,
    day.energy,
    day.firstS,
    day.lastS,
    day.missing,
    day.step,
    day.offset,
    day.strays,
  ])
  const columns = COLUMNS.map((column, i) => {
    const values = rows.map((row) => row[i]!)
    return DOUBLES.includes(column) ? doubles(values) : wholeNumbers(values)
  })
  await sendSql(tx, UPSERT, [seriesId, ...columns])
}

/** A checksum of the daily totals of every month. Sums of integers do not depend on the order of rows. */
export async function computeDayChecksums(db: Kysely<Database>): Promise<Map<number, string>> {
  const rows = await queryRows<{ month: number; print: string }>(
    db,
    'select month, sum(hash_record_extended(d, 0))::text as print from _day d group by month',
  )
  return new Map(rows.map(({ month, print }) => [month, print]))
}
