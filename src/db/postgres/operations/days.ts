import type { Kysely, Transaction } from 'kysely'
import type { PlacedValue } from '../../engine.ts'
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
  const rows = days.map(([geoId, { month, dayOfMonth }, day]) => [
    ...[geoId, month, dayOfMonth, day.count, day.hours, day.min, day.max, day.sum, day.energy],
    ...[day.firstS, day.lastS, day.missing],
  ])
  const columns = COLUMNS.map((column, i) => {
    const values = rows.map((row) => row[i]!)
    return DOUBLES.includes(column) ? doubles(values) : wholeNumbers(values)
  })
  await sendSql(tx, UPSERT, [seriesId, ...columns])
}

/** A checksum of the totals of the days of every month; whole numbers, for sums of others differ with the order in which a server adds them. */
export async function dayTotalsChecksums(db: Kysely<Database>): Promise<Map<number, string>> {
  const rows = await queryRows<{ month: number; print: string }>(
    db,
    'select month, sum(hash_record_extended(d, 0))::text as print from _day d group by month',
  )
  return new Map(rows.map(({ month, print }) => [month, print]))
}

/**
 * The values that are larger than a limit, whatever their sign. Days narrow the search: a value lies at most a day and a half
 * from the midnight, in UTC, with which its day begins.
 */
export const valuesBeyond = (db: Kysely<Database>, limit: number): Promise<PlacedValue[]> =>
  queryRows(
    db,
    `select distinct s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.geo_agg, o.geo_id, o.value, o.at
     from (
       select series_id, geo_id, compat.epoch_of(make_timestamp((month / 12)::int, (month % 12 + 1)::int, day::int, 0, 0, 0)) as midnight
       from _day where max > $1 or min < -$1::float8
     ) d
     join series s on s.id = d.series_id
     join observation o on o.series_id = d.series_id and o.geo_id = d.geo_id
       and o.at between d.midnight - 129600 and d.midnight + 216000
     where abs(o.value) > $1`,
    [limit],
  )
