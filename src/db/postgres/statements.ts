import { createHash } from 'node:crypto'
import type pg from 'pg'

/** Statements that a connection keeps prepared. Those whose text depends on how much is wanted come and go unprepared. */
const KEPT = 400

/** PostgreSQL holds no text with a NUL; it is kept as the sign for what cannot be shown. */
const storable = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value

/**
 * Makes a connection prepare what is asked of it with parameters, once a text: to read and to plan a statement takes longer
 * than most of ours run.
 */
export function prepareOn(client: pg.ClientBase): void {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text)
    if (known !== undefined || names.size >= KEPT) return known
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 40)
    names.set(text, name)
    return name
  }
  const ask = client.query.bind(client) as (query: object) => Promise<pg.QueryResult>
  client.query = ((text: unknown, values?: readonly unknown[]) => {
    if (typeof text !== 'string' || values === undefined || values.length === 0)
      return ask(typeof text === 'string' ? { text } : (text as object))
    const name = nameOf(text)
    return ask({ text, values: values.map(storable), ...(name === undefined ? {} : { name }) })
  }) as typeof client.query
}
