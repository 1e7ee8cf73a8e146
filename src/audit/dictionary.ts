import { TABLE_NAMES, tableOf, VIEWS } from '../tables/schema.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** The data dictionary as Markdown, from the declarations: every table, view and column with its meaning. */
export function schemaText(): string {
  const lines = [
    '# Schema',
    '',
    'Made from the declarations in `src/tables/`. All tables are STRICT. Names that begin with `_` are bookkeeping.',
    '',
    '## Tables',
  ]
  for (const name of [...TABLE_NAMES].sort()) {
    const { about, columns, key } = tableOf(name)
    lines.push(
      '',
      `### \`${name}\``,
      '',
      `${about} Key: ${key.map((column) => `\`${column}\``).join(', ')}.`,
      '',
      '| column | type | meaning |',
      '|---|---|---|',
    )
    for (const [column, { store, nullable, about: meaning }] of Object.entries(columns))
      lines.push(`| \`${column}\` | ${store}${nullable ? ', may be null' : ''} | ${cell(meaning)} |`)
  }
  lines.push('', '## Views')
  for (const [name, { about, columns }] of Object.entries(VIEWS)) {
    lines.push('', `### \`${name}\``, '', about, '', '| column | meaning |', '|---|---|')
    for (const [column, meaning] of Object.entries(columns)) lines.push(`| \`${column}\` | ${cell(meaning)} |`)
  }
  return `${lines.join('\n')}\n`
}
