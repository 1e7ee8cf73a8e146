import { InputError } from '../../base/errors.ts'
import { didYouMean } from '../../base/suggest.ts'
import { COMMON_FLAGS } from '../flags.ts'
import type { Command } from './command.ts'
import { COMMANDS, type CommandName } from './commands.ts'

const isCommand = (name: string | undefined): name is CommandName => name !== undefined && Object.hasOwn(COMMANDS, name)

/** `help sync` as `sync --help`. */
export const withHelp = (argv: readonly string[]): readonly string[] =>
  argv[0] === 'help' && isCommand(argv[1]) ? [argv[1], '--help'] : argv

/** The first flag of a command line that its command does not have. */
function unknownFlag(words: readonly string[], flags: readonly string[]): string | undefined {
  const end = words.indexOf('--')
  const names = words.slice(0, end < 0 ? undefined : end).flatMap((word) => /^--([a-z][\w-]*)/i.exec(word)?.[1] ?? [])
  return names.find((name) => !flags.includes(name) && !flags.includes(name.replace(/^no-/, '')))
}

/** The first argument that a command line lacks, and what it may be. */
function missingArgument(name: CommandName, given: number): string {
  const { usage, positionals = {} }: Command = COMMANDS[name]
  const argument = [...usage.matchAll(/<([\w-]+)/g)].map(([, one]) => one!)[given]!
  const { choices, describe } = positionals[argument] ?? {}
  return `${name} needs <${argument}>: ${choices ? choices.join(', ') : describe}.`
}

/** A value that is not one of those that a flag or an argument takes. */
function illegalValue(name: CommandName, argument: string, given: string, choices: string): string {
  const label = argument in COMMANDS[name].flags || argument in COMMON_FLAGS ? `--${argument}` : `<${argument}>`
  const legal = [...choices.matchAll(/"([^"]*)"/g)].map(([, one]) => one!)
  return `${label} ${given} is not legal; legal: ${legal.join(', ')}.${didYouMean(given.replaceAll('"', ''), legal)}`
}

/** Messages of yargs by pattern, with ours in their place: which command, which argument, what is legal. */
const MESSAGES: readonly (readonly [RegExp, (name: CommandName, groups: readonly string[]) => string])[] = [
  [/^Not enough non-option arguments: got (\d+)/, (name, [given]) => missingArgument(name, Number(given))],
  [/^Not enough arguments following: (\S+)/, (_name, [flag]) => `--${flag} needs a value.`],
  [
    /Argument: (\S+), Given: (.*), Choices: (.*)/,
    (name, [argument, given, choices]) => illegalValue(name, argument!, given!, choices!),
  ],
]

/** A message of yargs in terms of the command. */
function inWords(name: CommandName, message: string): string {
  for (const [pattern, say] of MESSAGES) {
    const found = pattern.exec(message)
    if (found) return say(name, found.slice(1))
  }
  return message
}

/** What is wrong with a command line, and the help that explains it. An unknown flag is reported before its consequences. */
export function usageError(message: string, argv: readonly string[]): InputError {
  const [name] = argv
  if (!isCommand(name)) {
    const unknown = name === undefined || name.startsWith('-') ? message : `${JSON.stringify(name)} is not a command.`
    const close = unknown === message ? '' : didYouMean(name!, Object.keys(COMMANDS))
    return new InputError(`${unknown}${close}`, { hint: 'indicator-sync --help', code: 'usage' })
  }
  const flags = [...Object.keys(COMMANDS[name].flags), ...Object.keys(COMMON_FLAGS), 'help', 'version']
  const unknown = unknownFlag(argv.slice(1), flags)
  return new InputError(
    unknown === undefined
      ? inWords(name, message)
      : `${name} has no flag --${unknown}.${didYouMean(
          `--${unknown}`,
          flags.map((flag) => `--${flag}`),
        )}`,
    { hint: `indicator-sync ${name} --help`, code: 'usage' },
  )
}
