import type { Service } from '../service/service.ts'
import { didYouMean } from '../util/didYouMean.ts'
import { hasWords, toWords } from './select.ts'

/** A geo of a service with its displayed name. */
export interface NamedGeo {
  readonly id: number
  readonly name: string
}

/** The geos of a service with all of their names. */
const geoNames = ({ geos = {} }: Service) => Object.entries(geos).map(([id, names]) => ({ id: Number(id), names }))

/** Finds the geos with a name in which each word of a text starts a word, ignoring case and accents. */
export function findGeos(service: Service, text: string): NamedGeo[] {
  const words = toWords(text)
  return geoNames(service)
    .filter(({ id, names }) => String(id) === text.trim() || names.some((name = '') => hasWords([name], words)))
    .map(({ id, names: [name] }) => ({ id, name }))
}

/** Finds the id of the geo with a name in any language, or explains the mistake. */
export function findGeoId(service: Service, name: string): number | { readonly mistake: string } {
  const words = toWords(name).join(' ')
  const geos = geoNames(service)
  const geo = geos.find(({ names }) => names.some((candidate = '') => toWords(candidate).join(' ') === words))
  if (geo) return geo.id
  const candidates = findGeos(service, name).map((geo) => `${geo.name} (${geo.id})`)
  const hint =
    candidates.length > 0 && words !== ''
      ? `; expected one of: ${candidates.join(', ')}`
      : `; \`indicator-sync discover --in geos\` lists them.${didYouMean(
          name,
          geos.map(({ names: [first] }) => first),
        )}`
  return { mistake: `is not the name of a geo${hint}` }
}
