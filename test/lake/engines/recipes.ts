/* Five recipes over the lake, in SQL for DuckDB and Spark; `observations` is the view of docs/lake.md. */

const NATIVE = `kind = 'indicator' and time_trunc is null and geo_agg is null and value is not null`
const SPOT = `${NATIVE} and indicator_id = 600 and geo_id = 3`
const MONTH = 'substr(cast(local_date as string), 1, 7)'
const HOUR = `date_trunc('hour', at_utc)`
const MEAN = 'sum(value * step_s) / sum(step_s)'

/**
 * The statement of each recipe, by the name in the database, without the final rounding, which differs between engines.
 */
export const LAKE_RECIPES: Readonly<Record<string, string>> = {
  'daily-average': `select cast(local_date as string), count(*), ${MEAN}, min(value), max(value), min(unit)
from observations where ${SPOT}
group by local_date order by local_date`,
  'negative-price-hours': `select ${MONTH} as local_month, sum(case when value < 0 then step_s else 0 end) / 3600.0e0,
  sum(case when value = 0 then step_s else 0 end) / 3600.0e0, sum(step_s) / 3600.0e0
from observations where ${SPOT}
group by 1 order by 1`,
  'monthly-energy': `select ${MONTH} as local_month, s.indicator_id, s.name, sum(energy) as mwh, sum(energy) / sum(hours), sum(hours)
from day d join series s on s.series_id = d.series_id
where kind = 'indicator' and time_trunc is null and geo_agg is null and count > 0
  and indicator_id in (551, 1295, 546, 549, 550) and geo_id = 8741
group by 1, 2, 3 order by local_month, mwh desc, 2`,
  'capture-price': `with price as (
  select ${HOUR} as hour, min(local_date) as local_date, ${MEAN} as eur_mwh from observations where ${SPOT} group by 1
), made as (
  select ${HOUR} as hour, sum(value * step_s) / 3600 as mwh
  from observations where ${NATIVE} and indicator_id = 1295 and geo_id = 8741 group by 1
)
select ${MONTH} as local_month, sum(mwh), sum(eur_mwh * mwh) / sum(mwh), avg(eur_mwh),
  case when avg(eur_mwh) > 0 then 100 * sum(eur_mwh * mwh) / sum(mwh) / avg(eur_mwh) end
from price join made on price.hour = made.hour
group by 1 order by 1`,
  'renewable-share': `with hourly as (
  select indicator_id, min(local_date) as local_date, ${HOUR} as hour, ${MEAN} as mw
  from observations where ${NATIVE} and indicator_id in (1293, 551, 1295, 546) and geo_id = 8741
  group by indicator_id, ${HOUR}
), whole as (
  select min(local_date) as local_date, sum(case when indicator_id = 1293 then 0 else mw end) as renewable,
    sum(case when indicator_id = 1293 then mw else 0 end) as demand
  from hourly group by hour having count(*) = 4
)
select cast(local_date as string), count(*), sum(renewable), sum(demand), 100 * sum(renewable) / sum(demand)
from whole group by local_date order by local_date`,
}
