import { SERVICE_NAMES } from '../../services/services.ts'
import { DEFAULT_DATABASE } from '../flags.ts'
import { wrapLines } from '../terminal/wrap.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT_CODES } from './exitCodes.ts'
import { MAINTENANCE_COMMANDS } from './maintenanceCommands.ts'
import { READ_COMMANDS } from './readCommands.ts'
import { SYNC_COMMANDS } from './syncCommands.ts'

/** The settings that can also be given as environment variables or in a `.env` file. */
export const VARIABLES = [
  ['INDICATOR_SYNC_SERVICE', '--service', `service: ${SERVICE_NAMES.join(', ')}; generic when not set`],
  ['INDICATOR_SYNC_BASE_URL', '--base-url', 'base address of the service; from the profile when not set'],
  ['INDICATOR_SYNC_API_KEY', '--api-key-file', 'the key itself; the flag names a file that holds it'],
  ['INDICATOR_SYNC_ALLOW_HTTP', '--allow-http', '1: the key may go unencrypted to another machine'],
  ['INDICATOR_SYNC_DATABASE', '--database', `database file; ${DEFAULT_DATABASE} when not set`],
  ['INDICATOR_SYNC_NOTIFY', '--notify', 'address that is notified of how every run ended'],
] as const

/** The commands that a newcomer needs first, in this order. */
const FIRST_COMMANDS = ['init', 'sync', 'status', 'query', 'export'] as const

/** A heading of the help, with its commands. */
export interface CommandGroup {
  readonly title: string
  readonly commands: Readonly<Record<string, Command>>
}

const isFirst = (name: string): boolean => (FIRST_COMMANDS as readonly string[]).includes(name)
const otherCommands = (commands: Readonly<Record<string, Command>>): Record<string, Command> =>
  Object.fromEntries(Object.entries(commands).filter(([name]) => !isFirst(name)))

/** Every command under its heading. A new command gets the heading of the file in which it is declared. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { title: 'Begin with', commands: Object.fromEntries(FIRST_COMMANDS.map((name) => [name, COMMANDS[name]])) },
  { title: 'Plan and fetch', commands: otherCommands(SYNC_COMMANDS) },
  { title: 'Read, check and hand out', commands: otherCommands(READ_COMMANDS) },
  { title: 'Look after the database', commands: otherCommands(MAINTENANCE_COMMANDS) },
]

/** The text of `--help` without a command: the commands in groups, those that are needed first at the top. */
export function helpText(width = 100): string {
  const usages = COMMAND_GROUPS.flatMap(({ commands }) => Object.values(commands).map(({ usage }) => usage))
  const longest = 'indicator-sync '.length + Math.max(...usages.map(({ length }) => length)) + 4
  const column = Math.min(longest, Math.max(24, width - 30))
  const row = ({ usage, about }: Command): string => {
    const head = `  indicator-sync ${usage}`
    // A long name has a line for itself.
    const [first, rest] =
      head.length + 2 > column ? [[head], wrapLines(about, width - column)] : [[], wrapLines(about, width - column)]
    return [
      ...first,
      ...rest.map((line, i) => `${(i === 0 && first.length === 0 ? head : '').padEnd(column)}${line}`),
    ].join('\n')
  }
  return [
    'indicator-sync <command>',
    wrapLines('Syncs the indicators of a service into a local database (SQLite, or PostgreSQL).', width).join('\n'),
    ...COMMAND_GROUPS.map(({ title, commands }) => `${title}\n${Object.values(commands).map(row).join('\n')}`),
    [
      'Flags of every command',
      '  --help        What a command does, with an example',
      '  --quiet       Only results and errors',
      '  --verbose     Tell the outcome of every request',
      '  --log-format  Form of the lines on stderr: pretty or json',
      '  --version     The version of this program',
    ].join('\n'),
    `Exit codes\n${EXIT_CODES.flatMap(([code, means]) =>
      wrapLines(means, width - 12).map((line, i) => `  ${(i === 0 ? code : '').padEnd(8)}  ${line}`),
    ).join('\n')}`,
    'Without a key or network: indicator-sync demo',
  ].join('\n\n')
}
