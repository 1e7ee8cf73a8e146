import SQLite from 'better-sqlite3'
import { onlyInFile } from '../onServer.ts'
import type { Reader } from '../store.ts'

/** Tables that grow with what is held, and what they are called in queries: nothing that answers a page reads one of them from end to end. */
const LARGE =
  /^SCAN (?:observation|observation_revision|_fetch|_day|_reply|_absent|_coverage|[olrfva])\b(?!.*\bINDEX\b)/
/** A view of coverage is asked for some series, never worked out for all of them. */
const isForAll = (sql: string, step: string): boolean => /from "(?:coverage|gaps)"/.test(sql) && /^SCAN s\b/.test(step)
/** A look at the end of a table is no reading of it. */
const AT_THE_END = /^select [^()]* from \S+ order by "id" desc limit \?$/

/** Any values for the parameters of a statement: its plan does not depend on them. */
function anything(sql: string): object | unknown[] {
  const named = [...sql.matchAll(/:([a-z]\w*)/gi)].map(([, name]) => [name, 1])
  return named.length > 0 ? Object.fromEntries(named) : [...sql.matchAll(/\?/g)].map(() => 1)
}

/** Runs something and answers the steps of the plans of all that it asked, each with its statement. */
export async function stepsOf(
  reader: Reader,
  work: () => Promise<unknown>,
): Promise<{ readonly detail: string; readonly sql: string }[]> {
  if (onlyInFile('plan')) {
    await work()
    return []
  }
  const { prototype } = SQLite
  const { prepare } = prototype
  const statements = new Set<string>()
  prototype.prepare = function (this: SQLite.Database, sql: string) {
    statements.add(sql)
    return prepare.call(this, sql)
  } as typeof prepare
  try {
    await work()
  } finally {
    prototype.prepare = prepare
  }
  return [...statements].flatMap((sql) =>
    (reader.all(`explain query plan ${sql}`, anything(sql) as never) as { detail: string }[]).map(({ detail }) => ({
      detail,
      sql,
    })),
  )
}

/** Runs something and answers the steps of the plans of all that it asked which read a large table from end to end. */
export const scansOf = async (reader: Reader, work: () => Promise<unknown>): Promise<string[]> =>
  (await stepsOf(reader, work))
    .filter(({ sql, detail }) => !AT_THE_END.test(sql) && (LARGE.test(detail) || isForAll(sql, detail)))
    .map(({ detail, sql }) => `${detail}: ${sql}`)
