import { stringify } from 'yaml'
import { withDefaults } from '../recipes/recipe.ts'
import { RECIPES } from '../recipes/recipes.ts'
import { dictionaryRows } from '../tables/dictionary.ts'

/** What a publisher says of a file; the licence is the source's, which nobody but the publisher can know. */
export interface Publication {
  readonly title: string
  readonly source?: string
  readonly sourceUrl?: string
  readonly license?: string
  readonly licenseUrl?: string
  /** Where the data came from. */
  readonly hosts: readonly string[]
}

/** The column that names a row, where others point to it. */
const LABELS: Readonly<Record<string, string>> = {
  content_text: 'title',
  geo_text: 'name',
  indicator_text: 'name',
  taxonomy_term_text: 'name',
  vocabulary_text: 'name',
  archive_text: 'name',
  widget_text: 'name',
}
/** Columns that are best looked at first. */
const SORTED: Readonly<Record<string, string>> = { observations: 'at_utc', latest: 'indicator_id', runs: 'id' }

/** Every table and view with its columns, as Datasette shows them. */
function tables(): Record<string, object> {
  const all: Record<string, { description: string; hidden?: true; columns: Record<string, string> }> = {}
  for (const { object, column_name, unit, meaning } of dictionaryRows()) {
    if (column_name === '') {
      all[object] = { description: meaning, ...(object.startsWith('_') ? { hidden: true } : {}), columns: {} }
      continue
    }
    all[object]!.columns[column_name] = unit && !meaning.includes(unit) ? `${meaning} [${unit}]` : meaning
  }
  return Object.fromEntries(
    Object.entries(all).map(([name, table]) => [
      name,
      {
        ...table,
        ...(LABELS[name] ? { label_column: LABELS[name] } : {}),
        ...(SORTED[name] ? { sort: SORTED[name] } : {}),
        ...(name === 'texts' ? { fts_table: 'search', fts_pk: 'id' } : {}),
      },
    ]),
  )
}

/** Datasette's description of a published file: `datasette data.db -m metadata.yaml`. `database` is its name without the ending. */
export function metadataText(
  database: string,
  { title, source, sourceUrl, license, licenseUrl, hosts }: Publication,
): string {
  const said = {
    title,
    description: `Time series, texts and archives of ${hosts.join(', ') || 'an indicator service'}, with every revision. Instants are UTC epoch seconds; the views tell local time. See the table data_dictionary.`,
    ...(license ? { license } : {}),
    ...(licenseUrl ? { license_url: licenseUrl } : {}),
    ...(source || hosts.length > 0 ? { source: source ?? hosts.join(', ') } : {}),
    ...(sourceUrl ? { source_url: sourceUrl } : hosts.length > 0 ? { source_url: `https://${hosts[0]}` } : {}),
  }
  const queries = RECIPES.map((recipe) => [
    recipe.name,
    {
      title: recipe.asks,
      description: Object.entries(recipe.parameters)
        .map(([name, value]) => `${name}: ${value ?? 'all'} when empty`)
        .join('; '),
      sql: withDefaults(recipe),
      params: Object.keys(recipe.parameters),
    },
  ])
  return stringify({
    ...said,
    databases: { [database]: { ...said, tables: tables(), queries: Object.fromEntries(queries) } },
  })
}
