import { SchemaError } from '../base/errors.ts'
import { canonical, integerOf, isObject, type JsonObject } from '../base/json.ts'
import { gatherRejects, type Rejected } from './rejects.ts'

/** The items of a listing by id, and the entries without one as rejects. */
export interface Items extends Rejected {
  readonly items: readonly { readonly id: number; readonly item: JsonObject }[]
  /** Whether the listing is complete: no rejects, and as many items as it states. */
  readonly whole: boolean
}

/**
 * Reads the list under a root key: objects, each with an integer id under one of `idKeys`. `once`: each id counts once; of two
 * entries the later one is used, and the earlier one is rejected where they differ. Throws SchemaError when it is not a list.
 */
export function readItems(body: JsonObject, root: string, idKeys: readonly string[], once = true): Items {
  const list = body[root]
  if (!Array.isArray(list)) throw new SchemaError(`${root} is not a list.`, { path: `$.${root}` })
  const items: { id: number; item: JsonObject }[] = []
  const indexes = new Map<number, number>()
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
    const index = once ? indexes.get(id) : undefined
    if (index === undefined) {
      indexes.set(id, items.length)
      items.push({ id, item })
      return
    }
    repeated++
    const earlier = items[index]!.item
    if (canonical(earlier) !== canonical(item))
      gathered.add(`$.${root}[${i}]`, `two entries of number ${id} that differ; the later one holds`, earlier)
    items[index] = { id, item }
  })
  const size = isObject(body.meta) ? integerOf(body.meta.size) : null
  const { rejects, rejected } = gathered.done()
  const hasStatedSize = size === null || size === items.length + repeated
  return { items, rejects, rejected, whole: rejected === 0 && items.length > 0 && hasStatedSize }
}
