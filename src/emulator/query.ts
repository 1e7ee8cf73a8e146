import type { Kind } from '../api/kinds.ts'
import type { RouteName } from '../api/routes.ts'
import { routeOf } from '../api/routes.ts'
import { type Instant, isDate, parseInstant } from '../base/instant.ts'
import { offsetAt, startOfDate } from '../base/zone.ts'
import { ZONE } from './world.ts'

/** The parameters of a call as the service understands them: instants in epoch seconds, lists as lists. */
export type Query = Readonly<Record<string, string | boolean | Instant | readonly string[] | undefined>>

/** A parameter that the service does not take. */
export interface Illegal {
  readonly parameter: string
  readonly reason: string
}

/** Reads a date in any of the ways in which clients write it; undefined when it is none, or does not exist. */
export function readDate(text: string): Instant | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return startOfDate(ZONE, text)
  const match = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/.exec(text)
  if (!match || !isDate(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined
  const clock = `${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6] ?? '00'}`
  const zone = match[7]
  if (zone) {
    const at = parseInstant(`${clock}${zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`}`)
    return Number.isNaN(at) ? undefined : at
  }
  const utc = parseInstant(`${clock}Z`)
  return Number.isNaN(utc) ? undefined : utc - offsetAt(ZONE, utc - offsetAt(ZONE, utc))
}

/** One value of the query by its kind; undefined when it is not legal. */
function readValue(kind: Kind, texts: readonly string[]): Query[string] {
  const [text = ''] = texts
  switch (kind.kind) {
    case 'choice': {
      const word = kind.aliases[text] ?? text
      return kind.values.includes(word) ? word : undefined
    }
    case 'instant':
      return readDate(text)
    case 'list':
      return texts
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : undefined
    default:
      return text
  }
}

/** Reads a query by the row of its route: the same table from which requests are built. */
export function readQuery(route: RouteName, search: URLSearchParams): Query | Illegal {
  const query: Record<string, Query[string]> = {}
  const kinds = routeOf(route).query
  for (const key of new Set(search.keys())) {
    const name = key.replace(/\[\]$/, '')
    const kind = kinds[name]
    if (!kind || (key !== name) !== (kind.kind === 'list'))
      return { parameter: key, reason: `${key} is not valid for ${route}` }
    const value = readValue(kind, search.getAll(key))
    if (value === undefined) return { parameter: key, reason: `${key} does not have a valid value` }
    query[name] = value
  }
  return query
}

export const isIllegal = (query: Query | Illegal): query is Illegal =>
  typeof query.reason === 'string' && 'parameter' in query
