import yargs, { type Options } from 'yargs'
import { InputError } from '../../base/errors.ts'
import { redact } from '../../base/redact.ts'
import { visible } from '../../base/visible.ts'
import { COMMON_FLAGS } from '../flags.ts'
import { describe, EXIT, exitCodeOf, failedFields } from '../terminal/fail.ts'
import { rememberSecret, secrets } from '../terminal/secrets.ts'
import { signalCode } from '../terminal/signals.ts'
import { version } from '../version.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT_CODES } from './exitCodes.ts'
import { usageError, withHelp } from './usage.ts'

const EPILOGUE = `Exit codes: ${EXIT_CODES.map(([code, means]) => `${code} ${means.replace(/[:;,] .*/, '')}`).join(' · ')}`

/** Throws where a number is expected and not given: yargs makes NaN of it. */
function checkNumbers({ flags, positionals = {} }: Command, args: Readonly<Record<string, unknown>>): void {
  for (const [name, { type }] of Object.entries({ ...positionals, ...flags }))
    if (type === 'number' && [args[name]].flat().some(Number.isNaN))
      throw new InputError(`${name in positionals ? `<${name}>` : `--${name}`} takes a number.`, {
        hint: 'indicator-sync --help',
        code: 'usage',
      })
}

/** Flags that take a value, so that one without a value is refused rather than ignored. */
const withValues = (flags: Readonly<Record<string, Options>>): Record<string, Options> =>
  Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      flag.type === 'boolean' ? flag : { requiresArg: true, ...flag },
    ]),
  )

/** `--output -` as `--output=-`, which yargs understands. */
function joinFlagValues(argv: readonly string[]): string[] {
  const words: string[] = []
  for (const word of argv) {
    const before = words.at(-1) ?? ''
    if (word === '-' && /^--[^=]+$/.test(before)) words[words.length - 1] = `${before}=-`
    else words.push(word)
  }
  return words
}

/** Whether lines on stderr are for machines; searched without the parser, because the command line itself may be illegal. */
const isJson = (argv: readonly string[]): boolean =>
  argv.some((word, i) => word === '--log-format=json' || (word === '--log-format' && argv[i + 1] === 'json'))

/** Logs an error as JSON; the logger is loaded only now, so that `--help` is quick. */
async function logAsJson(error: unknown): Promise<void> {
  const { createLog, eventsTo } = await import('../../base/log.ts')
  const log = createLog({ level: 'warn', format: 'json', color: false, secrets: secrets() })
  eventsTo(log)({ event: 'command.failed', ...failedFields(error) })
}

/** Throws where a flag is given twice that may be given once: yargs makes a list of it. */
function checkOnce(options: Readonly<Record<string, Options>>, args: Readonly<Record<string, unknown>>): void {
  for (const [name, { array }] of Object.entries(options))
    if (!array && Array.isArray(args[name]))
      throw new InputError(`--${name} is given twice; keep one.`, { hint: 'indicator-sync --help', code: 'usage' })
}

/** Thrown by a handler when the command is known: when a handler returns, yargs formats its help, even if it is not needed. */
const CHOSEN = new Error('a command was chosen')

/** Reads the command line, runs the command and sets the exit code of the process. */
export async function runCommand(given: readonly string[]): Promise<void> {
  const argv = withHelp(given)
  let code: number = EXIT.done
  let chosen: (() => Promise<number>) | undefined
  rememberSecret(process.env.INDICATOR_SYNC_API_KEY ?? '')
  const parser = yargs(joinFlagValues(argv))
    .scriptName('indicator-sync')
    .usage('$0 <command>\n\nSyncs the indicators of a service into a local database (SQLite, or PostgreSQL).')
    .version(version())
    .strict()
    // Otherwise yargs ends the process before the output is known to be written.
    .exitProcess(false)
    .demandCommand(1, 'Say what to do.')
    .recommendCommands()
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .epilogue(EPILOGUE)
    .fail((message, error) => {
      // yargs reports what it finds wrong as its own error, or as none.
      throw error && error.name !== 'YError' ? error : usageError(message ?? error.message, argv)
    })
  for (const declared of Object.values(COMMANDS) as Command[]) {
    const { usage, about, flags, example, run, positionals = {} } = declared
    parser.command({
      command: usage,
      describe: about,
      builder: (command) => {
        for (const [name, options] of Object.entries(positionals)) command.positional(name, options)
        return command.options(withValues({ ...flags, ...COMMON_FLAGS })).example(`$0 ${example}`, '')
      },
      handler: (args) => {
        checkNumbers(declared, args)
        checkOnce({ ...positionals, ...flags, ...COMMON_FLAGS }, args)
        chosen = () => run(args as never, COMMANDS)
        throw CHOSEN
      },
    })
  }
  try {
    try {
      await parser.parseAsync()
    } catch (thrown) {
      if (thrown !== CHOSEN) throw thrown
    }
    if (chosen) code = await chosen()
  } catch (error) {
    code = signalCode(error) ?? exitCodeOf(error)
    if (isJson(argv)) await logAsJson(error)
    else process.stderr.write(`${visible(redact(describe(error), secrets()))}\n`)
  }
  process.exitCode = code
}
