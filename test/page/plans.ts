import SQLite from 'better-sqlite3'
import { onlyInFile } from '../support/onServer.ts'
import type { Reader } from '../support/testStore.ts'

/** Growing tables and their aliases in queries, which no page may scan. */
const LARGE =
  /^SCAN (?:observation|observation_revision|_fetch|_day|_reply|_absent|_coverage|[olrfva])\b(?!.*\bINDEX\b)/
/** Whether a step computes a coverage view for all series instead of some. */
const isForAll = (sql: string, step: string): boolean => /from "(?:coverage|gaps)"/.test(sql) && /^SCAN s\b/.test(step)
/** A query for the last rows is not a scan. */
const AT_THE_END = /^select [^()]* from \S+ order by "id" desc limit \?$/

/** Returns any values for the parameters of a statement, because its plan does not depend on them. */
function anything(sql: string): object | unknown[] {
  const named = [...sql.matchAll(/:([a-z]\w*)/gi)].map(([, name]) => [name, 1])
  return named.length > 0 ? Object.fromEntries(named) : [...sql.matchAll(/\?/g)].map(() => 1)
}

/** Runs an action and returns the plan steps of all its queries, or of those that match a text, each with its statement. */
export async function stepsOf(
  reader: Reader,
  work: () => Promise<unknown>,
  text = /./,
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
  return [...statements]
    .filter((sql) => text.test(sql))
    .flatMap((sql) =>
      (reader.all(`explain query plan ${sql}`, anything(sql) as never) as { detail: string }[]).map(({ detail }) => ({
        detail,
        sql,
      })),
    )
}

/** Runs an action and returns the plan steps that scan a large table. */
export const scansOf = async (reader: Reader, work: () => Promise<unknown>): Promise<string[]> =>
  (await stepsOf(reader, work))
    .filter(({ sql, detail }) => !AT_THE_END.test(sql) && (LARGE.test(detail) || isForAll(sql, detail)))
    .map(({ detail, sql }) => `${detail}: ${sql}`)
