import type { Listing } from '../db/tables/rows.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { SchemaError } from '../util/errors.ts'
import { canonical, isObject, type JsonObject, toInteger } from '../util/json.ts'
import { type CheckedPart, checkPart, collectRejects, type Rejects } from './rejects.ts'
import { repeatedKeyText } from './repeatedKeys.ts'

/** An item of a listing. */
export interface Item {
  readonly id: number
  readonly item: JsonObject
  /** The item, to read its fields. */
  readonly part: CheckedPart
}

/** The items of a listing by id. */
export interface Items {
  readonly items: readonly Item[]
  /** Entries without an id, then rejects of fields. */
  readonly rejects: Rejects
  /** Whether the listing is complete: each entry is a valid item, and their number is as stated. */
  readonly isWhole: boolean
}

/** The lists of an item, each with the id field of its entries. */
type ListKeys = Readonly<Record<string, string>>

/** The lists of terms and vocabularies of items. */
export const TAXONOMY_LISTS: ListKeys = { taxonomy_terms: 'id_taxonomy_term', vocabularies: 'id_vocabulary' }

/** Removes invalid lists from an item, so that their stored rows stay, and rejects them. */
function removeBadLists(item: JsonObject, lists: ListKeys, path: string, rejects: Rejects): JsonObject {
  const isBad = ([key, idKey]: readonly [string, string]): boolean => {
    const list = item[key] ?? []
    if (!Array.isArray(list)) {
      rejects.add(`${path}.${key}`, `${key} is not a list`, list)
      return true
    }
    const invalid = list.flatMap((entry, i) => (isObject(entry) && toInteger(entry[idKey]) !== null ? [] : [i]))
    for (const i of invalid) rejects.add(`${path}.${key}[${i}]`, `entry has no whole number in ${idKey}`, list[i])
    return invalid.length > 0 && invalid.length === list.length
  }
  const bad = Object.entries(lists).filter(isBad)
  return bad.length === 0 ? item : { ...item, ...Object.fromEntries(bad.map(([key]) => [key, undefined])) }
}

/**
 * Reads the list under a root key: objects with an integer id under one of `idKeys`. `hasUniqueIds`: of two entries with the same id, the
 * later one is used, and a different earlier one is rejected. Throws SchemaError if it is not a list.
 */
export function readItems(
  body: JsonObject,
  root: string,
  idKeys: readonly string[],
  { hasUniqueIds = true, lists = {} }: { readonly hasUniqueIds?: boolean; readonly lists?: ListKeys } = {},
): Items {
  const list = body[root]
  if (!Array.isArray(list)) throw new SchemaError(`${root} is not a list.`, { path: `$.${root}` })
  const items: Item[] = []
  const indexes = new Map<number, number>()
  const rejects = collectRejects()
  let repeated = 0
  list.forEach((entry: unknown, i) => {
    const id = isObject(entry)
      ? (idKeys.map((key) => toInteger(entry[key])).find((value) => value !== null) ?? null)
      : null
    if (!isObject(entry) || id === null) {
      const reason = repeatedKeyText(entry) ?? `entry has no whole number in ${idKeys.join(' or ')}`
      rejects.add(`$.${root}[${i}]`, reason, entry)
      return
    }
    const path = `$.${root}[${i}]`
    const item = removeBadLists(entry, lists, path, rejects)
    const read = {
      id,
      item,
      part: checkPart(
        item,
        path,
        rejects,
        idKeys.find((key) => toInteger(item[key]) !== null),
      ),
    }
    const index = hasUniqueIds ? indexes.get(id) : undefined
    if (index === undefined) {
      indexes.set(id, items.length)
      items.push(read)
      return
    }
    repeated++
    const earlier = items[index]!.item
    if (canonical(earlier) !== canonical(item))
      rejects.add(`$.${root}[${i}]`, `duplicate id ${id} with different content; the later entry is used`, earlier)
    items[index] = read
  })
  const size = isObject(body.meta) ? toInteger(body.meta.size) : null
  const hasStatedSize = size === null || size === items.length + repeated
  const isWhole = rejects.done().rejected === 0 && items.length > 0 && hasStatedSize
  return { items, rejects, isWhole }
}

/** The listing of items, to mark withdrawn ones. */
export const toListing = (
  { items, isWhole }: Items,
  { locale, isUnfiltered }: PlannedRequest,
  item: Listing['item'],
  kind: string | null,
): Listing => ({
  item,
  text: `${item}_text`,
  kind,
  locale,
  ids: items.map(({ id }) => id),
  isComplete: isWhole && isUnfiltered,
})
