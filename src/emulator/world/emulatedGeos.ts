import { GEOS as NAMES } from '../../service/geos.ts'

/** A geographic entity: its names and the entities that it belongs to, by level. */
export interface Geo {
  readonly id: number
  readonly es: string
  readonly en: string
  readonly country: number
  readonly electric_system?: number
  readonly autonomous_community?: number
}

const SPAIN = 3
const PENINSULA_GEO = 8741
const CANARIES = 8742
const BALEARICS = 8743
/** The electric systems of the communities that are islands. */
const ISLANDS = new Map([
  [18, BALEARICS],
  [19, CANARIES],
])

/** The level of a geo, by its id: 4 to 21 are autonomous communities, 8741 to 8745 electric systems, others countries. */
function levels(id: number): Pick<Geo, 'country' | 'electric_system' | 'autonomous_community'> {
  if (id >= PENINSULA_GEO && id <= 8745) return { country: SPAIN, electric_system: id }
  if (id <= SPAIN || id > 21) return { country: id }
  return { country: SPAIN, electric_system: ISLANDS.get(id) ?? PENINSULA_GEO, autonomous_community: id }
}

/** The geos by which the service's series are split. */
const GEOS: readonly Geo[] = Object.entries(NAMES).map(([id, [es, en = es]]) => ({
  id: Number(id),
  es,
  en,
  ...levels(Number(id)),
}))

const BY_ID: ReadonlyMap<number, Geo> = new Map(GEOS.map((geo) => [geo.id, geo]))

/** The geo with an id. An unknown geo belongs only to itself. */
export const findGeo = (id: number): Geo => BY_ID.get(id) ?? { id, es: `Geo ${id}`, en: `Geo ${id}`, country: id }

/** The autonomous communities, by number. */
export const COMMUNITIES: readonly number[] = GEOS.filter((geo) => geo.autonomous_community).map(({ id }) => id)

/** The entity of a level to which an entity belongs; itself if that level is unknown. */
export function ancestor(id: number, level: string): number {
  const geo = findGeo(id)
  if (level === 'country') return geo.country
  if (level === 'electric_system') return geo.electric_system ?? id
  return level === 'autonomous_community' ? (geo.autonomous_community ?? id) : id
}
