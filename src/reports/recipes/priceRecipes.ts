import { localeOrderSql } from '../../db/tables/sql/expressions.ts'
import {
  ANY_RANGE,
  DAY_RANGE,
  HOURS_IN_RANGE,
  IN_RANGE,
  NATIVE_SERIES,
  NEAR_RANGE,
  NONE_IN_RANGE,
  type Recipe,
  type RecipeDefaults,
  rounded,
  SERIES_AND_GEO,
  SERIES_NEED,
  seriesParameters,
  WEIGHTED_MEAN,
} from './recipe.ts'

const HOURLY = { ...SERIES_NEED, hourly: true } as const

export const priceRecipes = ({
  wellKnown: { spotPrice, sessionPrice, solar, canaryPrice, demand },
}: RecipeDefaults): readonly Recipe[] => [
  {
    name: 'daily-average',
    question: 'What were the average, minimum and maximum of each local day?',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'line', x: 'local_date', y: ['average', 'minimum', 'maximum'], unit: 'unit' },
    sql: `select local_date, count(*) as periods, ${rounded(WEIGHTED_MEAN, 2)} as average, round(min(value), 2) as minimum, round(max(value), 2) as maximum, min(unit) as unit
from observations
where ${SERIES_AND_GEO} and value is not null
  and ${IN_RANGE}
group by local_date order by local_date`,
    empty: NONE_IN_RANGE,
  },
  {
    name: 'price-duration-curve',
    question: 'Which price was reached or exceeded during 5, 10, … 100 percent of the time?',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'line', x: 'percent_of_time', y: ['price'] },
    sql: `with recursive share(percent) as (
  select 5 union all select percent + 5 from share where percent < 100
), ranked as (
  select value, sum(step_s) over (order by value desc rows unbounded preceding) as cumulative_s, sum(step_s) over () as total_s
  from observations
  where ${SERIES_AND_GEO} and value is not null
    and ${IN_RANGE}
)
select percent as percent_of_time, max(value) as price
from ranked join share on 100 * cumulative_s >= percent * total_s
group by percent order by percent`,
    empty: NONE_IN_RANGE,
  },
  {
    name: 'negative-price-hours',
    question: 'How many hours per month had zero or negative prices?',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'bars', x: 'local_month', y: ['hours_below_zero', 'hours_at_zero'] },
    sql: `select substr(local_date, 1, 7) as local_month,
  sum(iif(value < 0, step_s, 0)) / 3600.0 as hours_below_zero,
  sum(iif(value = 0, step_s, 0)) / 3600.0 as hours_at_zero,
  sum(step_s) / 3600.0 as hours
from observations
where ${SERIES_AND_GEO} and value is not null
  and ${IN_RANGE}
group by 1 order by 1`,
    empty: NONE_IN_RANGE,
  },
  {
    name: 'capture-price',
    question: 'What was the capture price of a technology, by hour, also in percent of the average price?',
    parameters: {
      ...seriesParameters(spotPrice),
      ...ANY_RANGE,
      generation: solar.indicator,
      generation_geo: solar.geo,
    },
    needs: [HOURLY, { indicator: 'generation', geo: 'generation_geo', hourly: true }],
    chart: { kind: 'bars', x: 'local_month', y: ['capture_price', 'average_price'] },
    sql: `with price as (
  select at, local_date, avg as eur_mwh
  from observations_hourly
  where ${SERIES_AND_GEO} and avg is not null
    and ${HOURS_IN_RANGE}
), generation as (
  select at, energy as mwh
  from observations_hourly
  where ${NATIVE_SERIES} and indicator_id = :generation and geo_id = :generation_geo and energy is not null
    and ${HOURS_IN_RANGE}
)
select substr(local_date, 1, 7) as local_month, ${rounded('sum(mwh)')} as mwh,
  ${rounded('sum(eur_mwh * mwh) / nullif(sum(mwh), 0)', 2)} as capture_price, ${rounded('avg(eur_mwh)', 2)} as average_price,
  iif(round(avg(eur_mwh), 6) > 0, ${rounded('100 * sum(eur_mwh * mwh) / nullif(sum(mwh), 0) / avg(eur_mwh)', 1)}, null) as capture_percent
from price join generation using (at)
group by 1 order by 1`,
    empty: { message: 'The price and the generation have no common hour in this range.', isResult: false },
  },
  {
    name: 'load-weighted-price',
    question:
      'What was the average price each month, weighted by demand? With --param weight=ID, by the energy or values of another indicator.',
    parameters: {
      ...seriesParameters(spotPrice),
      ...ANY_RANGE,
      weight: demand.indicator,
      weight_geo: demand.geo,
    },
    needs: [HOURLY, { indicator: 'weight', geo: 'weight_geo', hourly: true }],
    chart: { kind: 'line', x: 'local_month', y: ['weighted_price', 'average_price'] },
    sql: `with price as (
  select at, local_date, avg as price
  from observations_hourly
  where ${SERIES_AND_GEO} and avg is not null
    and ${HOURS_IN_RANGE}
), volume as (
  select at, coalesce(energy, avg) as weight
  from observations_hourly
  where ${NATIVE_SERIES} and indicator_id = :weight and geo_id = :weight_geo and avg is not null
    and ${HOURS_IN_RANGE}
)
select substr(local_date, 1, 7) as local_month, count(*) as hours, ${rounded('sum(weight)')} as weight,
  ${rounded('sum(price * weight) / nullif(sum(weight), 0)', 2)} as weighted_price, ${rounded('avg(price)', 2)} as average_price,
  ${rounded('sum(price * weight) / nullif(sum(weight), 0) - avg(price)', 2)} as difference
from price join volume using (at)
group by 1 order by 1`,
    empty: { message: 'The price and the weight have no common hour in this range.', isResult: false },
  },
  {
    name: 'year-on-year',
    question:
      'How did the average of each month change against the year before? Both averages are of the days with values in both years.',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'bars', x: 'local_month', y: ['average', 'year_before'], unit: 'unit' },
    sql: `with days as (
  select at, local_date, cast(substr(local_date, 1, 4) as integer) as local_year, substr(local_date, 6, 5) as day, avg, hours, unit
  from observations_daily
  where ${SERIES_AND_GEO} and avg is not null
), pairs as (
  select d.at, d.local_date, d.avg, d.hours, d.unit, b.avg as avg_before, b.hours as hours_before
  from days d join days b on b.local_year = d.local_year - 1 and b.day = d.day
)
select substr(local_date, 1, 7) as local_month, count(*) as days, ${rounded('sum(avg * hours) / sum(hours)', 2)} as average,
  ${rounded('sum(avg_before * hours_before) / sum(hours_before)', 2)} as year_before,
  ${rounded('sum(avg * hours) / sum(hours) - sum(avg_before * hours_before) / sum(hours_before)', 2)} as change,
  iif(round(sum(avg_before * hours_before), 6) > 0, ${rounded('100 * (sum(avg * hours) / sum(hours)) / (sum(avg_before * hours_before) / sum(hours_before)) - 100', 1)}, null) as change_percent,
  min(unit) as unit
from pairs
where true
  and ${DAY_RANGE}
group by 1 order by 1`,
    empty: { message: 'No stored day in this range has a counterpart a year before.', isResult: true },
  },
  {
    name: 'spikes',
    question:
      'On which days was the highest or lowest value unusual, and what was the news of these days? Unusual is more than :deviations standard deviations from the mean of the extremes of the 30 days with values before, at least 7.',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE, deviations: 3 },
    needs: [SERIES_NEED],
    chart: { kind: 'bars', x: 'local_date', y: ['value'], by: 'kind', unit: 'unit' },
    sql: `with extremes as (
  select at, local_date, 'high' as kind, max as extreme, unit
  from observations_daily
  where ${SERIES_AND_GEO} and max is not null
  union all
  select at, local_date, 'low' as kind, min as extreme, unit
  from observations_daily
  where ${SERIES_AND_GEO} and min is not null
), compared as (
  select at, local_date, kind, extreme, unit, count(*) over before as days, avg(extreme) over before as usual,
    avg(extreme * extreme) over before - avg(extreme) over before * avg(extreme) over before as variance
  from extremes
  window before as (partition by kind order by at rows between 30 preceding and 1 preceding)
), spikes as (
  select at, local_date, kind, extreme, unit, usual, (extreme - usual) / sqrt(variance) as deviation
  from compared
  where days >= 7 and variance > 0.000001
)
select local_date, kind, round(extreme, 2) as value, round(usual, 2) as usual, round(deviation, 1) as deviations, unit,
  (select group_concat(n.title, '; ') from (
    select title from news
    where substr(published_at, 1, 10) = substr(s.local_date, 1, 10) and withdrawn_at is null
      and locale = (select locale from news order by ${localeOrderSql('locale')} limit 1)
    order by id
  ) n) as news
from spikes s
where iif(kind = 'high', deviation, -deviation) > :deviations
  and ${DAY_RANGE}
order by local_date, kind`,
    empty: { message: 'No day in this range had an unusual extreme.', isResult: true },
  },
  {
    name: 'session-spread',
    question: 'By how much did the price of session :other exceed that of :indicator each day?',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE, other: sessionPrice.indicator },
    needs: [HOURLY, { indicator: 'other', geo: 'geo', hourly: true }],
    chart: { kind: 'line', x: 'local_date', y: ['mean_spread', 'mean_abs_spread'] },
    sql: `with session_a as (
  select local_date, at, value
  from observations_hourly
  where ${SERIES_AND_GEO} and value is not null
    and ${HOURS_IN_RANGE}
), session_b as (
  select at, value
  from observations_hourly
  where ${NATIVE_SERIES} and indicator_id = :other and geo_id = :geo and value is not null
    and ${HOURS_IN_RANGE}
)
select session_a.local_date, count(*) as hours, ${rounded('avg(session_b.value - session_a.value)', 2)} as mean_spread,
  ${rounded('avg(abs(session_b.value - session_a.value))', 2)} as mean_abs_spread, round(max(abs(session_b.value - session_a.value)), 2) as max_abs_spread
from session_a join session_b using (at)
group by session_a.local_date order by session_a.local_date`,
    empty: { message: 'The two sessions have no common hour in this range.', isResult: false },
  },
  {
    name: 'daily-profile',
    question: 'What is the average value by local hour, on weekdays and at weekends?',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE },
    needs: [HOURLY],
    chart: { kind: 'line', x: 'local_hour', y: ['weekday', 'weekend'] },
    sql: `with hours as (
  select substr(at_local, 12, 2) as local_hour, strftime('%w', local_date) in ('0', '6') as weekend, value, step_s
  from observations
  where ${SERIES_AND_GEO} and value is not null
    and ${IN_RANGE}
)
select local_hour,
  ${rounded('sum(iif(weekend, 0, value * step_s)) / nullif(sum(iif(weekend, 0, step_s)), 0)', 2)} as weekday,
  ${rounded('sum(iif(weekend, value * step_s, 0)) / nullif(sum(iif(weekend, step_s, 0)), 0)', 2)} as weekend
from hours
group by local_hour order by local_hour`,
    empty: NONE_IN_RANGE,
  },
  {
    name: 'by-canary-hour',
    question:
      'What was the price in each hour of the Canary Islands? Their clock is an hour behind the mainland, whose time the service writes; the range is Canary days.',
    parameters: { ...seriesParameters(canaryPrice), ...ANY_RANGE },
    needs: [HOURLY],
    chart: { kind: 'line', x: 'canary_time', y: ['price'], unit: 'unit' },
    sql: `with periods as (
  select at, strftime('%Y-%m-%d %H', unixepoch(substr(at_local, 1, 19)) - 3600, 'unixepoch') as canary, substr(at_local, 12, 2) as mainland_hour, value, step_s, unit
  from observations
  where ${SERIES_AND_GEO} and value is not null
    and ${NEAR_RANGE}
), hours as (
  select at, at / 3600 as hour_number, substr(canary, 1, 10) as local_date, substr(canary, 12, 2) as canary_hour, mainland_hour, value, step_s, unit
  from periods
)
select local_date as canary_date, canary_hour, mainland_hour, ${rounded(WEIGHTED_MEAN, 2)} as price, min(unit) as unit,
  local_date || ' ' || canary_hour || ':00' as canary_time
from hours
where true
  and ${DAY_RANGE}
group by hour_number, local_date, canary_hour, mainland_hour order by hour_number`,
    empty: NONE_IN_RANGE,
  },
  {
    name: 'battery-spread',
    question:
      'By how much do the dearest hours of each day exceed the cheapest? Trading whole hours, a battery with one cycle a day earns at most that per MWh.',
    parameters: { ...seriesParameters(spotPrice), ...ANY_RANGE, hours: 4 },
    needs: [HOURLY],
    chart: { kind: 'line', x: 'local_date', y: ['buy_price', 'sell_price', 'spread'] },
    sql: `with hourly as (
  select local_date, avg as value
  from observations_hourly
  where ${SERIES_AND_GEO} and avg is not null
    and ${HOURS_IN_RANGE}
), ranked as (
  select local_date, value, row_number() over (partition by local_date order by value) as cheap_rank,
    row_number() over (partition by local_date order by value desc) as expensive_rank
  from hourly
)
select local_date, ${rounded('avg(iif(cheap_rank <= :hours, value, null))', 2)} as buy_price,
  ${rounded('avg(iif(expensive_rank <= :hours, value, null))', 2)} as sell_price,
  ${rounded('avg(iif(expensive_rank <= :hours, value, null)) - avg(iif(cheap_rank <= :hours, value, null))', 2)} as spread
from ranked group by local_date order by local_date`,
    empty: NONE_IN_RANGE,
  },
]
