import { localeOrderSql } from '../../db/tables/sql/expressions.ts'
import {
  ANY_RANGE,
  IN_RANGE,
  MONTHS_IN_RANGE,
  NONE_IN_RANGE,
  type Recipe,
  type RecipeDefaults,
  rounded,
  SERIES_AND_GEO,
  SERIES_NEED,
  seriesParameters,
} from './recipe.ts'

/** The instant of `known-at`; default: the start of the day. */
const THEN = `coalesce(:at, strftime('%Y-%m-%dT00:00:00.000Z', 'now'))`

export const evidenceRecipes = ({ wellKnown: { spotPrice, demand } }: RecipeDefaults): readonly Recipe[] => [
  {
    name: 'known-at',
    question:
      'Which values have changed since an instant? Without :at, it is the start of today. Example: :at = 2025-11-03T18:00:00Z compares with that evening.',
    parameters: { ...seriesParameters(demand), at: null, ...ANY_RANGE },
    shown: { at: '2025-11-03T18:00:00.000Z' },
    needs: [SERIES_NEED],
    chart: { kind: 'line', x: 'at_local', y: ['known_then', 'known_now'] },
    sql: `select h.at_local, h.value as known_then, o.value as known_now, round(o.value - h.value, 2) as difference
from (
  select series_id, geo_id, at, at_local, value from observation_history
  where ${SERIES_AND_GEO} and valid_from <= ${THEN} and (valid_to is null or valid_to > ${THEN})
    and ${IN_RANGE}
) h
left join observation o on o.series_id = h.series_id and o.geo_id = h.geo_id and o.at = h.at
where o.value is distinct from h.value
order by h.at`,
    empty: { message: 'No value that was stored at that instant has changed.', isResult: true },
  },
  {
    name: 'revisions-by-age',
    question: "How many revisions are there, by series and the value's age in days when it was revised?",
    parameters: { indicator: null, ...ANY_RANGE },
    needs: [],
    chart: { kind: 'bars', x: 'age_days', y: ['revisions'], by: 'series_id' },
    sql: `select series_id, indicator_id, indicator_name, time_trunc, (unixepoch(valid_to) - at) / 86400 as age_days,
  count(*) as revisions, min(local_date) as first_day, max(local_date) as last_day
from observation_history
where valid_to is not null and (:indicator is null or indicator_id = :indicator)
  and ${IN_RANGE}
group by series_id, indicator_id, indicator_name, time_trunc, age_days order by indicator_id, time_trunc nulls first, series_id, age_days`,
    empty: { message: 'No value in this range has been revised.', isResult: true },
  },
  {
    name: 'completeness',
    question: 'How complete is a series each month? A month that overlaps the range counts as a whole.',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'bars', x: 'local_month', y: ['complete_percent'] },
    sql: `with months as (
  select series_id, local_month, count, hours from observations_monthly
  where ${SERIES_AND_GEO}
    and ${MONTHS_IN_RANGE}
), bounds as (
  select m.*, s.time_zone, unixepoch(local_month || '-01') as from_at, unixepoch(local_month || '-01', '+1 month') as to_at
  from months m join series s on s.id = m.series_id
), lengths as (
  select *, (to_at - (select offset_s from time_zone_offset z where z.zone = b.time_zone and z.from_at + z.offset_s <= b.to_at order by z.from_at desc limit 1)
    - from_at + (select offset_s from time_zone_offset z where z.zone = b.time_zone and z.from_at + z.offset_s <= b.from_at order by z.from_at desc limit 1)) / 3600.0 as hours_of_month
  from bounds b
)
select local_month, series_id, count as periods, ${rounded('coalesce(hours, 0)', 2)} as hours, hours_of_month,
  ${rounded('100 * coalesce(hours, 0) / hours_of_month', 1)} as complete_percent
from lengths order by local_month`,
    empty: NONE_IN_RANGE,
  },
  {
    name: 'clock-change-days',
    question: 'Which days have 23 or 25 hours?',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'bars', x: 'local_date', y: ['hours'] },
    sql: `with days as (
  select series_id, local_date, count(*) as periods, sum(step_s) / 3600.0 as hours, min(at) as first_at, max(at) as last_at, max(step_s) as step_s
  from observations
  where ${SERIES_AND_GEO} and value is not null
    and ${IN_RANGE}
  group by series_id, local_date
)
select d.local_date, d.periods, d.hours
from days d join series s on s.id = d.series_id
where (d.step_s between 80000 and 93000 and d.step_s <> 86400)
  or exists (select 1 from time_zone_offset z where z.zone = s.time_zone and z.from_at > d.first_at and z.from_at <= d.last_at)
order by d.local_date`,
    empty: { message: 'The stored values in this range include no clock change.', isResult: true },
  },
  {
    name: 'latest-news',
    question: 'What is the latest news?',
    parameters: { locale: null },
    needs: [],
    chart: null,
    sql: `select id, substr(published_at, 1, 10) as published, title, trim(substr(body_text, 1, 60)) as beginning, terms
from news where locale = coalesce(:locale, (select locale from news order by ${localeOrderSql('locale')} limit 1)) and withdrawn_at is null
order by published_at desc, id limit 10`,
    empty: {
      message: 'No news is stored in this language. A job fetches it: content: [{ kinds: [news] }].',
      isResult: false,
    },
  },
]
