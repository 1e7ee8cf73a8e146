import { SchemaError } from '../util/errors.ts'
import { isObject, isUnreadable, type JsonObject, pathText } from '../util/json.ts'
import type { BodySize } from './flood.ts'
import type { Rejects } from './rejects.ts'

/* JSON.parse keeps the last of several equal keys of an object, and nothing shows that there were others. */

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const SPACE = 0x20
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c

/** Counts the fields of all objects in parsed JSON. Uses no recursion, because it may be nested deeply. */
function countFields(parsed: unknown): number {
  let fields = 0
  const containers = [parsed]
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null && !isUnreadable(value)) containers.push(value)
  }
  while (containers.length > 0) {
    const container = containers.pop() as JsonObject | readonly unknown[]
    if (Array.isArray(container)) container.forEach(visit)
    // Object.values would create a list for each row.
    else
      for (const key in container) {
        fields++
        visit((container as JsonObject)[key])
      }
  }
  return fields
}

/** An object of a body that has a key twice. */
interface RepeatedKey {
  readonly path: readonly (string | number)[]
  readonly key: string
  /** The JSON of the object. */
  readonly text: string
}

/** An object or list that the scan is inside of. */
interface Container {
  readonly begin: number
  /** The keys of an object so far; null for a list. */
  readonly keys: Set<string> | null
  /** The current key, or index of a list. */
  at: string | number
  repeated: string | null
}

/** Finds the objects of valid JSON that have a key twice. */
function scan(text: string): RepeatedKey[] {
  const found: RepeatedKey[] = []
  const containers: Container[] = []
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const begin = i
      for (i++; text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++
      const container = containers.at(-1)
      let next = i + 1
      while (text.charCodeAt(next) <= SPACE) next++
      if (!container?.keys || text.charCodeAt(next) !== COLON) continue
      const key = JSON.parse(text.slice(begin, i + 1)) as string
      if (container.keys.has(key)) container.repeated ??= key
      container.keys.add(key)
      container.at = key
      i = next
    } else if (code === OPEN_OBJECT) containers.push({ begin: i, keys: new Set(), at: '', repeated: null })
    else if (code === OPEN_LIST) containers.push({ begin: i, keys: null, at: 0, repeated: null })
    else if (code === COMMA) {
      const container = containers.at(-1)!
      if (typeof container.at === 'number') container.at++
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      const { begin, repeated } = containers.pop()!
      if (repeated !== null)
        found.push({ path: containers.map(({ at }) => at), key: repeated, text: text.slice(begin, i + 1) })
    }
  }
  return found
}

/** Why an element of a list is rejected, if it has a key twice. */
export const repeatedKeyText = (element: unknown): string | null =>
  element instanceof String && 'repeatedKey' in element ? `the key ${String(element.repeatedKey)} occurs twice` : null

/**
 * Replaces elements of lists that have a key twice with `String` objects of their JSON, which no reader accepts. Rejects other fields that occur
 * twice; the last one is used. Throws SchemaError if such a field is a list or an object, as `values` is.
 */
export function replaceRepeating(
  body: Buffer,
  { keys }: BodySize,
  parsed: JsonObject | readonly unknown[],
  rejects: Rejects,
): void {
  if (keys === countFields(parsed)) return
  for (const { path, key, text } of scan(body.toString('utf8'))) {
    const inList = path.findIndex((part) => typeof part === 'number')
    const parent = path
      .slice(0, inList === -1 ? undefined : inList)
      .reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), parsed)
    if (inList !== -1 && Array.isArray(parent)) {
      parent[path[inList] as number] = Object.assign(Object(text), { repeatedKey: key })
      continue
    }
    const field = `$.${pathText([...path, key])}`
    const value = isObject(parent) ? parent[key] : undefined
    const reason = `the key ${key} occurs twice`
    if (typeof value === 'object' && value !== null)
      throw new SchemaError(`In the response, ${reason}.`, { path: field, code: 'repeated-key' })
    rejects.add(field, `${reason}; the last one is used`, { [key]: value })
  }
}
