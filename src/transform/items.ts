import { SchemaError } from '../base/errors.ts'
import { canonical, integerOf, isObject, type JsonObject } from '../base/json.ts'
import { gatherRejects, type Rejected } from './rejects.ts'

/** The items of a listing that can be told apart, and what stood in its place where one cannot. */
export interface Items extends Rejected {
  readonly items: readonly { readonly id: number; readonly item: JsonObject }[]
  /** Whether the listing says itself that it is whole. */
  readonly whole: boolean
}

/**
 * Reads the list under a root key: objects, each with a number under one of `idKeys`. Where a number is `once` in a list, of
 * two entries the later one holds, and the earlier one is rejected when they differ. Throws SchemaError when it is not a list.
 */
export function readItems(body: JsonObject, root: string, idKeys: readonly string[], once = true): Items {
  const list = body[root]
  if (!Array.isArray(list)) throw new SchemaError(`${root} is not a list.`, { path: `$.${root}` })
  const items: { id: number; item: JsonObject }[] = []
  const places = new Map<number, number>()
  const gathered = gatherRejects()
  let repeated = 0
  list.forEach((item: unknown, i) => {
    const id = isObject(item)
      ? (idKeys.map((key) => integerOf(item[key])).find((found) => found !== null) ?? null)
      : null
    if (!isObject(item) || id === null) {
      gathered.add(`$.${root}[${i}]`, `an entry without a whole number in ${idKeys.join(' or ')}`, item)
      return
    }
    const place = once ? places.get(id) : undefined
    if (place === undefined) {
      places.set(id, items.length)
      items.push({ id, item })
      return
    }
    repeated++
    const earlier = items[place]!.item
    if (canonical(earlier) !== canonical(item))
      gathered.add(`$.${root}[${i}]`, `two entries of number ${id} that differ; the later one holds`, earlier)
    items[place] = { id, item }
  })
  const size = isObject(body.meta) ? integerOf(body.meta.size) : null
  const { rejects, rejected } = gathered.done()
  const told = size === null || size === items.length + repeated
  return { items, rejects, rejected, whole: rejected === 0 && items.length > 0 && told }
}
