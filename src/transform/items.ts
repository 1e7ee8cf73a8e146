import { SchemaError } from '../util/errors.ts'
import { canonical, isObject, type JsonObject, toInteger } from '../util/json.ts'
import { type CheckedPart, checkPart, gatherRejects, type Rejects } from './rejects.ts'

/** An item of a listing. */
export interface Item {
  readonly id: number
  readonly item: JsonObject
  /** The item, to be read field by field. */
  readonly part: CheckedPart
}

/** The items of a listing by id. */
export interface Items {
  readonly items: readonly Item[]
  /** The entries without an id; rejects of fields are added while the items become rows. */
  readonly rejects: Rejects
  /** Whether the listing is complete: each entry is understood as an item, and there are as many as it states. */
  readonly whole: boolean
}

/** The lists of an item by their fields, each with the field that numbers its entries. */
type ListKeys = Readonly<Record<string, string>>

/** The lists by which items are filed, on every route that has them. */
export const FILED_LISTS: ListKeys = { taxonomy_terms: 'id_taxonomy_term', vocabularies: 'id_vocabulary' }

/** The item without the lists of which nothing is understood, so that what is stored of them stays; what is not understood is a reject. */
function withLists(item: JsonObject, lists: ListKeys, path: string, gathered: Rejects): JsonObject {
  const isBad = ([key, idKey]: readonly [string, string]): boolean => {
    const list = item[key] ?? []
    if (!Array.isArray(list)) {
      gathered.add(`${path}.${key}`, `${key} is not a list`, list)
      return true
    }
    const wrong = list.flatMap((entry, i) => (isObject(entry) && toInteger(entry[idKey]) !== null ? [] : [i]))
    for (const i of wrong) gathered.add(`${path}.${key}[${i}]`, `entry has no whole number in ${idKey}`, list[i])
    return wrong.length > 0 && wrong.length === list.length
  }
  const bad = Object.entries(lists).filter(isBad)
  return bad.length === 0 ? item : { ...item, ...Object.fromEntries(bad.map(([key]) => [key, undefined])) }
}

/**
 * Reads the list under a root key: objects, each with an integer id under one of `idKeys`. `once`: each id counts once; of two
 * entries the later one is used, and the earlier one is rejected where they differ. Throws SchemaError when it is not a list.
 */
export function readItems(
  body: JsonObject,
  root: string,
  idKeys: readonly string[],
  { once = true, lists = {} }: { readonly once?: boolean; readonly lists?: ListKeys } = {},
): Items {
  const list = body[root]
  if (!Array.isArray(list)) throw new SchemaError(`${root} is not a list.`, { path: `$.${root}` })
  const items: Item[] = []
  const indexes = new Map<number, number>()
  const gathered = gatherRejects()
  let repeated = 0
  list.forEach((entry: unknown, i) => {
    const id = isObject(entry)
      ? (idKeys.map((key) => toInteger(entry[key])).find((found) => found !== null) ?? null)
      : null
    if (!isObject(entry) || id === null) {
      gathered.add(`$.${root}[${i}]`, `entry has no whole number in ${idKeys.join(' or ')}`, entry)
      return
    }
    const path = `$.${root}[${i}]`
    const item = withLists(entry, lists, path, gathered)
    const read = {
      id,
      item,
      part: checkPart(
        item,
        path,
        gathered,
        idKeys.find((key) => toInteger(item[key]) !== null),
      ),
    }
    const index = once ? indexes.get(id) : undefined
    if (index === undefined) {
      indexes.set(id, items.length)
      items.push(read)
      return
    }
    repeated++
    const earlier = items[index]!.item
    if (canonical(earlier) !== canonical(item))
      gathered.add(`$.${root}[${i}]`, `duplicate id ${id} with different content; the later entry is used`, earlier)
    items[index] = read
  })
  const size = isObject(body.meta) ? toInteger(body.meta.size) : null
  const hasStatedSize = size === null || size === items.length + repeated
  const whole = gathered.done().rejected === 0 && items.length > 0 && hasStatedSize
  return { items, rejects: gathered, whole }
}
