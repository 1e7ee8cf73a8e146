import type { ObservationKey, Reject, RowValues } from '../db/tables/rows.ts'
import { isObject, isUnreadable, type JsonObject } from '../util/json.ts'
import { columnsOf, type Fields } from './fields.ts'

/** How many rejects of one answer are kept with their fragments; the rest is only counted, because the body is kept anyway. */
const KEPT_REJECTS = 100

/** The parts of an answer that could not be understood. */
export interface Rejected {
  /** The first of them. */
  readonly rejects: readonly Reject[]
  /** How many there are in all. */
  readonly rejected: number
}

/** Collects rejects while an answer is parsed. */
export interface Rejects {
  add(path: string, reason: string, fragment: unknown, observation?: ObservationKey): void
  done(): Rejected
}

export function gatherRejects(): Rejects {
  const rejects: Reject[] = []
  let rejected = 0
  return {
    add(path, reason, fragment, observation) {
      if (rejected++ < KEPT_REJECTS) rejects.push({ path, reason, fragment, observation })
    },
    done: () => ({ rejects, rejected }),
  }
}

/** What was rejected in two parts of an answer; that of the first is kept before that of the second. */
export const joinRejected = (first: Rejected, second: Rejected): Rejected => ({
  rejects: [...first.rejects, ...second.rejects].slice(0, KEPT_REJECTS),
  rejected: first.rejected + second.rejected,
})

/** An object of an answer whose fields become columns. A field of another type is rejected alone; the rest of the object is kept. */
export interface CheckedPart {
  readonly object: JsonObject
  readonly path: string
  columns(fields: Fields): RowValues
  /** Rejects a field that was sent: it is not what the text says. */
  misread(key: string, type: string): void
  /** The elements of a list; none, and rejected, where it is something else. */
  list(key: string): readonly unknown[]
  /** An object inside of this one; undefined, and rejected, where it is something else. */
  inner(key: string): CheckedPart | undefined
}

/** The object at a path. Its rejects name it by its number, in the field `idKey`, because its place changes from answer to answer. */
export function checkPart(object: JsonObject, path: string, rejects: Rejects, idKey?: string): CheckedPart {
  const misread = (key: string, type: string): void => {
    const named = idKey !== undefined && object[idKey] !== undefined ? { [idKey]: object[idKey] } : {}
    const expected = isUnreadable(object[key]) ? 'in UTF-8' : type
    rejects.add(`${path}.${key}`, `${key} is not ${expected}`, { ...named, [key]: object[key] })
  }
  return {
    object,
    path,
    misread,
    columns: (fields) => columnsOf(object, fields, misread),
    list(key) {
      const value = object[key] ?? []
      if (Array.isArray(value)) return value
      misread(key, 'a list')
      return []
    },
    inner(key) {
      const value = object[key] ?? undefined
      if (value === undefined) return undefined
      if (isObject(value)) return checkPart(value, `${path}.${key}`, rejects)
      misread(key, 'an object')
      return undefined
    },
  }
}
