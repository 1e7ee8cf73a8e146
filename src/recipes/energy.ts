import { ALWAYS, RANGE, type Recipe } from './recipe.ts'

/** The series as it came, without the service's own aggregation. */
const RAW = `series_id in (select id from series where kind = 'indicator' and time_trunc is null and geo_agg is null)`

export const ENERGY: readonly Recipe[] = [
  {
    name: 'monthly-energy',
    asks: 'How much energy did each technology deliver in each local month? Powers are weighted by how long they last, so a change of resolution changes nothing.',
    parameters: { indicators: '551,1295,546,549,550', ...ALWAYS },
    sql: `select local_month, indicator_id, indicator_name, round(energy) as mwh, round(avg) as average_mw, hours
from observations_monthly
where indicator_id in (select value from json_each('[' || :indicators || ']'))
  and (:from is null or local_month >= substr(:from, 1, 7)) and (:to is null or local_month < :to) and ${RAW}
order by local_month, mwh desc`,
  },
  {
    name: 'monthly-traded-energy',
    asks: 'How much energy was traded in each month, where the values are energies a period and the period became shorter on the way?',
    parameters: { indicator: 602, geo: 3, ...ALWAYS },
    sql: `select substr(local_date, 1, 7) as local_month, step_s, count(*) as periods, round(sum(value)) as mwh,
  round(sum(value) * 3600 / sum(step_s)) as average_mw
from observations
where indicator_id = :indicator and geo_id = :geo and ${RANGE} and ${RAW}
group by local_month, step_s order by local_month, step_s`,
  },
  {
    name: 'forecast-error',
    asks: 'How far was the forecast of demand from the real one, day by day?',
    parameters: { forecast: 544, real: 1293, geo: 8741, ...ALWAYS },
    sql: `with hourly as (
  select indicator_id, local_date, substr(at_utc, 1, 13) as hour, sum(value * step_s) / sum(step_s) as mw
  from observations
  where indicator_id in (:forecast, :real) and geo_id = :geo and value is not null and ${RANGE} and ${RAW}
  group by indicator_id, hour
)
select r.local_date, count(*) as hours, round(avg(r.mw)) as real_mw, round(avg(f.mw - r.mw)) as bias_mw,
  round(avg(abs(f.mw - r.mw))) as mean_error_mw, round(100 * avg(abs(f.mw - r.mw) / r.mw), 2) as mean_error_percent
from hourly r join hourly f on f.hour = r.hour and f.indicator_id = :forecast
where r.indicator_id = :real
group by r.local_date order by r.local_date`,
  },
  {
    name: 'residual-load',
    asks: 'What is left of the demand when wind and sun are taken off: on average, at the least and at the most, hour by hour of the local clock?',
    parameters: { demand: 1293, renewables: '551,1295', geo: 8741, ...ALWAYS },
    sql: `with hourly as (
  select indicator_id, substr(at_utc, 1, 13) as hour, substr(at_local, 12, 2) as local_hour, sum(value * step_s) / sum(step_s) as mw
  from observations
  where (indicator_id = :demand or indicator_id in (select value from json_each('[' || :renewables || ']')))
    and geo_id = :geo and value is not null and ${RANGE} and ${RAW}
  group by indicator_id, hour
), residual as (
  select hour, local_hour, sum(iif(indicator_id = :demand, mw, -mw)) as mw
  from hourly group by hour
  having count(*) = 1 + json_array_length('[' || :renewables || ']')
)
select local_hour, round(avg(mw)) as average_mw, round(min(mw)) as least_mw, round(max(mw)) as most_mw
from residual group by local_hour order by local_hour`,
  },
  {
    name: 'renewable-share',
    asks: 'Which share of the demand did some technologies meet, day by day?',
    parameters: { demand: 1293, renewables: '551,1295,546', geo: 8741, ...ALWAYS },
    sql: `select local_date,
  round(sum(iif(indicator_id = :demand, 0, energy))) as mwh,
  round(sum(iif(indicator_id = :demand, energy, 0))) as demand_mwh,
  round(100 * sum(iif(indicator_id = :demand, 0, energy)) / sum(iif(indicator_id = :demand, energy, 0)), 1) as percent
from observations_daily
where (indicator_id = :demand or indicator_id in (select value from json_each('[' || :renewables || ']')))
  and geo_id = :geo and ${RANGE} and ${RAW}
group by local_date having demand_mwh > 0 order by local_date`,
  },
]
