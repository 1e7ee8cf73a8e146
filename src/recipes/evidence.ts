import { ALWAYS, RANGE, type Recipe } from './recipe.ts'

export const EVIDENCE: readonly Recipe[] = [
  {
    name: 'known-at',
    asks: 'What was known of a series at an instant, against what is known now?',
    parameters: { indicator: 1293, geo: 8741, at: '2025-11-03T18:00:00.000Z', ...ALWAYS },
    sql: `select h.at_local, h.value as known_then, o.value as known_now, round(o.value - h.value, 2) as difference
from observation_history h
left join observation o on o.series_id = h.series_id and o.geo_id = h.geo_id and o.at = unixepoch(h.at_utc)
where h.indicator_id = :indicator and h.geo_id = :geo and h.valid_from <= :at and (h.valid_to is null or h.valid_to > :at)
  and (:from is null or h.local_date >= :from) and (:to is null or h.local_date < :to) and o.value is not h.value
order by h.at_utc`,
  },
  {
    name: 'revisions-by-age',
    asks: 'How often are values revised, by series and by the days that had passed since?',
    parameters: ALWAYS,
    sql: `select indicator_id, indicator_name, cast(julianday(valid_to) - julianday(at_utc) as integer) as days_after,
  count(*) as revised, min(local_date) as first_day, max(local_date) as last_day
from observation_history
where valid_to is not null and ${RANGE}
group by series_id, days_after order by indicator_id, series_id, days_after`,
  },
  {
    name: 'completeness',
    asks: 'How complete is a series, month by month? Clock changes count: a March has 743 hours, an October 745.',
    parameters: { indicator: 600, geo: 3 },
    sql: `with held as (
  select series_id, geo_id, local_month, count, hours from observations_monthly
  where indicator_id = :indicator and geo_id = :geo
), bounds as (
  select h.*, s.time_zone, unixepoch(local_month || '-01') as from_at, unixepoch(local_month || '-01', '+1 month') as to_at
  from held h join series s on s.id = h.series_id
), lengths as (
  select *, (to_at - (select offset_s from time_zone_offset z where z.zone = b.time_zone and z.from_at + z.offset_s <= b.to_at order by z.from_at desc limit 1)
    - from_at + (select offset_s from time_zone_offset z where z.zone = b.time_zone and z.from_at + z.offset_s <= b.from_at order by z.from_at desc limit 1)) / 3600.0 as hours_of_month
  from bounds b
)
select local_month, series_id, count as periods, hours, hours_of_month, round(100 * hours / hours_of_month, 1) as percent
from lengths order by series_id, local_month`,
  },
  {
    name: 'clock-change-days',
    asks: 'Which days of a series have 23 or 25 hours?',
    parameters: { indicator: 600, geo: 3, ...ALWAYS },
    sql: `select local_date, count as periods, hours
from observations_daily
where indicator_id = :indicator and geo_id = :geo and hours <> 24 and ${RANGE}
order by local_date`,
  },
  {
    name: 'holes',
    asks: 'What is missing inside the ranges that were asked for, and why?',
    parameters: {},
    sql: `select indicator_id, geo_id, from_local, to_local, reason, missing
from gaps order by indicator_id, geo_id, from_local`,
  },
  {
    name: 'reach',
    asks: 'How far does every series reach, and when was it last asked?',
    parameters: {},
    sql: `select indicator_id, geo_name, first_utc, last_utc, checked_at
from freshness order by last_utc, indicator_id, geo_id`,
  },
]
