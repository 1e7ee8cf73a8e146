import type { Options } from 'yargs'
import type { CommandModule } from '../src/cli/command.ts'
import { COMMANDS } from '../src/cli/commandLine/commands.ts'
import { EXIT_CODES } from '../src/cli/commandLine/help.ts'
import { usageText } from '../src/cli/commandLine/runCommandLine.ts'
import { COMMON_FLAGS, DEFAULT_DATABASE } from '../src/cli/flags.ts'

/** Settings as environment variables or lines of a `.env` file, each with its flag. */
export const VARIABLES = [
  ['INDICATOR_SYNC_SERVICE', '--service', 'service: generic (default) or esios'],
  ['INDICATOR_SYNC_BASE_URL', '--base-url', 'base URL of the service; esios has one'],
  ['INDICATOR_SYNC_API_KEY', '--api-key-file', 'the key itself; the flag names a file with the key'],
  ['INDICATOR_SYNC_ALLOW_HTTP', '', '1: send the key unencrypted (http) to another machine'],
  ['INDICATOR_SYNC_PROXY', '', 'address of an HTTP proxy; default HTTPS_PROXY or HTTP_PROXY; NO_PROXY applies'],
  ['INDICATOR_SYNC_DATABASE', '--database', `database; default ${DEFAULT_DATABASE}`],
  ['INDICATOR_SYNC_PAGE_TOKEN', '', 'token of the page for other computers; default a new one at each start of serve'],
  ['INDICATOR_SYNC_NOTIFY', '--notify', 'webhook URL that is notified of each run'],
] as const

/** A command with its module; `usage`: its name and its positional arguments. */
interface DescribedCommand extends CommandModule {
  readonly name: string
  readonly about: string
  readonly usage: string
}

/** All commands with their modules, by group. */
export async function commandGroups(): Promise<Map<string, DescribedCommand[]>> {
  const groups = new Map<string, DescribedCommand[]>()
  for (const [name, { group, about, load }] of Object.entries(COMMANDS)) {
    const module: CommandModule = await load()
    const described = { ...module, name, about, usage: `${name} ${usageText(module)}`.trim() }
    groups.set(group, [...(groups.get(group) ?? []), described])
  }
  return groups
}

/** The kind of value that a flag takes, as the reference and the manual page write it. */
export function valueWord({ type, choices }: Options): string {
  if (choices) return choices.map(String).join('|')
  if (type === 'boolean') return ''
  return type === 'number' ? 'N' : 'TEXT'
}

/** A flag's default in words; empty if there is none to name. */
export const defaultOf = (options: Options): string =>
  options.defaultDescription ??
  (options.default === undefined || options.type === 'boolean' ? '' : String(options.default))

/** A text that roff takes as it is: no escapes, no requests, and characters that every terminal knows. */
const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('’', "'")
    .replaceAll('…', '...')
    .replaceAll('`', '')
    .replace(/^[.']/, '\\&$&')
const bold = (text: string): string => `\\fB${plain(text)}\\fR`
const item = (head: string, text: string): string[] => ['.TP', head, plain(text)]

/** Whether a flag is required, or else its default, in brackets; empty without a default. */
function defaultText(options: Options): string {
  const text = options.demandOption ? 'required' : defaultOf(options)
  return text === '' ? '' : ` (${text})`
}

const flagItems = (flags: Readonly<Record<string, Options>>): string[] =>
  Object.entries(flags).flatMap(([name, options]) => {
    const value = valueWord(options)
    const otherwise = defaultText(options)
    return item(
      `${bold(`--${name}`)}${value === '' ? '' : ` \\fI${plain(value)}\\fR`}`,
      `${options.describe ?? ''}${otherwise}.`,
    )
  })

/** Writes the manual page of a package from the declarations of the commands. */
export async function manText(version: string): Promise<string> {
  const commands = [...(await commandGroups())].flatMap(([title, commands]) => [
    `.SH ${plain(title.toUpperCase())}`,
    ...commands.flatMap(({ usage, about, flags, positionals = {}, examples }) => [
      `.SS "indicator\\-sync ${plain(usage)}"`,
      plain(`${about}.`),
      ...Object.entries(positionals).flatMap(([name, { describe, choices }]) =>
        item(`\\fI${plain(name)}\\fR`, `${describe ?? ''}${choices ? ` (${choices.join(' or ')})` : ''}.`),
      ),
      ...flagItems(flags),
      '.PP',
      examples.length === 1 ? 'Example:' : 'Examples:',
      ...examples.flatMap((example) => [`.B indicator\\-sync ${plain(example)}`, '.br']),
    ]),
  ])
  return `${[
    `.TH INDICATOR\\-SYNC 1 "" "indicator\\-sync ${plain(version)}" "User Commands"`,
    '.SH NAME',
    "indicator\\-sync \\- mirror Spain's e·sios electricity market data into SQLite or PostgreSQL",
    '.SH SYNOPSIS',
    '.B indicator\\-sync',
    '\\fIcommand\\fR [\\fIflags\\fR]',
    '.SH DESCRIPTION',
    plain(
      'Fetches the time series, texts, archives and widgets that job files (YAML) name, and loads them into a database.',
    ),
    plain('Results go to stdout, everything else to stderr.'),
    ...commands,
    '.SH FLAGS OF EVERY COMMAND',
    ...flagItems(COMMON_FLAGS),
    '.SH ENVIRONMENT',
    plain('A .env in the current folder is read; real variables win over it, flags win over both.'),
    ...VARIABLES.flatMap(([name, flag, means]) => item(bold(name), `${flag === '' ? '' : `${flag}: `}${means}.`)),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, means]) => item(bold(code), means)),
    '.SH FILES',
    ...item(bold('data/indicator-sync.db'), 'The default database.'),
    ...item(bold('.env'), 'Settings, in the current folder.'),
  ].join('\n')}\n`
}
