/* How the fields of an object of an answer become the columns of a row. */
import { type JsonObject, toInteger } from '../util/json.ts'

/** 1 or 0 for a boolean, as SQLite keeps it; null for anything else. */
const booleanFlag = (value: unknown): 0 | 1 | null => (value === true ? 1 : value === false ? 0 : null)

/** Reads a field of a type into a column. */
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

/**
 * How fields become columns. A null becomes null, and so does an empty name: it names nothing, and a name in another language is to
 * be shown in its place. Any other empty text is a text.
 */
export const AS = {
  name: {
    type: TEXT,
    read: (value) => (value === '' ? null : typeof value === 'string' || value === null ? value : undefined),
  },
  text: { type: TEXT, read: (value) => (typeof value === 'string' || value === null ? value : undefined) },
  integer: { type: 'a whole number', read: orNull(toInteger) },
  flag: { type: 'true or false', read: orNull(booleanFlag) },
} as const satisfies Record<string, FieldReader>

/** The fields of an object that become columns, by column. */
export type Fields = Readonly<Record<string, readonly [key: string, as: FieldReader]>>

/**
 * The columns of a row, from the fields of an object. A field that was not sent gets no column, so that the stored value stays;
 * nor does one of another type, for which `misread` is called with the type that it should have.
 */
export function columnsOf(
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
