import { ENTRY_ROUTES } from '../../../job/entryRoutes.ts'
import { formatUtc } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import type { AsOf } from './asOf.ts'
import type { NamedGeoSeries } from './geoSeries.ts'
import { borderText } from './range.ts'

/** The SQL statement for the values of a picture, for further use elsewhere. */
export const sqlOf = (
  { seriesId, geoId }: NamedGeoSeries,
  { from, to }: Interval,
  then: AsOf | null,
): string => `select at_local, value${then ? ', valid_from' : ''}
from ${then ? 'observation_history' : 'observations'}
where series_id = ${seriesId} and geo_id = ${geoId}
  and at >= unixepoch('${formatUtc(from)}') and at < unixepoch('${formatUtc(to)}')${
    then ? `\n  and valid_from <= '${then.moment}' and (valid_to is null or valid_to > '${then.moment}')` : ''
  }
order by at`

/** The arguments of the command that draws the same; null for a grouped series, which only SQL can name. */
export function showOf(dataset: NamedGeoSeries, { from, to }: Interval, then: AsOf | null): string | null {
  if (dataset.trunc !== null || dataset.geoAgg !== null) return null
  const [first, end] = [from, to].map((at) => borderText(dataset.zone, at))
  const { kind, indicator } = dataset
  const { series } = ENTRY_ROUTES
  const which = `${indicator}${kind === series ? '' : ` --kind ${kind}`}`
  return `show ${which} --geo ${dataset.geoId} --from ${first} --to ${end}${then ? ` --as-of ${then.moment}` : ''}`
}
