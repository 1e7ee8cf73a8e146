import { format } from '../../src/cli/terminal/output.ts'
import { type Recipe, UNSAID } from '../../src/products/recipes/recipe.ts'
import { NIGHTS } from '../market.ts'
import { RECIPES } from '../recipes.ts'
import type { Store } from '../store.ts'

/** Rows of an answer that are shown. */
const SHOWN = 6

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** One recipe with its statement and the beginning of its answer. */
async function recipeText(
  store: Store,
  { name, question, parameters, shown: example = {}, sql }: Recipe,
): Promise<string> {
  const rows = store.all(sql, { ...parameters, ...example }) as Record<string, unknown>[]
  const columns = Object.keys(rows[0] ?? {})
  // Series are numbered as their first answers come, which is another order each time.
  const cell = (column: string, value: unknown) => (column === 'series_id' ? '…' : value)
  const shown = rows.slice(0, SHOWN).map((row) => columns.map((column) => cell(column, row[column])))
  const answer =
    rows.length === 0 ? 'Nothing, on the demo database.\n' : await textOf(format('markdown', columns, [shown]))
  const more = rows.length > SHOWN ? `\n… and ${rows.length - SHOWN} more.\n` : ''
  const defaults = Object.entries(parameters).map(
    ([key, value]) => `\`:${key}\` ${value === null ? (UNSAID[key] ?? 'all') : `= ${value}`}`,
  )
  return [
    `## ${name}`,
    question,
    ...(defaults.length > 0 ? [`Defaults: ${defaults.join(', ')}.`] : []),
    ...Object.entries(example).map(([key, value]) => `The answer below is that for \`:${key}\` = ${value}.`),
    `\`\`\`sql\n${sql}\n\`\`\``,
    `${answer}${more}`.trimEnd(),
  ].join('\n\n')
}

/** What `docs/recipes.md` says: every recipe with its statement and the beginning of its answer on the demo database. */
export async function recipesText(store: Store): Promise<string> {
  const parts = await Promise.all(RECIPES.map((recipe) => recipeText(store, recipe)))
  return `${[
    '# Recipes',
    `Queries of analysts, with their SQL. Each is plain SQL: run it here with \`indicator-sync query --recipe NAME\` (\`--indicator\`, \`--geo\`, \`--series\`, \`--from\`, \`--to\`, \`--param name=value\`), or paste it elsewhere: Datasette and DBeaver ask for the values of \`:name\`, pandas takes them as \`params\`, the \`sqlite3\` shell by \`.parameter set :name value\`. \`:from\` and \`:to\`, which is not included, are local days \`YYYY-MM-DD\` or instants \`YYYY-MM-DDTHH:MM:SSZ\`; the command also takes \`-30d\` and the like.`,
    `One indicator may be several series: the native one, and those that the service has grouped. Each recipe reads one: the native one, unless \`:series\` names another by its number (\`query --recipe reach\` lists them). Averages are weighted by time. Where the data that a recipe needs are not held, the command says so and exits 2.`,
    `The answers are those of the demo database as \`jobs/demo.yaml\` fills it on the nights of ${NIGHTS.map((night) => night.slice(0, 10)).join(' and ')}: invented values of the embedded service. A test runs every statement and compares them (SQLite before 3.43 adds with less care: a last digit may differ there); \`npm run docs\` writes this page anew.`,
    ...parts,
  ].join('\n\n')}\n`
}
