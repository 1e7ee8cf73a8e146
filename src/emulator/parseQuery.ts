import type { ParameterKind } from '../service/kinds.ts'
import { type RouteName, routeOf } from '../service/routes.ts'
import { type Instant, isDate, parseInstant } from '../util/time/instant.ts'
import { offsetAt, startOfDate } from '../util/time/zone.ts'
import { type Bilingual, TERMS, VOCABULARIES } from './world/texts.ts'
import { EMULATED_ZONE } from './world/world.ts'

const DATE_PATTERN = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s?(Z|[+-]\d{2}:?\d{2})?$/

/**
 * Reads a date in any of the ways in which clients write it; undefined for any other text, or a date that does not exist.
 * A date without a time is its midnight and a time without an offset is local, both in Madrid.
 */
function readDate(text: string): Instant | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return startOfDate(EMULATED_ZONE, text)
  const match = DATE_PATTERN.exec(text)
  if (!match || !isDate(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined
  const clock = `${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6] ?? '00'}`
  const zone = match[7]
  const written = zone === undefined || zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`
  const at = parseInstant(`${clock}${written}`)
  if (Number.isNaN(at)) return undefined
  return zone === undefined ? at - offsetAt(EMULATED_ZONE, at - offsetAt(EMULATED_ZONE, at)) : at
}

/** The parsed parameters of a call: instants in epoch seconds, lists as lists. */
export type ParsedQuery = Readonly<Record<string, string | boolean | Instant | readonly string[] | undefined>>

/** A parameter that the service refuses. */
export interface IllegalParameter {
  readonly parameter: string
  readonly reason: string
}

/** The response would take longer than the gateway waits. */
export class RequestTooLargeError extends Error {}

const FLAGS = new Map([
  ['true', true],
  ['false', false],
])

/** Parses the texts of a parameter by its kind; undefined if they are not legal. */
function readValue(kind: ParameterKind, texts: readonly string[]): ParsedQuery[string] {
  const [text = ''] = texts
  switch (kind.kind) {
    case 'choice': {
      const word = Object.hasOwn(kind.aliases, text) ? kind.aliases[text]! : text
      return kind.values.includes(word) ? word : undefined
    }
    case 'instant':
      return readDate(text)
    case 'list':
      return texts
    case 'flag':
      return FLAGS.get(text)
    case 'id':
      return /^\d+$/.test(text) ? text : undefined
    case 'idOrName':
      return text === '' ? undefined : text
  }
}

/** Reads a query by the row of its route: the same table from which requests are built. */
export function readQuery(route: RouteName, search: URLSearchParams): ParsedQuery | IllegalParameter {
  const query: Record<string, ParsedQuery[string]> = {}
  const kinds = routeOf(route).query
  for (const key of new Set(search.keys())) {
    const name = key.replace(/\[\]$/, '')
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (!kind || (key !== name) !== (kind.kind === 'list'))
      return { parameter: key, reason: `${key} is not valid for ${route}` }
    const value = readValue(kind, search.getAll(key))
    if (value === undefined) return { parameter: key, reason: `${key} does not have a valid value` }
    query[name] = value
  }
  return query
}

/** Whether a query was refused. */
export const isIllegal = (query: ParsedQuery | IllegalParameter): query is IllegalParameter =>
  typeof query.reason === 'string' && 'parameter' in query

/** Whether the parts of a path are legal for its route. */
export const isPath = (route: RouteName, slots: Readonly<Record<string, string>>): boolean =>
  Object.entries(routeOf(route).slots).every(([name, kind]) => readValue(kind, [slots[name] ?? '']) !== undefined)

/** The language of a query's texts. */
export const queryLocale = (query: ParsedQuery): keyof Bilingual => (query.locale === 'en' ? 'en' : 'es')

/** Terms and vocabularies in one language, as every listing writes them. */
export const taxonomy = (
  terms: readonly number[],
  vocabularies: readonly number[],
  locale: keyof Bilingual,
): object => ({
  taxonomy_terms: terms.map((id) => ({
    id_taxonomy_term: id,
    name: TERMS.get(id)![locale],
    vocabulary_id: TERMS.get(id)!.vocabulary,
  })),
  vocabularies: vocabularies.map((id) => ({ id_vocabulary: id, name: VOCABULARIES.get(id)![locale] })),
})

const isNamed = (filter: ParsedQuery[string], ids: readonly number[], texts: ReadonlyMap<number, Bilingual>): boolean =>
  !Array.isArray(filter) || ids.some((id) => filter.includes(texts.get(id)!.es) || filter.includes(texts.get(id)!.en))

const isNumbered = (filter: ParsedQuery[string], ids: readonly number[]): boolean =>
  !Array.isArray(filter) || ids.some((id) => filter.includes(String(id)))

/** Whether an item with these terms and vocabularies passes the filters of a query, by name or by id. */
export const passes = (terms: readonly number[], vocabularies: readonly number[], query: ParsedQuery): boolean =>
  isNamed(query.taxonomy_terms, terms, TERMS) &&
  isNamed(query.vocabularies, vocabularies, VOCABULARIES) &&
  isNumbered(query.taxonomy_ids, terms) &&
  isNumbered(query.vocabulary_ids, vocabularies)
