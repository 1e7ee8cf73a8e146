import yargs, { type Argv, type Options } from 'yargs'
import { InputError } from '../../util/errors.ts'
import { version } from '../../util/package.ts'
import { redact } from '../../util/redact.ts'
import { visible } from '../../util/text.ts'
import type { CommandModule } from '../command.ts'
import { COMMON_FLAGS } from '../flags.ts'
import { describeError, EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { endWithOutput } from '../terminal/pipes.ts'
import { rememberSecret, secrets } from '../terminal/secrets.ts'
import { signalCode } from '../terminal/signals.ts'
import { COMMANDS, type CommandName, isCommand } from './commands.ts'
import { createMissingCommandError, createUsageError } from './usage.ts'

/** Positional arguments as yargs and help write them: `<action> [ids..]`. */
export const usageText = ({ positionals = {} }: CommandModule): string =>
  Object.entries(positionals)
    .map(([name, { array, demandOption }]) => {
      const word = `${name}${array ? '..' : ''}`
      return demandOption ? `<${word}>` : `[${word}]`
    })
    .join(' ')

/** Flags with a value refuse to come without one. With `nargs`, the value may also be `-`. */
const requireValues = (flags: Readonly<Record<string, Options>>): Record<string, Options> =>
  Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => {
      if (flag.type === 'boolean') return [name, flag]
      return [name, flag.array ? { requiresArg: true, ...flag } : { nargs: 1, ...flag }]
    }),
  )

/** Declares the arguments of a command. */
function declare<T>(parser: Argv<T>, { positionals = {}, flags }: CommandModule): Argv<T> {
  for (const [name, { demandOption: _, ...options }] of Object.entries(positionals)) parser.positional(name, options)
  return parser.options(requireValues({ ...flags, ...COMMON_FLAGS })) as unknown as Argv<T>
}

/**
 * Joins a flag and its value that begins with a minus sign: `--from=-6h`. Before yargs knows the flags of the command, it takes the `h`
 * of `-6h` for `-h`.
 */
function joinNegativeValues(words: readonly string[], { flags }: CommandModule): string[] {
  const options: Readonly<Record<string, Options>> = { ...flags, ...COMMON_FLAGS }
  const joined: string[] = []
  for (const word of words) {
    const flag = joined.at(-1)?.match(/^--([\w-]+)$/)?.[1] ?? ''
    const takesValue = flag in options && options[flag]!.type !== 'boolean'
    if (takesValue && /^-\d/.test(word) && !joined.includes('--')) joined.push(`${joined.pop()}=${word}`)
    else joined.push(word)
  }
  return joined
}

/** The value of a flag as the user wrote it; undefined if it cannot be found. */
function findWritten(words: readonly string[], flag: string): string | undefined {
  const index = words.findIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
  const word = words[index]
  return word?.includes('=') ? word.slice(word.indexOf('=') + 1) : words[index + 1]
}

/** Refuses what yargs accepts: text for a number (NaN), and a repeated flag for one value (a list). */
function checkValues(
  name: CommandName,
  { flags, positionals = {} }: CommandModule,
  args: Readonly<Record<string, unknown>>,
  words: readonly string[],
): void {
  const refuse = (message: string): never => {
    const geos = message.startsWith('--geo ') ? '`indicator-sync discover --in geos` lists the ids. ' : ''
    throw new InputError(message, { hint: `${geos}indicator-sync ${name} --help`, code: 'usage' })
  }
  const options: Readonly<Record<string, Options>> = { ...positionals, ...flags, ...COMMON_FLAGS }
  for (const [argument, { type, array }] of Object.entries(options)) {
    const value = args[argument]
    if (!array && Array.isArray(value)) refuse(`--${argument} is given twice; keep one.`)
    if (type !== 'number' || ![value].flat().some(Number.isNaN)) continue
    const isPositional = argument in positionals
    const written = isPositional
      ? words.find((word) => !word.startsWith('-') && Number.isNaN(Number(word)))
      : findWritten(words, argument)
    const label = isPositional ? `<${argument}>` : `--${argument}`
    refuse(`${label} ${JSON.stringify(written ?? '')} is not valid; expected a number.`)
  }
}

/** Splits a command line into the command and its other words. Common flags may come first; `help sync` is `sync --help`. */
function splitCommand(argv: readonly string[]): { name: string | undefined; words: string[] } {
  if (argv[0] === 'help') return { name: argv[1], words: ['--help'] }
  let index = 0
  while (/^--(no-)?(quiet|verbose|log-format)\b/.test(argv[index] ?? ''))
    index += argv[index] === '--log-format' ? 2 : 1
  return { name: argv[index], words: argv.filter((_, i) => i !== index) }
}

/** Parses the words after a command; returns undefined if yargs printed help or the version. */
async function parse(name: CommandName, module: CommandModule, words: readonly string[]): Promise<object | undefined> {
  let parsed: object | undefined
  const parser = yargs(joinNegativeValues(words, module))
    .scriptName(`indicator-sync ${name}`)
    .command(
      `$0 ${usageText(module)}`.trim(),
      COMMANDS[name].about,
      (command) => declare(command, module),
      (args) => {
        parsed = args
      },
    )
    .version(version())
    .alias('help', 'h')
    .strict()
    // Otherwise yargs exits before the output is written.
    .exitProcess(false)
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .example(module.examples.map((example): [string] => [`indicator-sync ${example}`]))
    .fail((message, error) => {
      // A mistake of the user is a YError or has no error.
      throw error && error.name !== 'YError' ? error : createUsageError(message ?? error.message, name, module, words)
    })
  await parser.parseAsync()
  if (parsed) checkValues(name, module, parsed as Record<string, unknown>, words)
  return parsed
}

/** Returns true for `--log-format json`. Searches the words, because yargs may be unable to parse them. */
const isJson = (argv: readonly string[]): boolean => /(^| )--log-format[= ]json( |$)/.test(argv.join(' '))

/** Runs the command of a command line and sets the exit code of the process. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  rememberSecret(process.env.INDICATOR_SYNC_API_KEY ?? '')
  try {
    const { name, words } = splitCommand(argv)
    if (name === '--version') return void process.stdout.write(`${version()}\n`)
    if (!isCommand(name)) throw createMissingCommandError(name)
    const module: CommandModule = await COMMANDS[name].load()
    if (module.endsWithOutput) endWithOutput()
    const args = await parse(name, module, words)
    process.exitCode = args === undefined ? EXIT.done : await module.handler(args as never)
  } catch (error) {
    process.exitCode = signalCode(error) ?? exitCodeFor(error)
    if (!isJson(argv)) return void process.stderr.write(`${visible(redact(describeError(error), secrets()))}\n`)
    // The logger is loaded on demand.
    const { createLog, eventsTo } = await import('../../util/log.ts')
    const log = createLog({ level: 'warn', format: 'json', isColored: false, secrets: secrets() })
    eventsTo(log)({ event: 'command.failed', ...failedFields(error) })
  }
}
