import type { WellKnownSeries } from '../../service/wellKnown.ts'
import {
  ANY_RANGE,
  DAY_RANGE,
  HOURS_IN_RANGE,
  IN_RANGE,
  NATIVE_SERIES,
  type Recipe,
  type RecipeDefaults,
  rounded,
  SERIES_AND_GEO,
  SERIES_NEED,
  seriesParameters,
} from './recipe.ts'

/** Joins indicators to a list for a parameter; null if one is unknown. */
const joinIds = (...series: readonly WellKnownSeries[]): string | null =>
  series.some(({ indicator }) => indicator === null) ? null : series.map(({ indicator }) => indicator).join(',')

const inList = (parameter: string): string =>
  `indicator_id in (select value from json_each('[' || :${parameter} || ']'))`

export const energyRecipes = ({
  wellKnown: { tradedEnergy, demand, demandForecast, wind, solar, hydro, nuclear, combinedCycle },
}: RecipeDefaults): readonly Recipe[] => [
  {
    name: 'monthly-energy',
    question:
      'How much energy did each technology generate per month? Only for indicators of power or energy; a local day counts if it starts in the range.',
    parameters: { indicators: joinIds(wind, solar, hydro, nuclear, combinedCycle), geo: wind.geo, ...ANY_RANGE },
    needs: [{ indicator: 'indicators', geo: 'geo' }],
    chart: { kind: 'bars', x: 'local_month', y: ['mwh'], by: 'indicator_name' },
    sql: `select substr(local_date, 1, 7) as local_month, indicator_id, indicator_name, ${rounded('sum(energy)')} as mwh,
  ${rounded('sum(energy) / sum(hours)')} as average_mw, ${rounded('sum(hours)', 2)} as hours
from observations_daily
where ${NATIVE_SERIES} and ${inList('indicators')} and geo_id = :geo and energy is not null
  and ${DAY_RANGE}
group by local_month, indicator_id, indicator_name order by local_month, mwh desc, indicator_id`,
    empty: {
      message:
        'No energy in this range: a local day counts if it starts in the range, and only power and energy have energy.',
      isResult: false,
    },
  },
  {
    name: 'monthly-traded-energy',
    question: 'How much energy was traded per month, by length of the period?',
    parameters: { ...seriesParameters(tradedEnergy), ...ANY_RANGE },
    needs: [SERIES_NEED],
    chart: { kind: 'bars', x: 'local_month', y: ['mwh'], by: 'step_s' },
    sql: `select substr(local_date, 1, 7) as local_month, step_s, count(*) as periods, ${rounded('sum(value)')} as mwh,
  ${rounded('sum(value) * 3600 / sum(step_s)')} as average_mw
from observations
where ${SERIES_AND_GEO} and value is not null
  and ${IN_RANGE}
group by local_month, step_s order by local_month, step_s desc`,
    empty: { message: 'No local day with values starts in this range; the recipe counts whole days.', isResult: false },
  },
  {
    name: 'forecast-error',
    question:
      'How accurate was a forecast each day: bias, mean absolute error, root mean square error? Any two indicators in one unit.',
    parameters: { forecast: demandForecast.indicator, real: demand.indicator, geo: demand.geo, ...ANY_RANGE },
    needs: [
      { indicator: 'forecast', geo: 'geo', hourly: true },
      { indicator: 'real', geo: 'geo', hourly: true },
    ],
    chart: { kind: 'line', x: 'local_date', y: ['bias', 'mae', 'rmse'], unit: 'unit' },
    sql: `with hourly as (
  select indicator_id, local_date, at, value, unit
  from observations_hourly
  where ${NATIVE_SERIES} and indicator_id in (:forecast, :real) and geo_id = :geo and value is not null
    and ${HOURS_IN_RANGE}
)
select r.local_date, count(*) as hours, ${rounded('avg(r.value)', 2)} as actual, ${rounded('avg(f.value - r.value)', 2)} as bias,
  ${rounded('avg(abs(f.value - r.value))', 2)} as mae, ${rounded('sqrt(avg((f.value - r.value) * (f.value - r.value)))', 2)} as rmse,
  ${rounded('100 * avg(abs((f.value - r.value) / nullif(r.value, 0)))', 2)} as mape_percent, min(r.unit) as unit
from hourly r join hourly f on f.at = r.at and f.indicator_id = :forecast
where r.indicator_id = :real
group by r.local_date order by r.local_date`,
    empty: { message: 'The forecast and the real values have no common hour in this range.', isResult: false },
  },
  {
    name: 'residual-load',
    question: 'What is the residual load (demand minus wind and solar) by local hour?',
    parameters: { demand: demand.indicator, renewables: joinIds(wind, solar), geo: demand.geo, ...ANY_RANGE },
    needs: [
      { indicator: 'demand', geo: 'geo', hourly: true },
      { indicator: 'renewables', geo: 'geo', hourly: true },
    ],
    chart: { kind: 'line', x: 'local_hour', y: ['average_mw', 'min_mw', 'max_mw'] },
    // Whole hours from the values: five times as fast as the view of hours, and their local time is looked up once.
    sql: `with hourly as (
  select indicator_id, at - at % 3600 as hour,
    max(iif(indicator_id = :demand and at % 3600 = 0, substr(at_local, 12, 2), null)) as local_hour,
    iif(max(iif(at % 3600 = 0, unit, null)) = 'MWh', sum(value), sum(value * step_s) / 3600) as mw
  from observations
  where ${NATIVE_SERIES} and (indicator_id = :demand or ${inList('renewables')})
    and geo_id = :geo and value is not null
    and ${IN_RANGE}
  group by indicator_id, at - at % 3600
  having sum(step_s) = 3600 and min(at) = at - at % 3600
), residual as (
  select min(local_hour) as local_hour, sum(iif(indicator_id = :demand, mw, -mw)) as mw
  from hourly group by hour
  having count(*) = 1 + json_array_length('[' || :renewables || ']')
)
select local_hour, ${rounded('avg(mw)')} as average_mw, round(min(mw), 0) as min_mw, round(max(mw), 0) as max_mw
from residual group by local_hour order by local_hour`,
    empty: { message: 'The demand and the renewables have no common hour in this range.', isResult: false },
  },
  {
    name: 'renewable-share',
    question: 'What share of demand did renewables cover each day? Only counts hours with complete data.',
    parameters: { demand: demand.indicator, renewables: joinIds(wind, solar, hydro), geo: demand.geo, ...ANY_RANGE },
    needs: [
      { indicator: 'demand', geo: 'geo', hourly: true },
      { indicator: 'renewables', geo: 'geo', hourly: true },
    ],
    chart: { kind: 'line', x: 'local_date', y: ['share_percent'] },
    sql: `with hourly as (
  select indicator_id, local_date, at, value as mw
  from observations_hourly
  where ${NATIVE_SERIES} and (indicator_id = :demand or ${inList('renewables')})
    and geo_id = :geo and value is not null
    and ${HOURS_IN_RANGE}
), complete as (
  select min(local_date) as local_date, sum(iif(indicator_id = :demand, 0, mw)) as renewable, sum(iif(indicator_id = :demand, mw, 0)) as demand
  from hourly group by at
  having count(*) = 1 + json_array_length('[' || :renewables || ']')
)
select local_date, count(*) as hours, ${rounded('sum(renewable)')} as renewable_mwh, ${rounded('sum(demand)')} as demand_mwh,
  ${rounded('100 * sum(renewable) / nullif(sum(demand), 0)', 1)} as share_percent
from complete group by local_date order by local_date`,
    empty: { message: 'The demand and the renewables have no common hour in this range.', isResult: false },
  },
]
