import yargs, { type Argv, type Options } from 'yargs'
import { version } from '../../util/package.ts'
import { redact } from '../../util/redact.ts'
import { visible } from '../../util/text.ts'
import type { CommandModule } from '../command.ts'
import { COMMON_FLAGS } from '../flags.ts'
import { describeError, EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { endWithOutput } from '../terminal/pipes.ts'
import { rememberSecret, secrets } from '../terminal/secrets.ts'
import { signalCode } from '../terminal/signals.ts'
import { checkValues } from './checkValues.ts'
import { COMMANDS, type CommandName, isCommand } from './commands.ts'
import type { SplitCommandLine } from './splitCommandLine.ts'
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

/** Declares the positional arguments of a command. */
function declarePositionals<T>(parser: Argv<T>, { positionals = {} }: CommandModule): Argv<T> {
  for (const [name, { demandOption: _, ...options }] of Object.entries(positionals)) parser.positional(name, options)
  return parser
}

/** Parses the words after a command; returns undefined if yargs printed help or the version. */
async function parse(name: CommandName, module: CommandModule, words: readonly string[]): Promise<object | undefined> {
  let parsed: object | undefined
  const parser = yargs([...words])
    .scriptName(`indicator-sync ${name}`)
    .version(version())
    // Before the command: otherwise yargs takes the `h` of `--from -6h` for `-h`, because it does not know `--from` yet.
    .options(requireValues({ ...module.flags, ...COMMON_FLAGS }))
    .command(
      `$0 ${usageText(module)}`.trim(),
      COMMANDS[name].about,
      (command) => declarePositionals(command, module),
      (args) => {
        parsed = args
      },
    )
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

/** Runs the command of a command line and sets the exit code of the process. */
export async function runCommandLine({ name, words, isJson }: SplitCommandLine): Promise<void> {
  rememberSecret(process.env.INDICATOR_SYNC_API_KEY ?? '')
  try {
    if (name === '--version') return void process.stdout.write(`${version()}\n`)
    if (!isCommand(name)) throw createMissingCommandError(name)
    const module: CommandModule = await COMMANDS[name].load()
    if (module.endsWithOutput) endWithOutput()
    const args = await parse(name, module, words)
    process.exitCode = args === undefined ? EXIT.done : await module.handler(args as never)
  } catch (error) {
    process.exitCode = signalCode(error) ?? exitCodeFor(error)
    if (!isJson) return void process.stderr.write(`${visible(redact(describeError(error), secrets()))}\n`)
    // The logger is loaded on demand.
    const { createLog, eventsTo } = await import('../../util/log.ts')
    const log = createLog({ level: 'warn', format: 'json', isColored: false, secrets: secrets() })
    eventsTo(log)({ event: 'command.failed', ...failedFields(error) })
  }
}
