import { readValuesBeyond } from '../../db/queries/values.ts'
import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { quantity } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'

/**
 * A larger value is a mistake, such as a wrong unit or joined digits. The largest indicators are sums of years; the electricity of a
 * country in a year is some 10⁸ MWh.
 */
const MAX_CREDIBLE = 1e9

/** Finds series with values that are too large to be right. */
async function findLargeValues({ kysely }: Reader): Promise<Trouble[]> {
  const values = await readValuesBeyond(kysely, MAX_CREDIBLE)
  return [...Map.groupBy(values, ({ series_id }) => series_id).values()].map((group): Trouble => {
    const first = group[0]!
    const more = group.length === 1 ? '' : `, and ${quantity(group.length - 1, 'more value', 'more values')}`
    const geoIds = [...new Set(group.map(({ geo_id }) => geo_id))]
    const what = `geo ${first.geo_id}: ${first.value} at ${formatUtc(first.at)}${more}`
    const about = { sinceAt: null, jobIds: [], seriesIds: [first.series_id], cause: null }
    return { kind: 'out of range', subject: seriesName(first), what, geoIds, ...about }
  })
}

/** Values are too large to be right. */
export const outOfRange: KindRules<'out of range'> = {
  find: findLargeValues,
  subject: ({ subject }) => subject,
  geoIds: ({ geoIds }) => geoIds,
  message: ({ subject, what }) => `${subject}, ${what}. Compare it with the source`,
  command: null,
}
