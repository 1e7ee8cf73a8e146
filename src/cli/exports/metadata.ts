import { isMap, parseDocument, stringify } from 'yaml'
import { dictionaryRows } from '../../db/tables/dictionary.ts'
import { isNeeded, UNSET_MEANINGS, withDefaults } from '../../reports/recipes/recipe.ts'
import { recipesFor } from '../../reports/recipes/recipes.ts'
import type { Service } from '../../service/service.ts'

/** The columns that name the rows of tables to which others refer. */
const LABEL_COLUMNS: Readonly<Record<string, string>> = {
  content_text: 'title',
  geo_text: 'name',
  indicator_text: 'name',
  taxonomy_term_text: 'name',
  vocabulary_text: 'name',
  archive_text: 'name',
  widget_text: 'name',
}
/** The order of short views. Datasette would sort all rows of a long one for its first page. */
const SORTED: Readonly<Record<string, object>> = { latest: { sort: 'indicator_id' }, runs: { sort_desc: 'id' } }

/** Describes every table and view with its columns. */
function describeTables(): Record<string, object> {
  const tables: Record<string, { description: string; columns: Record<string, string> }> = {}
  for (const { object, column_name, unit, meaning } of dictionaryRows()) {
    if (column_name !== '') {
      tables[object]!.columns[column_name] = unit && !meaning.includes(unit) ? `${meaning} [${unit}]` : meaning
      continue
    }
    tables[object] = {
      description: meaning,
      ...(object.startsWith('_') ? { hidden: true } : {}),
      columns: {},
      ...(LABEL_COLUMNS[object] ? { label_column: LABEL_COLUMNS[object] } : {}),
      ...SORTED[object],
      ...(object === 'texts' ? { fts_table: 'search', fts_pk: 'id' } : {}),
    }
  }
  return tables
}

/**
 * Writes the description of a published file for Datasette: `datasette data.db -m metadata.yaml`. `database` is its name without
 * the extension; `sources` are the base URLs of the data. Keeps entries of other databases in the existing text.
 */
export function metadataText(
  database: string,
  service: Service,
  sources: readonly string[],
  existingText: string | null,
): string {
  const hosts = sources.map((address) => new URL(address).host)
  const facts = {
    title: 'Indicators',
    description: `Time series, texts and archives of ${hosts.join(', ') || 'an indicator service'}, with every revision. Instants are epoch seconds in UTC; the views add local time. The table data_dictionary describes every column.`,
    ...(hosts.length > 0 ? { source: hosts.join(', ') } : {}),
    ...(sources[0] ? { source_url: sources[0] } : {}),
  }
  const queries = recipesFor(service).map((recipe) => {
    const parameters = Object.entries(recipe.parameters).map(([name, value]) =>
      isNeeded(recipe, name) ? `${name}: required` : `${name}: default ${value ?? UNSET_MEANINGS[name] ?? 'all'}`,
    )
    const sql = withDefaults(recipe)
    const params = Object.keys(recipe.parameters)
    return [recipe.name, { title: recipe.question, description: parameters.join('; '), sql, params }] as const
  })
  const description = { ...facts, tables: describeTables(), queries: Object.fromEntries(queries) }
  const existing = parseDocument(existingText ?? '')
  const isMetadata =
    existing.errors.length === 0 && isMap(existing.contents) && isMap(existing.get('databases') ?? existing.contents)
  if (!isMetadata) return stringify({ ...facts, databases: { [database]: description } })
  const { databases = {} } = existing.toJS() as { databases?: object }
  // Keep metadata that the publisher wrote, such as the license of the data.
  if (Object.keys(databases).every((name) => name === database))
    for (const [name, value] of Object.entries(facts))
      if (name === 'description' || !existing.has(name)) existing.set(name, value)
  existing.setIn(['databases', database], existing.createNode(description))
  return existing.toString()
}
