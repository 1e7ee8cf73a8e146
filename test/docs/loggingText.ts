import { readFileSync } from 'node:fs'
import { EVENTS } from '../../src/util/events.ts'

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ')

/** Groups of fields that events share. */
const GROUPS: readonly (readonly [name: string, fields: readonly string[]])[] = [
  ['request fields', ['run', 'job', 'command', 'entry', 'route', 'indicator', 'window', 'target']],
  ['run fields', ['run', 'job', 'command']],
  ['error fields', ['code', 'reason', 'hint']],
]

/** Formats the fields of events with their comments. */
const fieldList = (): string =>
  [
    ...readFileSync('src/util/eventFields.ts', 'utf8')
      .split('interface EventFields')[1]!
      .matchAll(/\/\*\* (.*) \*\/\n {2}readonly (\w+)\?:/g),
  ]
    .map(([, comment, name]) => `- \`${name}\`: ${comment}`)
    .join('\n')

/** Formats the fields of an event, with group names. */
function fieldsText(fields: readonly string[]): string {
  let rest = fields
  const groups: string[] = []
  for (const [name, members] of GROUPS)
    if (members.every((field) => rest.includes(field))) {
      groups.push(name)
      rest = rest.filter((field) => !members.includes(field))
    }
  return [...groups, ...(rest.length > 0 ? [code(rest)] : [])].join(', ')
}

/** `docs/logging.md`: the events and their fields, from their declarations. */
export function loggingText(): string {
  const events = Object.entries(EVENTS).map(([name, kind]) => {
    const shown = [
      kind.level,
      ...('pretty' in kind ? ['verbose'] : []),
      ...('selfHealing' in kind ? ['not with `--quiet`'] : []),
    ]
    const fields = fieldsText(kind.fields)
    return `- \`${name}\` (${shown.join(', ')}): ${kind.when}${fields === '' ? '' : ` Fields: ${fields}.`}`
  })
  return `${[
    '# Logging',
    '```sh\nindicator-sync sync jobs/nightly.yaml --log-format json 2> run.ndjson\n```',
    'Results go to stdout, events to stderr. Events never contain the key or control characters.',
    [
      '- Default: warnings, errors, progress and notes; failed requests are summarised at the end.',
      '- `--verbose`: also the outcome of every request.',
      '- `--quiet`: only errors, and warnings that need attention.',
      '- `--log-format json`: one JSON object per event; together with `--quiet`, only errors, including each failed request, and warnings that need attention. Event names and fields are stable; new ones may be added.',
    ].join('\n'),
    'JSON lines are those of [pino](https://getpino.io): `level` (20 debug, 30 info, 40 warn, 50 error), `time` (epoch milliseconds) and `msg`, a sentence that may change. Each also has `event`, its name, and the fields below.',
    '## Events',
    '`verbose` events appear only with `--verbose` or in JSON. Groups of fields:',
    GROUPS.map(([name, fields]) => `- ${name}: ${code(fields)}`).join('\n'),
    'Events with their level:',
    events.join('\n'),
    '## Fields',
    fieldList(),
    'The hook `onEvent` of the [library](library.md) receives the same events.',
  ].join('\n\n')}\n`
}
