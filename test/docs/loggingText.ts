import { FIELDS } from '../../src/base/eventFields.ts'
import { EVENTS } from '../../src/base/events.ts'

const rows = (head: string, body: readonly string[]): string =>
  [head, head.replaceAll(/[^|]+/g, '---'), ...body].join('\n')

/** What `docs/logging.md` says: the events and their fields, from their declarations. */
export function loggingText(): string {
  const events = Object.entries(EVENTS).map(([name, kind]) => {
    const quiet = kind.level === 'info' || 'selfHealing' in kind ? '' : 'yes'
    const pretty = kind.pretty === 'always' ? 'always' : '`--verbose`'
    const fields = kind.fields.map((field) => `\`${field}\``).join(' ')
    return `| \`${name}\` | ${kind.level} | ${pretty} | ${quiet} | ${kind.when} | ${fields} |`
  })
  return `${[
    '# Logging',
    'Results go to stdout; what happens goes to stderr, a line each. This page is made from the code: `npm run docs` writes it anew.',
    '- By default a person sees what needs attention, and a line that tells how far the run is (on a terminal it keeps itself up to date; elsewhere one comes each minute).',
    '- `--verbose` tells the outcome of every request, too: status, milliseconds, rows, and what was asked.',
    '- `--quiet` tells what did not cure itself, and nothing where all went well.',
    '- `--log-format json` writes one JSON object a line, for every event, with or without `--verbose`. Its names and fields are stable; others may be added.',
    '- The key stands in no line, and neither does anything that moves a cursor or forges a line.',
    '```sh\nindicator-sync sync job.yaml --log-format json 2> run.ndjson\n```',
    '## Fields of every line',
    'These are the names of [pino](https://getpino.io), so that its tools read the lines.',
    rows('| field | meaning |', [
      '| `level` | 20 debug, 30 info, 40 warn, 50 error |',
      '| `time` | Epoch milliseconds |',
      '| `event` | Name of the event |',
      '| `msg` | The same as a sentence for people; it may change |',
    ]),
    '## Events',
    'The columns *pretty* and *quiet* say who is told: in pretty form always or with `--verbose` only, and with `--quiet`.',
    rows('| event | level | pretty | quiet | when | fields |', events),
    '## Fields',
    rows(
      '| field | meaning |',
      Object.entries(FIELDS).map(([name, means]) => `| \`${name}\` | ${means} |`),
    ),
    'A program that uses the package as a library is told the same events by the hook `onEvent`: [library.md](library.md).',
  ].join('\n\n')}\n`
}
