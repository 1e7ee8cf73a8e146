import { type JsonObject, toInteger } from '../util/json.ts'

/** 1 or 0 for a boolean; null for anything else. */
const booleanFlag = (value: unknown): 0 | 1 | null => {
  if (typeof value !== 'boolean') return null
  return value ? 1 : 0
}

/** Reads a field of a reply into a column. */
export interface FieldReader {
  /** The type, in words. */
  readonly type: string
  /** Undefined for a value of another type. */
  readonly read: (value: unknown) => string | number | null | undefined
}

const orNull =
  (read: (value: unknown) => string | number | null): FieldReader['read'] =>
  (value) =>
    value === null ? null : (read(value) ?? undefined)

const TEXT = 'a text'
const readText = (value: unknown) => (typeof value === 'string' || value === null ? value : undefined)

/**
 * Readers of fields. An empty name becomes null, so that a name in another language is shown.
 */
export const AS = {
  name: { type: TEXT, read: (value) => (value === '' ? null : readText(value)) },
  text: { type: TEXT, read: readText },
  integer: { type: 'a whole number', read: orNull(toInteger) },
  flag: { type: 'true or false', read: orNull(booleanFlag) },
} as const satisfies Record<string, FieldReader>

/** The fields of an object that become columns, by column. */
export type Fields = Readonly<Record<string, readonly [key: string, as: FieldReader]>>

/** Fields with the names of their columns. */
export const fieldsAs = (as: FieldReader, ...names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, [name, as] as const]))

/**
 * Reads the columns of a row from the fields of an object. Fields that were not sent get no column, so that stored values stay.
 * Neither do those of another type, for which it calls `misread` with the expected type.
 */
export function readColumns(
  object: JsonObject,
  fields: Fields,
  misread: (key: string, type: string) => void,
): Record<string, string | number | null> {
  const columns: Record<string, string | number | null> = {}
  for (const column in fields) {
    const [key, { type, read }] = fields[column]!
    const sent = object[key]
    if (sent === undefined) continue
    const value = read(sent)
    if (value === undefined) misread(key, type)
    else columns[column] = value
  }
  return columns
}
