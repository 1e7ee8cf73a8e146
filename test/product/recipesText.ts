import { format } from '../../src/cli/output.ts'
import type { Store } from '../../src/db/open.ts'
import { RECIPES } from '../../src/recipes/recipes.ts'
import { NIGHTS } from '../market.ts'

/** Rows of an answer that are shown. */
const SHOWN = 6

/** What `docs/recipes.md` says: every recipe with its statement and the beginning of its answer on the demo database. */
export function recipesText(store: Store): string {
  const parts = RECIPES.map(({ name, asks, parameters, sql }) => {
    const rows = store.all(sql, parameters) as Record<string, unknown>[]
    const columns = Object.keys(rows[0] ?? {})
    const shown = rows.slice(0, SHOWN).map((row) => columns.map((column) => row[column]))
    const answer =
      rows.length === 0 ? 'Nothing, on the demo database.\n' : [...format('markdown', columns, shown)].join('')
    const more = rows.length > SHOWN ? `\n… and ${rows.length - SHOWN} more.\n` : ''
    const defaults = Object.entries(parameters).map(
      ([key, value]) => `\`:${key}\` ${value === null ? 'no limit' : `= ${value}`}`,
    )
    return [
      `## ${name}`,
      asks,
      ...(defaults.length > 0 ? [`When nobody says otherwise: ${defaults.join(', ')}.`] : []),
      `\`\`\`sql\n${sql}\n\`\`\``,
      `${answer}${more}`.trimEnd(),
    ].join('\n\n')
  })
  return `${[
    '# Recipes',
    `Questions that analysts ask, with their SQL. Each is plain SQLite: run it here with \`indicator-sync query --recipe NAME\` (\`--indicator\`, \`--geo\`, \`--from\`, \`--to\`, \`--param name=value\`), or paste it into the \`sqlite3\` shell, Datasette, DBeaver, DuckDB or pandas, which ask for the values of \`:name\`. Days are local, \`YYYY-MM-DD\`, and \`:to\` is not included.`,
    `The answers are those of the demo database as \`jobs/demo.yaml\` fills it on the nights of ${NIGHTS.map((night) => night.slice(0, 10)).join(' and ')}: invented values of the embedded service. A test runs every statement and compares them (SQLite before 3.43 adds with less care: a last digit may differ there); \`node test/product/write.ts\` writes this page anew.`,
    ...parts,
  ].join('\n\n')}\n`
}
