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

const country = (id: number, es: string, en: string): Geo => ({ id, es, en, country: id })
const system = (id: number, es: string, en: string): Geo => ({ id, es, en, country: SPAIN, electric_system: id })
const community = (id: number, name: string, system = PENINSULA_GEO): Geo => ({
  id,
  es: name,
  en: name,
  country: SPAIN,
  electric_system: system,
  autonomous_community: id,
})

/** The geos by which the service's series are split. */
const GEOS: readonly Geo[] = [
  country(1, 'Portugal', 'Portugal'),
  country(2, 'Francia', 'France'),
  country(SPAIN, 'España', 'Spain'),
  community(4, 'Andalucía'),
  community(5, 'Aragón'),
  community(6, 'Cantabria'),
  community(7, 'Castilla la Mancha'),
  community(8, 'Castilla y León'),
  community(9, 'Cataluña'),
  community(10, 'País Vasco'),
  community(11, 'Principado de Asturias'),
  community(13, 'Comunidad de Madrid'),
  community(14, 'Comunidad Navarra'),
  community(15, 'Comunidad Valenciana'),
  community(16, 'Extremadura'),
  community(17, 'Galicia'),
  community(18, 'Islas Baleares', BALEARICS),
  community(19, 'Islas Canarias', CANARIES),
  community(20, 'Región de Murcia'),
  community(21, 'La Rioja'),
  system(PENINSULA_GEO, 'Península', 'Peninsula'),
  system(CANARIES, 'Canarias', 'Canary Islands'),
  system(BALEARICS, 'Baleares', 'Balearic Islands'),
  system(8744, 'Ceuta', 'Ceuta'),
  system(8745, 'Melilla', 'Melilla'),
  country(8824, 'Reino Unido', 'United Kingdom'),
  country(8825, 'Italia', 'Italy'),
  country(8826, 'Alemania', 'Germany'),
  country(8827, 'Bélgica', 'Belgium'),
  country(8828, 'Países Bajos', 'Netherlands'),
]

const BY_ID: ReadonlyMap<number, Geo> = new Map(GEOS.map((geo) => [geo.id, geo]))

/** The geo with an id; one that is not in the table belongs only to itself. */
export const geoOf = (id: number): Geo => BY_ID.get(id) ?? country(id, `Geo ${id}`, `Geo ${id}`)

/** The autonomous communities, by number. */
export const COMMUNITIES: readonly number[] = GEOS.filter((geo) => geo.autonomous_community).map(({ id }) => id)

/** The entity of a level to which an entity belongs; itself where nothing is known of that level. */
export function ancestorOf(id: number, level: string): number {
  const geo = geoOf(id)
  if (level === 'country') return geo.country
  if (level === 'electric_system') return geo.electric_system ?? id
  return level === 'autonomous_community' ? (geo.autonomous_community ?? id) : id
}
