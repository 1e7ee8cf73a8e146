import {
  ANY_RANGE,
  HOURS_IN_RANGE,
  type Recipe,
  type RecipeDefaults,
  rounded,
  SERIES_AND_GEO,
  SERIES_NEED,
  seriesParameters,
} from './recipe.ts'

/** Recipes that join a CSV file of the user, for the command line. */
export const ownTableRecipes = ({ wellKnown: { canaryPrice, demand } }: RecipeDefaults): readonly Recipe[] => [
  {
    name: 'household-cost',
    question:
      'What would the energy of a household cost each month? Its consumption in each local hour of a day comes from a CSV file: --with profile=FILE.',
    // The regulated price, where most people live.
    parameters: { ...seriesParameters({ ...canaryPrice, geo: demand.geo }), ...ANY_RANGE },
    needs: [{ ...SERIES_NEED, hourly: true }],
    ownTable: { name: 'profile', columns: 'hour (0 to 23) and kwh' },
    chart: { kind: 'bars', x: 'local_month', y: ['cost_eur'] },
    sql: `with hourly as (
  select local_date, cast(substr(at_local, 12, 2) as integer) as hour, avg as eur_mwh
  from observations_hourly
  where ${SERIES_AND_GEO} and avg is not null
    and ${HOURS_IN_RANGE}
), household as (
  select hour, sum(kwh) as kwh from profile group by hour
)
select substr(local_date, 1, 7) as local_month, count(distinct local_date) as days, count(*) as hours, ${rounded('sum(kwh)', 1)} as kwh,
  ${rounded('sum(eur_mwh * kwh) / 1000', 2)} as cost_eur, ${rounded('sum(eur_mwh * kwh) / nullif(sum(kwh), 0)', 2)} as price_paid,
  ${rounded('avg(eur_mwh)', 2)} as average_price
from (select h.local_date, h.eur_mwh, coalesce(p.kwh, 0) as kwh from hourly h left join household p on p.hour = h.hour) j
group by 1 order by 1`,
    empty: { message: 'No prices are stored in this range.', isResult: false },
  },
]
