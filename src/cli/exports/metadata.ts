import { isMap, parseDocument, stringify } from 'yaml'
import { dictionaryRows } from '../../db/tables/dictionary.ts'
import { isNeeded, UNSAID, withDefaults } from '../../reports/recipes/recipe.ts'
import { recipesFor } from '../../reports/recipes/recipes.ts'
import type { Service } from '../../service/service.ts'

/** What a description of a published file is made from. */
export interface Publication {
  /** Of which the queries have their defaults. */
  readonly service: Service
  /** The addresses that the data came from. */
  readonly sources: readonly string[]
}

/** The column that names a row, where others point to it. */
const LABEL_COLUMNS: Readonly<Record<string, string>> = {
  content_text: 'title',
  geo_text: 'name',
  indicator_text: 'name',
  taxonomy_term_text: 'name',
  vocabulary_text: 'name',
  archive_text: 'name',
  widget_text: 'name',
}
/** Columns by which short views are sorted. Those of all values have no order: Datasette would sort them all for its first page. */
const SORTED: Readonly<Record<string, object>> = { latest: { sort: 'indicator_id' }, runs: { sort_desc: 'id' } }

/** Every table and view with its columns, as Datasette shows them. */
function tableDescriptions(): Record<string, object> {
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
        ...(LABEL_COLUMNS[name] ? { label_column: LABEL_COLUMNS[name] } : {}),
        ...SORTED[name],
        ...(name === 'texts' ? { fts_table: 'search', fts_pk: 'id' } : {}),
      },
    ]),
  )
}

/**
 * Datasette's description of a published file: `datasette data.db -m metadata.yaml`. `database` is its name without the
 * extension. Entries of other databases in the existing text are kept.
 */
export function metadataText(database: string, publication: Publication, existingText: string | null): string {
  const { facts, databases } = createMetadata(database, publication)
  const existing = parseDocument(existingText ?? '')
  const isMetadata =
    existing.errors.length === 0 && isMap(existing.contents) && isMap(existing.get('databases') ?? existing.contents)
  if (!isMetadata) return stringify({ ...facts, databases })
  const others = Object.keys((existing.toJS() as { databases?: object }).databases ?? {}).filter(
    (name) => name !== database,
  )
  // What the publisher wrote by hand stays, such as the licence of the data.
  if (others.length === 0)
    for (const [name, value] of Object.entries(facts))
      if (name === 'description' || !existing.has(name)) existing.set(name, value)
  existing.setIn(['databases', database], existing.createNode(databases[database]))
  return existing.toString()
}

function createMetadata(
  database: string,
  { service, sources }: Publication,
): { facts: Record<string, string>; databases: Record<string, object> } {
  const hosts = sources.map((address) => new URL(address).host)
  const facts = {
    title: 'Indicators',
    description: `Time series, texts and archives of ${hosts.join(', ') || 'an indicator service'}, with every revision. Instants are epoch seconds in UTC; the views add local time. The table data_dictionary describes every column.`,
    ...(hosts.length > 0 ? { source: hosts.join(', ') } : {}),
    ...(sources[0] ? { source_url: sources[0] } : {}),
  }
  const queries = recipesFor(service).map((recipe) => [
    recipe.name,
    {
      title: recipe.question,
      description: Object.entries(recipe.parameters)
        .map(([name, value]) =>
          isNeeded(recipe, name) ? `${name}: required` : `${name}: default ${value ?? UNSAID[name] ?? 'all'}`,
        )
        .join('; '),
      sql: withDefaults(recipe),
      params: Object.keys(recipe.parameters),
    },
  ])
  return {
    facts,
    databases: { [database]: { ...facts, tables: tableDescriptions(), queries: Object.fromEntries(queries) } },
  }
}
