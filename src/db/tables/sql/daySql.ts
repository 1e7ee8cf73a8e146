/* Daily totals from values, and their comparison, in SQL for both databases. */

/** Days from 1 March of the year 0 to 1970: counted from there, no date is negative. */
const SHIFT = 719_468
/** The day of a local time, written as if it were UTC, in days since 1970. */
const dayNumberSql = (local: string): string => `(${local} + ${SHIFT * 86_400}) / 86400 - ${SHIFT}`
/** The part of an offset `z` in the day `d`. */
const BEGINS = 'max(z.from_at, d.day * 86400 - z.offset_s)'
const ENDS = 'min(z.to_at, d.day * 86400 + 86400 - z.offset_s)'

/**
 * The rows of `_day` of a series and geo, computed from all values. The outer loop runs over the offsets of the zone, so that no
 * value looks up its own; `changed` has the true start and length of the days with a clock change.
 */
export const dayTotals = (series: number, geo: number): string => `with clock as materialized (
    select z.zone, z.from_at, z.to_at, z.offset_s from series s join time_zone_offset z on z.zone = s.time_zone
    where s.id = ${series} and z.to_at + 172800 > (select min(at) from observation where series_id = ${series} and geo_id = ${geo})
      and z.from_at - 172800 <= (select max(at) from observation where series_id = ${series} and geo_id = ${geo})
  ), changed (day, from_at, to_at, seconds) as materialized (
    select d.day, min(${BEGINS}), max(${ENDS}), sum(${ENDS} - ${BEGINS})
    from (
      select distinct c.zone, ${dayNumberSql('c.from_at + c.offset_s')} + n.value as day from clock c, json_each('[-1, 0, 1]') n
    ) d
    join time_zone_offset z on z.zone = d.zone and z.from_at < (d.day + 2) * 86400 and z.from_at >= ifnull(
      (select max(p.from_at) from time_zone_offset p where p.zone = d.zone and p.from_at <= (d.day - 1) * 86400), z.from_at)
    where ${BEGINS} < ${ENDS}
    group by d.day
  ), total as (
    select ${dayNumberSql('o.at + c.offset_s')} as day, min(c.offset_s) as offset_s, count(o.value) as count, min(o.value) as min, max(o.value) as max,
      sum(o.value) as sum, sum(o.value * o.step_s) / 3600 as energy, sum(iif(o.value is null, null, o.step_s)) as seconds,
      min(iif(o.value is null, null, o.step_s)) as least, max(iif(o.value is null, null, o.step_s)) as most,
      min(o.step_s) as shortest, min(iif(o.value is null, null, o.at)) as first_at, max(iif(o.value is null, null, o.at)) as last_at
    from clock c cross join observation o where o.series_id = ${series} and o.geo_id = ${geo} and o.at >= c.from_at and o.at < c.to_at
    group by 1
  )
  select ${series} as series_id, ${geo} as geo_id,
    strftime('%Y', t.day * 86400, 'unixepoch') * 12 + strftime('%m', t.day * 86400, 'unixepoch') - 1 as month,
    strftime('%d', t.day * 86400, 'unixepoch') + 0 as day,
    t.count, cast(t.seconds as double precision) / 3600 as hours, t.min, t.max, t.sum, iif(t.least = t.most, null, t.energy) as energy,
    t.first_at - coalesce(d.from_at, t.day * 86400 - t.offset_s) as first_s,
    coalesce(d.to_at, t.day * 86400 + 86400 - t.offset_s) - t.last_at as last_s,
    iif(t.shortest < coalesce(d.seconds, 86400),
      cast(max(0, round(cast(coalesce(d.seconds, 86400) - coalesce(t.seconds, 0) as double precision) / t.shortest, 0)) as integer), 0) as missing
  from total t left join changed d on d.day = t.day`

/** The largest rounding error of a sum in any order of its values. */
const ROUNDING = '1e-12 * m.count * max(abs(m.min), abs(m.max))'
const EXACT_COLUMNS = ['count', 'hours', 'min', 'max', 'first_s', 'last_s', 'missing']

/** The days of a series and geo whose stored totals differ from their values. */
export const differentDaySql = (
  series: number,
  geo: number,
): string => `select printf('%04d-%02d-%02d', month / 12, month % 12 + 1, day) as date from (
    select coalesce(m.month, h.month) as month, coalesce(m.day, h.day) as day
    from (${dayTotals(series, geo)}) m
    full join (select * from _day where series_id = ${series} and geo_id = ${geo}) h on h.month = m.month and h.day = m.day
    where ${EXACT_COLUMNS.map((column) => `m.${column} is distinct from h.${column}`).join(' or ')}
      or (m.energy is null) <> (h.energy is null) or abs(m.sum - h.sum) > ${ROUNDING} or abs(m.energy - h.energy) > 25 * ${ROUNDING}
  ) different order by date`
