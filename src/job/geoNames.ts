import type { Service } from '../service/service.ts'
import { didYouMean } from '../util/didYouMean.ts'
import { hasWords, toWords } from './select.ts'

/** A geo of a service and the name that is shown. */
export interface NamedGeo {
  readonly id: number
  readonly name: string
}

/** The geos of a service, each with all of its names. */
const namesOf = ({ geos = {} }: Service) => Object.entries(geos).map(([id, names]) => ({ id: Number(id), names }))

/** The geos with a name in which each word of a text begins a word. Case and accents do not matter. */
export function findGeos(service: Service, text: string): NamedGeo[] {
  const wanted = toWords(text)
  return namesOf(service)
    .filter(({ id, names }) => String(id) === text.trim() || names.some((name = '') => hasWords([name], wanted)))
    .map(({ id, names: [name] }) => ({ id, name }))
}

/** The id of the geo with a name, in any of its languages, or what is wrong with the name. */
export function geoIdNamed(service: Service, name: string): number | { readonly mistake: string } {
  const wanted = toWords(name).join(' ')
  const all = namesOf(service)
  const named = all.find(({ names }) => names.some((one = '') => toWords(one).join(' ') === wanted))
  if (named) return named.id
  const candidates = findGeos(service, name).map((geo) => `${geo.name} (${geo.id})`)
  const hint =
    candidates.length > 0 && wanted !== ''
      ? `; expected one of: ${candidates.join(', ')}`
      : `; \`indicator-sync discover --in geos\` lists them.${didYouMean(
          name,
          all.map(({ names: [first] }) => first),
        )}`
  return { mistake: `is not the name of a geo${hint}` }
}
