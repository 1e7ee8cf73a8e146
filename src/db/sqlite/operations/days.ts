import { type Kysely, sql } from 'kysely'
import { sha256 } from '../../../util/checksum.ts'
import type { DayTotals, GeoDay } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import type { Prepare } from '../connection.ts'

const DAYS_PER_STATEMENT = 64

/** The upserts by number of days. Days share the parameters of all columns except their values. */
const UPSERTS = Array.from({ length: DAYS_PER_STATEMENT + 1 }, (_, days) =>
  days === 0
    ? ''
    : `insert into _day (series_id, geo_id, month, day, min, max, sum, count, hours, energy, first_s, last_s, missing, step_s, offset_s, strays)
   values ${Array.from({ length: days }, () => '(:series, ?, ?, ?, ?, ?, ?, :count, :hours, :energy, :first, :last, :missing, :step, :offset, :strays)')}
   on conflict (series_id, geo_id, month, day) do update
   set count = excluded.count, hours = excluded.hours, min = excluded.min, max = excluded.max, sum = excluded.sum,
     energy = excluded.energy, first_s = excluded.first_s, last_s = excluded.last_s, missing = excluded.missing,
     step_s = excluded.step_s, offset_s = excluded.offset_s, strays = excluded.strays
   where count <> excluded.count or sum is not excluded.sum or min is not excluded.min or max is not excluded.max
     or hours is not excluded.hours or energy is not excluded.energy or first_s is not excluded.first_s
     or last_s is not excluded.last_s or missing <> excluded.missing
     or step_s is not excluded.step_s or offset_s is not excluded.offset_s or strays is not excluded.strays`,
)

/** Whether two days differ only in their values. */
const areSameButValues = (a: DayTotals, b: DayTotals): boolean =>
  a.count === b.count &&
  a.hours === b.hours &&
  a.firstS === b.firstS &&
  a.lastS === b.lastS &&
  a.missing === b.missing &&
  a.step === b.step &&
  a.offset === b.offset &&
  a.strays === b.strays &&
  a.energy === null &&
  b.energy === null

export function upsertDays(prepare: Prepare, seriesId: number, days: readonly GeoDay[]): void {
  for (let first = 0, end = 0; first < days.length; first = end) {
    const [, , common] = days[first]!
    const { count, hours, energy, firstS, lastS, missing, step, offset, strays } = common
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
      step,
      offset,
      strays,
    })
  }
}

/** A prime: remainders by it are added without an overflow. */
const PRIME = 2_147_483_647
/** A number as integer and fraction, to 2^-52: in one double, a cent beside 1e16 would vanish. */
const exactly = (column: string): string =>
  `cast(${column} as integer) % ${PRIME} + cast((${column} - cast(${column} as integer)) * 4503599627370496.0 as integer) % ${PRIME}`
/** A number of the day, series and geo of a total. */
const PLACE = '(series_id * 40503 + geo_id * 31 + day) % 65521'

/** A checksum of the daily totals of every month. Sums of doubles are reproducible, because rows come in the order of their key. */
export async function computeDayChecksums(db: Kysely<Database>): Promise<Map<number, string>> {
  const { rows } = await sql<Readonly<Record<string, number | null>> & { readonly month: number }>`
    select month, count(*) as days, sum(hours) as hours, sum(energy) as energy, sum(min) as min, sum(max) as max, sum(sum) as sum,
      sum(${sql.raw(exactly('min'))}) as "minExactly", sum(${sql.raw(exactly('max'))}) as "maxExactly",
      sum((${sql.raw(exactly('sum'))} + count) * (${sql.raw(PLACE)}) % ${sql.raw(String(PRIME))}) as "sumExactly"
    from _day group by month`.execute(db)
  return new Map(rows.map(({ month, ...totals }) => [month, sha256(JSON.stringify(totals)).slice(0, 16)]))
}
