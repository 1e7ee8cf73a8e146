import yargs, { type Argv, type Options } from 'yargs'
import { InputError } from '../../util/errors.ts'
import { version, versionAndCommit } from '../../util/package.ts'
import { redact } from '../../util/redact.ts'
import { visible } from '../../util/text.ts'
import type { CommandModule } from '../command.ts'
import { COMMON_FLAGS } from '../flags.ts'
import { describe, EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { endWithOutput } from '../terminal/pipes.ts'
import { rememberSecret, secrets } from '../terminal/secrets.ts'
import { signalCode } from '../terminal/signals.ts'
import { COMMANDS, type CommandName, isCommand } from './commands.ts'
import { missingCommand, usageError } from './usage.ts'

/** Positional arguments as yargs and help write them: `<action> [ids..]`. */
export const usageText = ({ positionals = {} }: CommandModule): string =>
  Object.entries(positionals)
    .map(([name, { array, demandOption }]) => {
      const word = `${name}${array ? '..' : ''}`
      return demandOption ? `<${word}>` : `[${word}]`
    })
    .join(' ')

/** Flags that take a value, so that one without a value is refused rather than ignored. */
const withValues = (flags: Readonly<Record<string, Options>>): Record<string, Options> =>
  Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      flag.type === 'boolean' ? flag : { requiresArg: true, ...flag },
    ]),
  )

/** Declares the arguments of a command. */
function declare<T>(parser: Argv<T>, { positionals = {}, flags }: CommandModule): Argv<T> {
  for (const [name, { demandOption: _, ...options }] of Object.entries(positionals)) parser.positional(name, options)
  return parser.options(withValues({ ...flags, ...COMMON_FLAGS })) as unknown as Argv<T>
}

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

/** Throws if a number is not one, which yargs makes NaN, or if a flag for one value has several, which yargs makes a list. */
function checkValues(
  name: CommandName,
  { flags, positionals = {} }: CommandModule,
  args: Readonly<Record<string, unknown>>,
): void {
  const refuse = (message: string): never => {
    throw new InputError(message, { hint: `indicator-sync ${name} --help`, code: 'usage' })
  }
  for (const [argument, { type, array }] of Object.entries({ ...positionals, ...flags, ...COMMON_FLAGS } as Record<
    string,
    Options
  >)) {
    const value = args[argument]
    if (!array && Array.isArray(value)) refuse(`--${argument} is given twice; keep one.`)
    if (type === 'number' && [value].flat().some(Number.isNaN))
      refuse(`${argument in positionals ? `<${argument}>` : `--${argument}`} must be a number.`)
  }
}

/** The command of a command line and its other words: flags of every command may come first, and `help sync` is `sync --help`. */
function splitCommand(argv: readonly string[]): { name: string | undefined; words: string[] } {
  if (argv[0] === 'help' && isCommand(argv[1])) return { name: argv[1], words: ['--help'] }
  let at = 0
  while (/^--(no-)?(quiet|verbose|log-format)\b/.test(argv[at] ?? '')) at += argv[at] === '--log-format' ? 2 : 1
  return { name: argv[at], words: argv.filter((_, i) => i !== at) }
}

/** Parses the words after a command; undefined if yargs has answered them itself, by help. */
async function parse(name: CommandName, module: CommandModule, words: readonly string[]): Promise<object | undefined> {
  const usage = usageText(module)
  let parsed: object | undefined
  const parser = yargs(joinFlagValues(words))
    .scriptName(`indicator-sync ${name}`)
    .command(
      `$0 ${usage}`.trim(),
      COMMANDS[name].about,
      (command) => declare(command, module),
      (args) => {
        parsed = args
      },
    )
    .version(words.includes('--version') ? versionAndCommit() : version())
    .strict()
    // Otherwise yargs ends the process before the output is known to be written.
    .exitProcess(false)
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .example(module.examples.map((example): [string] => [`indicator-sync ${example}`]))
    .fail((message, error) => {
      // yargs reports a mistake of the user as its own error, or as none.
      throw error && error.name !== 'YError' ? error : usageError(message ?? error.message, name, module, words)
    })
  await parser.parseAsync()
  if (parsed) checkValues(name, module, parsed as Record<string, unknown>)
  return parsed
}

/** Answers the completion script of yargs, which calls the program with the words so far. */
async function complete(argv: readonly string[]): Promise<void> {
  const name = argv.slice(argv.indexOf('--get-yargs-completions') + 2).find(isCommand)
  const module = name && (await COMMANDS[name].load())
  const parser = yargs(argv).scriptName('indicator-sync').help().version(version()).exitProcess(false)
  for (const [each, { about }] of Object.entries(COMMANDS))
    if (module && each === name)
      parser.command(`${each} ${usageText(module)}`.trim(), about, (one) => declare(one, module))
    else parser.command(each, about)
  parser.parse()
}

/** Whether lines on stderr are for machines; searched without the parser, because the command line may be illegal. */
const isJson = (argv: readonly string[]): boolean =>
  argv.some((word, i) => word === '--log-format=json' || (word === '--log-format' && argv[i + 1] === 'json'))

/** Logs an error as JSON; the logger is loaded only now. */
async function logAsJson(error: unknown): Promise<void> {
  const { createLog, eventsTo } = await import('../../util/log.ts')
  const log = createLog({ level: 'warn', format: 'json', color: false, secrets: secrets() })
  eventsTo(log)({ event: 'command.failed', ...failedFields(error) })
}

/** Runs the command of a command line and sets the exit code of the process. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  rememberSecret(process.env.INDICATOR_SYNC_API_KEY ?? '')
  try {
    if (argv.includes('--get-yargs-completions')) return await complete(argv)
    const { name, words } = splitCommand(argv)
    if (name === '--version') return void process.stdout.write(`${versionAndCommit()}\n`)
    if (!isCommand(name)) throw missingCommand(name)
    const module: CommandModule = await COMMANDS[name].load()
    if (module.endsWithOutput) endWithOutput()
    const args = await parse(name, module, words)
    process.exitCode = args === undefined ? EXIT.done : await module.handler(args as never)
  } catch (error) {
    process.exitCode = signalCode(error) ?? exitCodeFor(error)
    if (isJson(argv)) await logAsJson(error)
    else process.stderr.write(`${visible(redact(describe(error), secrets()))}\n`)
  }
}
