import type { NamedSeries } from '../db/engine.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { seriesName } from '../reports/seriesName.ts'

/* Parts of the English sentences of findings. */

/** Names that a message lists. */
export const MAX_NAMES = 10

/** Writes names in a sentence: all of them, or the first `most`. */
export type ListNames = (names: readonly string[], most?: number) => string

/** Lists all names. */
export const listAllNames: ListNames = (names) => names.join(', ')

/** Lists the first names, and counts the others. */
export function listNames(names: readonly string[], most = MAX_NAMES): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}

const geosText = (geoIds: readonly number[], list: ListNames): string =>
  geoIds.includes(ALL_GEOS) ? 'all geos' : `${geoIds.length === 1 ? 'geo' : 'geos'} ${list(geoIds.map(String))}`

/** Names a series and some of its geos: `indicator 600, geos 3, 8741`. */
export const seriesAndGeos = (
  series: NamedSeries & { readonly geoIds: readonly number[] },
  list: ListNames = listNames,
): string => `${seriesName(series)}, ${geosText(series.geoIds, list)}`

/** The sentence of a failure, without its last dot. */
export const withoutDot = (text: string | null): string => (text ?? 'failed').replace(/\.$/, '')

/** An item in words: `archive json 34`. */
export const itemName = (key: string): string => key.replaceAll('_', ' ')

/** The first and the last of some local days. */
export const daysText = ([first, last]: readonly [string, string]): string =>
  first === last ? first : `${first} to ${last}`
