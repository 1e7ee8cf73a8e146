import { SYNTAX_ERROR, underlyingError } from '../storeErrors.ts'

/** A value as SQL literal. */
function valueLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return `(${value})::bigint`
  if (typeof value === 'number') return Number.isSafeInteger(value) ? `(${value})::bigint` : `('${value}')::float8`
  const text = String(value).replaceAll('\0', '\uFFFD')
  return `(e'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}')::text`
}

type StatementParameters = Readonly<Record<string, unknown>>

/*
 * PostgreSQL has no parameters with names, and `:name` is not a token of its grammar. So no parser of PostgreSQL finds them, and each
 * rejects what its release does not know. These words are only found, never judged: a cursor in a read-only transaction decides
 * what a statement may do.
 */

/** Strings, quoted names, comments, dollar quotes, casts and words, which contain no parameters; and parameters. */
const TOKEN =
  /e'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|::|:=|:([a-z_]\w*)|[a-z_][\w$]*/gi

/** Inserts the values of parameters into a statement. */
export const bindParameters = (sql: string, parameters: StatementParameters): string =>
  sql
    .replace(TOKEN, (text: string, _tag: unknown, name: string | undefined) =>
      name !== undefined && Object.hasOwn(parameters, name) ? valueLiteral(parameters[name]) : text,
    )
    .trim()
    .replace(/;+\s*$/, '')

/** Finds the parameters of a statement. */
export const findParameters = (sql: string): string[] => [
  ...new Set([...sql.matchAll(TOKEN)].flatMap(([, , name]) => name ?? [])),
]

/** Finds the first parameter without a value after a syntax error. A `:name` may also be the end of an array slice. */
export function findMissingParameter(
  thrown: unknown,
  sql: string,
  parameters: StatementParameters,
): string | undefined {
  const error = underlyingError(thrown)
  if (!(error instanceof Error && 'code' in error && error.code === SYNTAX_ERROR && /":"/.test(error.message)))
    return undefined
  return findParameters(sql).find((name) => !Object.hasOwn(parameters, name))
}
