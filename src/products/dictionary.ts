import { dictionaryRows } from '../tables/dictionary.ts'
import { SEVERAL_SERIES, TABLE_NAMES, type TableName, tableOf, VIEWS } from '../tables/schema.ts'

const markdownCell = (text: string): string => text.replaceAll('|', '\\|')

/** Relations between tables: one row of the first has many of the second. */
const RELATIONS = [
  ['indicator', 'indicator_text', 'is named in'],
  ['indicator_text', 'indicator_revision', 'was before'],
  ['indicator', 'series', 'is requested as'],
  ['series', 'series_geo', 'is split by'],
  ['geo', 'series_geo', 'is a part of'],
  ['geo', 'geo_text', 'is named in'],
  ['series_geo', 'observation', 'has'],
  ['observation', 'observation_revision', 'was before'],
  ['series', '_coverage', 'is held in'],
  ['_fetch', 'observation', 'brought'],
  ['_run', '_fetch', 'sent'],
  ['_reply', '_fetch', 'answered'],
  ['_fetch', '_quarantine', 'had'],
  ['content', 'content_text', 'is written in'],
  ['content_text', 'content_revision', 'was before'],
  ['content', 'content_term', 'is filed by'],
  ['content', 'content_media', 'shows'],
  ['taxonomy_term', 'content_term', 'files'],
  ['vocabulary', 'taxonomy_term', 'lists'],
  ['archive', 'archive_edition', 'is published as'],
  ['archive', 'archive_text', 'is named in'],
  ['archive_file', 'archive_edition', 'is the file of'],
  ['widget', 'widget_text', 'is named in'],
] as const

/** The tables and their relations, as an entity diagram in Mermaid. */
function diagram(): string[] {
  const drawn = [...new Set(RELATIONS.flatMap((relation) => relation.slice(0, 2) as [TableName, TableName]))]
  return [
    '```mermaid',
    'erDiagram',
    ...RELATIONS.map(([one, many, verb]) => `  ${one} ||--o{ ${many} : "${verb}"`),
    ...drawn.flatMap((name) => {
      const { columns, key } = tableOf(name)
      const shown = Object.entries(columns).filter(([column]) => key.includes(column))
      return [`  ${name} {`, ...shown.map(([column, { store }]) => `    ${store} ${column} PK`), '  }']
    }),
    '```',
  ]
}

/** The data dictionary as Markdown, from the declarations: every table, view and column with its meaning. */
export function schemaText(): string {
  const lines = [
    '# Schema',
    '',
    `**${SEVERAL_SERIES}**`,
    '',
    'Made from the declarations in `src/tables/`. All tables are STRICT. Names that begin with `_` are bookkeeping.',
    '',
    'The same is in the file itself: `select * from data_dictionary`. `search` is an FTS5 index over `texts`.',
    '',
    '## How tables hang together',
    '',
    ...diagram(),
    '',
    '## Tables',
  ]
  const units = new Map(dictionaryRows().map(({ object, column_name, unit }) => [`${object}.${column_name}`, unit]))
  const unitOf = (name: string, column: string): string => markdownCell(units.get(`${name}.${column}`) ?? '')
  for (const name of [...TABLE_NAMES].sort()) {
    const { about, columns, key } = tableOf(name)
    lines.push(
      '',
      `### \`${name}\``,
      '',
      `${about} Key: ${key.map((column) => `\`${column}\``).join(', ')}.`,
      '',
      '| column | type | unit | meaning |',
      '|---|---|---|---|',
    )
    for (const [column, { store, nullable, about: meaning }] of Object.entries(columns))
      lines.push(
        `| \`${column}\` | ${store}${nullable ? ', may be null' : ''} | ${unitOf(name, column)} | ${markdownCell(meaning)} |`,
      )
  }
  lines.push('', '## Views')
  for (const [name, { about, columns }] of Object.entries(VIEWS)) {
    lines.push('', `### \`${name}\``, '', about, '', '| column | unit | meaning |', '|---|---|---|')
    for (const [column, meaning] of Object.entries(columns))
      lines.push(`| \`${column}\` | ${unitOf(name, column)} | ${markdownCell(meaning)} |`)
  }
  return `${lines.join('\n')}\n`
}
