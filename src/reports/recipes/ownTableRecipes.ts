import {
  ANY_RANGE,
  DAY_RANGE,
  NEAR_RANGE,
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
      'What would the energy of a household cost each month? Its consumption in each hour of a day by the clock of the geo comes from a CSV file: --with profile=FILE.',
    // The regulated price, where most people live.
    parameters: { ...seriesParameters({ ...canaryPrice, geo: demand.geo }), ...ANY_RANGE },
    needs: [{ ...SERIES_NEED, hourly: true }],
    ownTable: {
      name: 'profile',
      columns: [
        {
          name: 'hour',
          whole: [0, 23],
          hint: 'Hour 0 begins at midnight. If the file counts hours from 1 to 24, as distributors do, subtract 1 from each.',
        },
        { name: 'kwh' },
      ],
    },
    chart: { kind: 'bars', x: 'local_month', y: ['cost_eur'] },
    sql: `with clocks as (
  select at, avg as eur_mwh,
    strftime('%Y-%m-%d %H', unixepoch(substr(at_local, 1, 19)) - iif(:geo = ${canaryPrice.geo}, 3600, 0), 'unixepoch') as clock
  from observations_hourly
  where ${SERIES_AND_GEO} and avg is not null
    and ${NEAR_RANGE}
), hourly as (
  select at, eur_mwh, substr(clock, 1, 10) as local_date, cast(substr(clock, 12, 2) as integer) as hour from clocks
), household as (
  select hour, sum(kwh) as kwh from profile group by hour
)
select substr(local_date, 1, 7) as local_month, count(distinct local_date) as days, count(*) as hours, ${rounded('sum(kwh)', 1)} as kwh,
  ${rounded('sum(eur_mwh * kwh) / 1000', 2)} as cost_eur, ${rounded('sum(eur_mwh * kwh) / nullif(sum(kwh), 0)', 2)} as price_paid,
  ${rounded('avg(eur_mwh)', 2)} as average_price
from (select h.at, h.local_date, h.eur_mwh, coalesce(p.kwh, 0) as kwh from hourly h left join household p on p.hour = h.hour) j
where ${DAY_RANGE}
  and (:to is null or length(:to) = 10 or at + 3600 <= unixepoch(:to))
group by 1 order by 1`,
    empty: { message: 'No prices are stored in this range.', isResult: false },
  },
]
