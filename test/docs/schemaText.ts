import { dictionaryRows } from '../../src/db/tables/dictionary.ts'
import { SEVERAL_SERIES, TABLE_NAMES, type TableName, tableOf, VIEWS } from '../../src/db/tables/schema.ts'
import { MAGNITUDES } from '../../src/service/magnitudes.ts'

/** Relations between tables: one row of the first has many of the second. */
const RELATIONS = [
  ['indicator', 'series', 'has'],
  ['series', 'observation', 'has'],
  ['geo', 'observation', 'has'],
  ['observation', 'observation_revision', 'replaces'],
  ['indicator', 'indicator_text', 'has'],
  ['indicator_text', 'indicator_revision', 'replaces'],
  ['content', 'content_text', 'has'],
  ['content_text', 'content_revision', 'replaces'],
  ['content', 'content_term', 'has'],
  ['taxonomy_term', 'content_term', 'has'],
  ['archive', 'archive_edition', 'has'],
  ['archive_file', 'archive_edition', 'stores'],
  ['archive_edition', 'archive_row', 'contains'],
  ['archive_edition', 'archive_i90_row', 'contains'],
  ['_run', '_fetch', 'sends'],
  ['_fetch', 'observation', 'loads'],
  ['_reply', '_fetch', 'answers'],
] as const

/** Sorted by name, because the order of `TABLE_NAMES` depends on the module loader. */
const NAMES = [...TABLE_NAMES].sort()

/** Tables by the routes that fill them. */
const SOURCES = `| source | tables |
|---|---|
| \`/indicators\` | \`indicator\`, \`indicator_text\`, \`indicator_term\`, \`indicator_revision\` |
| \`/indicators/{id}\`, \`/offer_indicators/{id}\` | \`series\`, \`series_geo\`, \`observation\`, \`observation_revision\`, \`indicator_unit\`, \`geo\`, \`geo_text\` |
| \`/{language}/documentations\`, \`/{language}/static_pages\`, \`/{language}/glossaries\`, \`/{language}/news\` | \`content\`, \`content_text\`, \`content_term\`, \`content_vocabulary\`, \`content_media\`, \`content_revision\` |
| \`/archives\`, \`/archives_json\` | \`archive\`, \`archive_text\`, \`archive_edition\`, \`archive_term\`, \`archive_vocabulary\`, \`archive_file\`, \`archive_row\`, \`archive_i90_row\` |
| \`/widgets\`, \`/widgets/{id}\` | \`widget\`, \`widget_text\` |
| terms of all routes | \`vocabulary\`, \`vocabulary_text\`, \`taxonomy_term\`, \`taxonomy_term_text\` |
| of the program | \`magnitude\`, \`setting\`, \`time_zone_offset\`, \`search_item\`, \`data_dictionary\` |`

const INTRODUCTION = `# Tables and views

Day-ahead prices of a day:

\`\`\`sql
select at_local, value, unit from observations
where indicator_id = 600 and geo_id = 3 and time_trunc is null and geo_agg is null
  and local_date = '2025-11-04';
\`\`\`

Demand as known at 00:00 UTC on 4 November:

\`\`\`sql
select at_local, value from observation_history
where indicator_id = 1293 and geo_id = 8741 and time_trunc is null and geo_agg is null
  and valid_from <= '2025-11-04' and (valid_to is null or valid_to > '2025-11-04');
\`\`\`

Start with the views: they add names, units and local time to the tables. **${SEVERAL_SERIES}**
[recipes.md](recipes.md) has typical analyst queries. The table \`data_dictionary\` has the content of this page.`

/** The known units with their sources. */
const UNITS = `## Units and names

\`unit\` comes from the table \`magnitude\`, by \`indicator.magnitude_id\`. For quantities without a known unit, \`unit\` is the name of the quantity,
and \`energy\` is NULL. Values that the service summed over time (\`time_agg = 'sum'\`) are not powers or prices: their unit is \`sum of MW\` or
\`sum of €/MWh\`. Sums of energy keep the unit MWh.

| id | unit | measure | source | assumed |
|---|---|---|---|---|
${MAGNITUDES.map(({ id, unit, measure, source, isAssumed }) => `| ${id} | ${unit} | ${measure} | ${source} | ${isAssumed ? 'yes' : 'no'} |`).join('\n')}

Names are in the language that \`migrate --language\` chose, else in English, else in Spanish, else in another one, as far as they are stored: a job with
\`locales: [es, en]\` fetches both.`

type Line = readonly [name: string, text: string]

/** Tables up to this number of columns are described in one line. */
const SMALL = 3

/** Formats a column: type, unit and meaning. */
const lines = (object: string): Line[] =>
  dictionaryRows()
    .filter(({ object: of, column_name: name }) => of === object && name !== '')
    .map(({ column_name: name, type, unit, meaning }) => {
      const nullable = type !== null && tableOf(object as TableName).columns[name]!.isNullable
      const form = [
        ...(type === null ? [] : [nullable ? `${type}?` : type]),
        ...(unit === null ? [] : [unit.replace(' to the millisecond', '')]),
      ]
      return [name, `${form.length > 0 ? ` (${form.join('; ')})` : ''}: ${meaning}`]
    })

const names = (columns: readonly string[]): string => columns.map((column) => `\`${column}\``).join(', ')
const list = (columns: readonly Line[]): string => columns.map(([name, text]) => `- \`${name}\`${text}`).join('\n')

/** Returns for each name its most frequent description, if at least two objects have it. */
function commonColumns(objects: readonly string[]): Map<string, string> {
  const counts = new Map<string, number>()
  for (const [name, text] of objects.flatMap(lines))
    counts.set(`${name}${text}`, (counts.get(`${name}${text}`) ?? 0) + 1)
  const common = new Map<string, string>()
  for (const [name, text] of objects.flatMap(lines)) {
    const best = counts.get(`${name}${common.get(name)}`) ?? 1
    if (counts.get(`${name}${text}`)! > best) common.set(name, text)
  }
  return common
}

/** Formats the columns of an object: common ones by name, others with their description. */
function columnsText(object: string, common: ReadonlyMap<string, string>): string {
  const all = lines(object)
  const own = all.filter(([name, text]) => common.get(name) !== text)
  const shared = all.filter(([name, text]) => common.get(name) === text).map(([name]) => name)
  return [...(shared.length > 0 ? [`- ${names(shared)}`] : []), ...(own.length > 0 ? [list(own)] : [])].join('\n')
}

/** Groups views with the same columns, which are described together. */
function viewGroups(): string[][] {
  const groups = new Map<string, string[]>()
  for (const [name, { columns }] of Object.entries(VIEWS)) {
    const key = JSON.stringify(columns)
    groups.set(key, [...(groups.get(key) ?? []), name])
  }
  return [...groups.values()]
}

/** Tables for users, views and columns as Markdown, from their declarations. */
export function schemaText(): string {
  const groups = viewGroups()
  const inViews = commonColumns(groups.map(([first]) => first!))
  const data = NAMES.filter((name) => !name.startsWith('_'))
  const small = data.filter((name) => Object.keys(tableOf(name).columns).length <= SMALL)
  const large = data.filter((name) => !small.includes(name))
  const inTables = commonColumns(data)
  const about = (name: string): string => VIEWS[name as keyof typeof VIEWS].about.replace(` ${SEVERAL_SERIES}`, '')
  return `${[
    INTRODUCTION,
    UNITS,
    '## Views',
    'Columns of several views:',
    list([...inViews]),
    ...groups.flatMap((group) => [
      `### ${names(group)}`,
      group.map((name) => (group.length > 1 ? `\`${name}\`: ${about(name)}` : about(name))).join(' '),
      columnsText(group[0]!, inViews),
    ]),
    '## Tables',
    SOURCES,
    [
      '```mermaid',
      'erDiagram',
      ...RELATIONS.map(([one, many, verb]) => `  ${one} ||--o{ ${many} : ${verb}`),
      '```',
    ].join('\n'),
    'Columns of several tables (`?`: may be NULL):',
    list([...inTables]),
    ...large.flatMap((name) => [
      `### \`${name}\``,
      `${tableOf(name).about} Key: ${names(tableOf(name).key)}.`,
      columnsText(name, inTables),
    ]),
    '### Small tables',
    small
      .map((name) => `- \`${name}\`: ${tableOf(name).about} Columns: ${names(Object.keys(tableOf(name).columns))}.`)
      .join('\n'),
    'The tables of the program itself, whose names begin with `_`, have [a page of their own](bookkeeping/schema.md).',
  ].join('\n\n')}\n`
}

/** The tables that the program needs for itself, with their columns. */
export function bookkeepingText(): string {
  const tables = NAMES.filter((name) => name.startsWith('_'))
  const common = commonColumns(tables)
  return `${[
    '# Bookkeeping tables',
    'Tables that the program needs for itself. For data, use [the tables and views](../schema.md).',
    'Columns of several tables (`?`: may be NULL):',
    list([...common]),
    ...tables.flatMap((name) => [
      `## \`${name}\``,
      `${tableOf(name).about} Key: ${names(tableOf(name).key)}.`,
      columnsText(name, common),
    ]),
  ].join('\n\n')}\n`
}
