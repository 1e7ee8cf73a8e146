import { FIELD_MEANINGS } from '../../src/base/eventFields.ts'
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
    'Results go to stdout, events to stderr, one line each. This page is generated from the code by `npm run docs`.',
    '- By default people see what needs attention, and the progress of the run (on a terminal a line that is updated, elsewhere one line a minute).',
    '- `--verbose` also shows the outcome of every request: status, milliseconds, rows, and path and query.',
    '- `--quiet` shows only errors and warnings that the run does not recover from by itself.',
    '- `--log-format json` writes one JSON object for each event, with or without `--verbose`. Its names and fields are stable; others may be added.',
    '- No line contains the key, or characters that move the cursor or forge a line.',
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
    'The columns *pretty* and *quiet* say where an event is shown: in the pretty log always or only with `--verbose`, and with `--quiet`.',
    rows('| event | level | pretty | quiet | when | fields |', events),
    '## Fields',
    rows(
      '| field | meaning |',
      Object.entries(FIELD_MEANINGS).map(([name, means]) => `| \`${name}\` | ${means} |`),
    ),
    'A program that uses the package as a library is told the same events by the hook `onEvent`: [library.md](library.md).',
  ].join('\n\n')}\n`
}
