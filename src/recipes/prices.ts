import { ALWAYS, RANGE, type Recipe } from './recipe.ts'

const SPOT = { indicator: 600, geo: 3, ...ALWAYS } as const

export const PRICES: readonly Recipe[] = [
  {
    name: 'daily-average',
    asks: 'What was the average, the lowest and the highest value of each local day?',
    parameters: SPOT,
    sql: `select local_date, count as periods, round(avg, 2) as average, round(min, 2) as lowest, round(max, 2) as highest
from observations_daily
where indicator_id = :indicator and geo_id = :geo and ${RANGE}
order by local_date`,
  },
  {
    name: 'price-duration-curve',
    asks: 'In which share of the time was the price at least so high?',
    parameters: SPOT,
    sql: `select cast(round(100 * share) as integer) as percent_of_time, min(value) as at_least
from (
  select value, ceil(20 * sum(step_s) over (order by value desc rows unbounded preceding) / sum(step_s * 1.0) over ()) / 20 as share
  from observations
  where indicator_id = :indicator and geo_id = :geo and value is not null and ${RANGE}
)
group by share order by share`,
  },
  {
    name: 'negative-price-hours',
    asks: 'How many hours of each month were free, or paid for consumption?',
    parameters: SPOT,
    sql: `select substr(local_date, 1, 7) as local_month,
  sum(iif(value < 0, step_s, 0)) / 3600.0 as hours_below_zero,
  sum(iif(value = 0, step_s, 0)) / 3600.0 as hours_at_zero,
  sum(step_s) / 3600.0 as hours
from observations
where indicator_id = :indicator and geo_id = :geo and ${RANGE}
group by 1 order by 1`,
  },
  {
    name: 'capture-price',
    asks: 'What did a technology earn for a megawatt-hour, and what share of the average price is that?',
    parameters: { ...SPOT, generation: 1295, generation_geo: 8741 },
    sql: `with price as (
  select substr(at_utc, 1, 13) as hour, local_date, sum(value * step_s) / sum(step_s) as eur_mwh
  from observations
  where indicator_id = :indicator and geo_id = :geo and value is not null and ${RANGE}
  group by hour
), made as (
  select substr(at_utc, 1, 13) as hour, sum(value * step_s) / 3600 as mwh
  from observations
  where indicator_id = :generation and geo_id = :generation_geo and value is not null and ${RANGE}
    and series_id = (select min(id) from series where kind = 'indicator' and indicator_id = :generation and time_trunc is null)
  group by hour
)
select substr(local_date, 1, 7) as local_month, round(sum(mwh)) as mwh,
  round(sum(eur_mwh * mwh) / sum(mwh), 2) as capture_price, round(avg(eur_mwh), 2) as average_price,
  round(100 * sum(eur_mwh * mwh) / sum(mwh) / avg(eur_mwh), 1) as percent
from price join made using (hour)
group by 1 order by 1`,
  },
  {
    name: 'session-spread',
    asks: 'How far apart were two sessions of the market, day by day?',
    parameters: { ...SPOT, other: 612 },
    sql: `with hourly as (
  select indicator_id, local_date, substr(at_utc, 1, 13) as hour, sum(value * step_s) / sum(step_s) as value
  from observations
  where indicator_id in (:indicator, :other) and geo_id = :geo and value is not null and ${RANGE}
  group by indicator_id, hour
)
select a.local_date, count(*) as hours, round(avg(b.value - a.value), 2) as mean_spread,
  round(avg(abs(b.value - a.value)), 2) as mean_distance, round(max(abs(b.value - a.value)), 2) as widest
from hourly a join hourly b on b.hour = a.hour and b.indicator_id = :other
where a.indicator_id = :indicator
group by a.local_date order by a.local_date`,
  },
  {
    name: 'daily-profile',
    asks: 'How does an ordinary day look, hour by hour of the local clock, on weekdays and at weekends?',
    parameters: SPOT,
    sql: `select substr(at_local, 12, 2) as local_hour,
  round(avg(iif(strftime('%w', local_date) between '1' and '5', value, null)), 2) as weekday,
  round(avg(iif(strftime('%w', local_date) in ('0', '6'), value, null)), 2) as weekend
from observations
where indicator_id = :indicator and geo_id = :geo and ${RANGE}
group by 1 order by 1`,
  },
  {
    name: 'battery-spread',
    asks: 'What could a battery earn that charges in the cheapest hours of a day and sells in the dearest?',
    parameters: { ...SPOT, hours: 4 },
    sql: `with hourly as (
  select local_date, substr(at_utc, 1, 13) as hour, sum(value * step_s) / sum(step_s) as value
  from observations
  where indicator_id = :indicator and geo_id = :geo and value is not null and ${RANGE}
  group by hour
), ranked as (
  select local_date, value, row_number() over (partition by local_date order by value) as low,
    row_number() over (partition by local_date order by value desc) as high
  from hourly
)
select local_date, round(avg(iif(low <= :hours, value, null)), 2) as buys_at,
  round(avg(iif(high <= :hours, value, null)), 2) as sells_at,
  round(avg(iif(high <= :hours, value, null)) - avg(iif(low <= :hours, value, null)), 2) as spread
from ranked group by local_date order by local_date`,
  },
]
