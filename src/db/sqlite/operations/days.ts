import { type Kysely, sql } from 'kysely'
import { sha256 } from '../../../util/checksum.ts'
import type { PlacedValue } from '../../engine.ts'
import type { DayTotals, GeoDay } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import type { Prepare } from '../connection.ts'

/** Days a statement. */
const DAYS_PER_STATEMENT = 64

/** The upsert of a number of days with equally many values, equally spread: what they share is bound once. */
const UPSERTS = Array.from({ length: DAYS_PER_STATEMENT + 1 }, (_, days) =>
  days === 0
    ? ''
    : `insert into _day (series_id, geo_id, month, day, min, max, sum, count, hours, energy, first_s, last_s, missing)
   values ${Array.from({ length: days }, () => '(:series, ?, ?, ?, ?, ?, ?, :count, :hours, :energy, :first, :last, :missing)')}
   on conflict (series_id, geo_id, month, day) do update
   set count = excluded.count, hours = excluded.hours, min = excluded.min, max = excluded.max, sum = excluded.sum,
     energy = excluded.energy, first_s = excluded.first_s, last_s = excluded.last_s, missing = excluded.missing
   where count <> excluded.count or sum is not excluded.sum or min is not excluded.min or max is not excluded.max
     or hours is not excluded.hours or energy is not excluded.energy or first_s is not excluded.first_s
     or last_s is not excluded.last_s or missing <> excluded.missing`,
)

/** Whether two days differ in nothing but their values. */
const areSameButValues = (a: DayTotals, b: DayTotals): boolean =>
  a.count === b.count &&
  a.hours === b.hours &&
  a.firstS === b.firstS &&
  a.lastS === b.lastS &&
  a.missing === b.missing &&
  a.energy === null &&
  b.energy === null

/** Writes the totals of days, geo by geo and in order; equal ones write nothing. */
export function upsertDays(prepare: Prepare, seriesId: number, days: readonly GeoDay[]): void {
  for (let first = 0, end = 0; first < days.length; first = end) {
    const [, , common] = days[first]!
    const { count, hours, energy, firstS, lastS, missing } = common
    const parameters: unknown[] = []
    do {
      const [geoId, { month, dayOfMonth }, { min, max, sum }] = days[end++]!
      parameters.push(geoId, month, dayOfMonth, min, max, sum)
    } while (end < days.length && end - first < DAYS_PER_STATEMENT && areSameButValues(days[end]![2], common))
    prepare(UPSERTS[end - first]!).run(parameters, {
      series: seriesId,
      count,
      hours,
      energy,
      first: firstS,
      last: lastS,
      missing,
    })
  }
}

/** A prime: remainders by it are added without an overflow. */
const PRIME = 2_147_483_647
/** A number as its whole part and its fraction, to 2^-52: in one double, a cent beside 1e16 would vanish. */
const exactly = (of: string): string =>
  `cast(${of} as integer) % ${PRIME} + cast((${of} - cast(${of} as integer)) * 4503599627370496.0 as integer) % ${PRIME}`
/** The place of a total: its day, series and geo as one number. */
const PLACE = '(series_id * 40503 + geo_id * 31 + day) % 65521'

/** A checksum of the totals of the days of every month. Plain sums of doubles cover what the whole numbers leave out; they are equal each time, because rows come in the order of their key. */
export async function dayTotalsChecksums(db: Kysely<Database>): Promise<Map<number, string>> {
  const { rows } = await sql<Readonly<Record<string, number | null>> & { readonly month: number }>`
    select month, count(*) as days, sum(hours) as hours, sum(energy) as energy, sum(min) as min, sum(max) as max, sum(sum) as sum,
      sum(${sql.raw(exactly('min'))}) as "minExactly", sum(${sql.raw(exactly('max'))}) as "maxExactly",
      sum((${sql.raw(exactly('sum'))} + count) * (${sql.raw(PLACE)}) % ${sql.raw(String(PRIME))}) as "sumExactly"
    from _day group by month`.execute(db)
  return new Map(rows.map(({ month, ...totals }) => [month, sha256(JSON.stringify(totals)).slice(0, 16)]))
}

/**
 * The values that are larger than a limit, whatever their sign. Days narrow the search: a value lies at most a day and a half
 * from the midnight, in UTC, with which its day begins.
 */
export async function valuesBeyond(db: Kysely<Database>, limit: number): Promise<PlacedValue[]> {
  const { rows } = await sql<PlacedValue>`
    select distinct s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.geo_agg, o.geo_id, o.value, o.at
    from (
      select series_id, geo_id, unixepoch(printf('%04d-%02d-%02d', month / 12, month % 12 + 1, day)) as midnight
      from _day where max > ${limit} or min < ${-limit}
    ) d
    join series s on s.id = d.series_id
    cross join observation o on o.series_id = d.series_id and o.geo_id = d.geo_id
      and o.at between d.midnight - 129600 and d.midnight + 216000
    where abs(o.value) > ${limit}`.execute(db)
  return rows
}
