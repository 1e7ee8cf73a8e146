import { ShapeError } from '../base/errors.ts'
import { integerOf, isObject, type JsonObject } from '../base/json.ts'
import type { Reject } from '../tables/rows.ts'

/** The items of a listing that can be told apart, and what stood in its place where one cannot. */
export interface Items {
  readonly items: readonly { readonly id: number; readonly item: JsonObject }[]
  readonly rejects: readonly Reject[]
  /** Whether the listing says itself that it is whole. */
  readonly whole: boolean
}

/** Reads the list under a root key: objects, each with a number under one of `idKeys`. Throws ShapeError when it is no list. */
export function readItems(body: JsonObject, root: string, idKeys: readonly string[]): Items {
  const list = body[root]
  if (!Array.isArray(list)) throw new ShapeError(`${root} is no list.`, { path: `$.${root}` })
  const items: { id: number; item: JsonObject }[] = []
  const rejects: Reject[] = []
  list.forEach((item: unknown, i) => {
    const id = isObject(item)
      ? (idKeys.map((key) => integerOf(item[key])).find((found) => found !== null) ?? null)
      : null
    if (isObject(item) && id !== null) items.push({ id, item })
    else
      rejects.push({
        path: `$.${root}[${i}]`,
        reason: `an entry without a whole number in ${idKeys.join(' or ')}`,
        fragment: item,
      })
  })
  const size = isObject(body.meta) ? integerOf(body.meta.size) : null
  return { items, rejects, whole: rejects.length === 0 && items.length > 0 && (size === null || size === items.length) }
}
