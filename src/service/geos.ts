/**
 * The names of geos, Spanish first, then another one if it differs. Source: the operator's values; English names are
 * translations.
 */
export const GEOS: Readonly<Record<number, readonly [name: string, other?: string]>> = {
  1: ['Portugal'],
  2: ['Francia', 'France'],
  3: ['España', 'Spain'],
  4: ['Andalucía'],
  5: ['Aragón'],
  6: ['Cantabria'],
  7: ['Castilla la Mancha'],
  8: ['Castilla y León'],
  9: ['Cataluña'],
  10: ['País Vasco'],
  11: ['Principado de Asturias'],
  13: ['Comunidad de Madrid'],
  14: ['Comunidad Navarra'],
  15: ['Comunidad Valenciana'],
  16: ['Extremadura'],
  17: ['Galicia'],
  18: ['Islas Baleares'],
  19: ['Islas Canarias'],
  20: ['Región de Murcia'],
  21: ['La Rioja'],
  8741: ['Península', 'Peninsula'],
  8742: ['Canarias', 'Canary Islands'],
  8743: ['Baleares', 'Balearic Islands'],
  8744: ['Ceuta'],
  8745: ['Melilla'],
  8824: ['Reino Unido', 'United Kingdom'],
  8825: ['Italia', 'Italy'],
  8826: ['Alemania', 'Germany'],
  8827: ['Bélgica', 'Belgium'],
  8828: ['Países Bajos', 'Netherlands'],
}

/** What users must know of the times of some geos. Source: the offsets in the operator's values. */
export const GEO_NOTES: Readonly<Record<number, string>> = {
  8742: 'Times of 8742 (Canarias) are those of the mainland, an hour ahead of Canary clocks. Prices by Canary hours: indicator-sync query by-canary-hour',
}

const SPAIN = [3]
const PENINSULA = [8741]
const ON_THE_PENINSULA = [
  460, 541, 544, 545, 546, 549, 550, 551, 805, 1293, 1294, 1295, 1297, 10010, 10034, 10207, 10208, 10209, 10211, 10355,
]

/** The geos of often used indicators. Source: the operator's values. */
export const INDICATOR_GEOS: Readonly<Record<number, readonly number[]>> = {
  600: [1, 2, 3, 8826, 8827, 8828],
  612: [1, 3],
  613: [1, 3],
  614: [1, 3],
  1001: [8741, 8742, 8743, 8744, 8745],
  1739: SPAIN,
  ...Object.fromEntries(ON_THE_PENINSULA.map((id) => [id, PENINSULA])),
}
