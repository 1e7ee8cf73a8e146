import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { format } from '../../src/cli/terminal/output.ts'
import {
  DAY_RANGE,
  HOURS_IN_RANGE,
  IN_RANGE,
  NATIVE_SERIES,
  NEAR_RANGE,
  type Recipe,
  SERIES_AND_GEO,
} from '../../src/reports/recipes/recipe.ts'
import { ALL_RECIPES } from '../support/genericRecipes.ts'
import type { Store } from '../support/testStore.ts'

/** The meaning of a parameter without a value; default: `all`. */
const UNSET_MEANINGS: Readonly<Record<string, string>> = {
  from: 'no limit',
  to: 'no limit',
  series: 'native series',
  locale: 'preferred language',
  at: 'start of today; in plain SQL, of the UTC day',
}

/** Number of displayed rows. */
const SHOWN = 3

/** Parameters that the page explains once. */
const EXPLAINED = ['from', 'to', 'series']

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** Returns a statement without the conditions on `:from`, `:to` and `:series`, which are long and repetitive. */
const shortSql = (sql: string): string =>
  sql
    .replaceAll(new RegExp(`\\s+and ${escaped(HOURS_IN_RANGE)}`, 'g'), '')
    .replaceAll(new RegExp(`\\s+and ${escaped(IN_RANGE)}`, 'g'), '')
    .replaceAll(new RegExp(`\\s+and ${escaped(DAY_RANGE)}`, 'g'), '')
    .replaceAll(new RegExp(`\\s+and ${escaped(NEAR_RANGE)}`, 'g'), '')
    .replaceAll('\nwhere true\n', '\n')
    .replaceAll(SERIES_AND_GEO, `${NATIVE_SERIES} and indicator_id = :indicator and geo_id = :geo`)
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Formats a recipe with its statement and first rows. */
async function recipeText(
  store: Store,
  { name, question, parameters, shown: example = {}, sql }: Recipe,
): Promise<string> {
  const rows = store.all(sql, { ...parameters, ...example }) as Record<string, unknown>[]
  const short = shortSql(sql)
  if (!isDeepStrictEqual(store.all(short, { ...parameters, ...example }), rows))
    throw new Error(`${name}: the short statement has another answer`)
  const columns = Object.keys(rows[0] ?? {})
  // Series ids follow the order of the first replies, which varies.
  const cell = (column: string, value: unknown) => (column === 'series_id' ? '…' : value)
  const shown = rows.slice(0, SHOWN).map((row) => columns.map((column) => cell(column, row[column])))
  const answer =
    rows.length === 0
      ? 'No rows in the demo database.'
      : `\`\`\`\n${(await textOf(format('table', columns, [shown]))).trimEnd()}\n\`\`\``
  const defaults = Object.entries(parameters)
    .filter(([key]) => !EXPLAINED.includes(key) || key in example)
    .map(([key, value]) => {
      const unset = `(default: ${UNSET_MEANINGS[key] ?? 'all'})`
      if (key in example) return `\`:${key}\` = ${example[key]} ${unset}`
      return `\`:${key}\` ${value === null ? unset : `= ${value}`}`
    })
  return [
    `## ${name}`,
    `${question}${defaults.length > 0 ? ` ${defaults.join(', ')}.` : ''}`,
    `\`\`\`sql\n${short}\n\`\`\``,
    answer,
  ].join('\n\n')
}

/** The table of questions over all values, as `npm run bench` measured it. */
function measuredQuestions(): string {
  const results = readFileSync(join(import.meta.dirname, '../../bench/results.md'), 'utf8')
  const [, about, measured] = /^## Questions over all values\n\n`[^`]+`: (.*)\n\n([\s\S]*?)\n(?=\n|$)/m.exec(results)!
  // A table of Markdown whose lines begin with a bar is not a sentence for the prose check.
  const table = measured!.replaceAll(/^(.*)$/gm, '| $1 |')
  return `## Questions over all values\n\nThe daily and monthly views answer questions about everything from stored totals. Grouping single values by names or local times takes many times as long; [DuckDB over a lake](lake.md#duckdb) is faster where no view has totals. Seconds, ${about!.replace('; seconds.', ':')}\n\n${table}`
}

/** `docs/recipes.md`: every recipe with its statement and first rows on the demo database. */
export async function recipesText(store: Store): Promise<string> {
  // A household that uses most energy at noon and in the evening.
  store.run('create temporary table profile (hour integer, kwh real)', [])
  for (let hour = 0; hour < 24; hour++)
    store.run('insert into profile values (?, ?)', [hour, [13, 14, 20, 21, 22].includes(hour) ? 0.8 : 0.3])
  const parts: string[] = []
  for (const recipe of ALL_RECIPES) parts.push(await recipeText(store, recipe))
  store.run('drop table profile', [])
  return `${[
    '# Recipes',
    '```sh\nindicator-sync query daily-average --indicator 600 --from 2025-10-01\nindicator-sync query --recipes        # list them\n```',
    'Set parameters by `--indicator`, `--geo`, `--from`, `--to` or `--param name=value`. `from` and `to` (exclusive) are local days, or instants such as `2025-11-03T18:00:00Z`. If the series that a recipe needs are not stored, the command exits 2.',
    'Most recipes read the native series of an indicator. Those with a parameter `series` read another one with `--param series=ID` (`query "select * from freshness"` lists the ids). `query --recipes` lists the parameters of each recipe. Averages are weighted by time.',
    'The SQL below works in any SQLite tool that binds `:name` parameters; it omits the conditions for `--from`, `--to` and `series`. The inner `round` removes floating-point noise. Results are the first rows of a demo database of November 2025, with made-up values.',
    measuredQuestions(),
    ...parts,
  ].join('\n\n')}\n`
}
