import type { Instant } from '../base/instant.ts'

/** The zone in which the service counts days. */
export const ZONE = 'Europe/Madrid'

/** What every answer depends on, beside the request: the same world gives the same bytes. */
export interface World {
  readonly seed: number
  /** The service's clock. */
  readonly now: Instant
  /** From this instant on the hourly history of the spot price is served as quarter-hours, as the live service once did. */
  readonly historyRewrittenAt: Instant
}

/** A number in [-1, 1) that depends on all its arguments and looks like chance. Mixing after MurmurHash3's finaliser. */
export function noise(seed: number, ...parts: readonly number[]): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  for (const part of parts) {
    h ^= part | 0
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
    h ^= h >>> 16
  }
  return (h >>> 0) / 2_147_483_648 - 1
}

/** One geographic entity. */
export interface Geo {
  readonly id: number
  readonly es: string
  readonly en: string
  readonly level: string
  /** The entity it belongs to on the next larger level. */
  readonly country: number
}

const region = (id: number, name: string): Geo => ({
  id,
  es: name,
  en: name,
  level: 'autonomous_community',
  country: 3,
})
const country = (id: number, es: string, en: string): Geo => ({ id, es, en, level: 'country', country: id })
const system = (id: number, es: string, en: string): Geo => ({ id, es, en, level: 'electric_system', country: 3 })

/** The geos that the service's series are split by. */
export const GEOS: readonly Geo[] = [
  country(1, 'Portugal', 'Portugal'),
  country(2, 'Francia', 'France'),
  country(3, 'España', 'Spain'),
  ...['Andalucía', 'Aragón', 'Cantabria', 'Castilla la Mancha', 'Castilla y León', 'Cataluña', 'País Vasco'].map(
    (name, i) => region(4 + i, name),
  ),
  system(8741, 'Península', 'Peninsula'),
  system(8742, 'Canarias', 'Canary Islands'),
  system(8743, 'Baleares', 'Balearic Islands'),
  system(8744, 'Ceuta', 'Ceuta'),
  system(8745, 'Melilla', 'Melilla'),
  country(8824, 'Reino Unido', 'United Kingdom'),
  country(8825, 'Italia', 'Italy'),
  country(8826, 'Alemania', 'Germany'),
  country(8827, 'Bélgica', 'Belgium'),
  country(8828, 'Países Bajos', 'Netherlands'),
]

const BY_ID = new Map(GEOS.map((geo) => [geo.id, geo]))
export const geoOf = (id: number): Geo => BY_ID.get(id)!
