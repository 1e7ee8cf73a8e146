import type { ObservationKey, Reject, RowValues } from '../db/tables/rows.ts'
import { isObject, isUnreadable, type JsonObject } from '../util/json.ts'
import { type Fields, readColumns } from './fields.ts'

/** Maximum rejects of a reply with fragments. Others are only counted. */
const MAX_REJECTS = 100

/** The parts of a reply that could not be parsed. */
export interface RejectSummary {
  /** The first of them. */
  readonly rejects: readonly Reject[]
  /** The number of all. */
  readonly rejected: number
}

export const NO_REJECTS: RejectSummary = { rejects: [], rejected: 0 }

/** Collects rejects while a reply is parsed. */
export interface Rejects {
  add(path: string, reason: string, fragment: unknown, observation?: ObservationKey): void
  done(): RejectSummary
}

export function collectRejects(): Rejects {
  const rejects: Reject[] = []
  let rejected = 0
  return {
    add(path, reason, fragment, observation) {
      if (rejected++ < MAX_REJECTS) rejects.push({ path, reason, fragment, observation })
    },
    done: () => ({ rejects, rejected }),
  }
}

/** Joins the rejects of two parts of a reply. Those of the first part come first. */
export const joinRejects = (first: RejectSummary, second: RejectSummary): RejectSummary => ({
  rejects: [...first.rejects, ...second.rejects].slice(0, MAX_REJECTS),
  rejected: first.rejected + second.rejected,
})

/** An object of a reply whose fields become columns. Only fields of another type are rejected. */
export interface CheckedPart {
  readonly object: JsonObject
  readonly path: string
  columns(fields: Fields): RowValues
  /** Rejects a field that is not of a type. */
  misread(key: string, type: string): void
  /** The elements of a list. Rejects any other value and returns none. */
  list(key: string): readonly unknown[]
  /** An object inside this one. Rejects any other value and returns undefined. */
  inner(key: string): CheckedPart | undefined
}

/** The object at a path. Its rejects name its id, in the field `idKey`, because its path differs between replies. */
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
    columns: (fields) => readColumns(object, fields, misread),
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
