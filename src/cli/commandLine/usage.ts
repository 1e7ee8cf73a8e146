import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import type { CommandModule } from '../command.ts'
import { COMMON_FLAGS } from '../flags.ts'
import { COMMANDS } from './commands.ts'

/** The error for a command line that does not begin with a command. */
export function missingCommand(word: string | undefined): InputError {
  const message =
    word === undefined || word.startsWith('-')
      ? 'Missing command.'
      : `Unknown command ${JSON.stringify(word)}.${didYouMean(word, Object.keys(COMMANDS))}`
  return new InputError(message, { hint: 'indicator-sync --help', code: 'usage' })
}

/** The first flag of a command line that its command does not have. */
function unknownFlag(words: readonly string[], flags: readonly string[]): string | undefined {
  const end = words.indexOf('--')
  const names = words.slice(0, end < 0 ? undefined : end).flatMap((word) => /^--([a-z][\w-]*)/i.exec(word)?.[1] ?? [])
  return names.find((name) => !flags.includes(name) && !flags.includes(name.replace(/^no-/, '')))
}

/** The first argument that a command line lacks, with its legal values. */
function missingArgument({ positionals = {} }: CommandModule, given: number): string {
  const [argument, { choices, describe }] = Object.entries(positionals).filter(([, { demandOption }]) => demandOption)[
    given
  ]!
  return `Missing argument <${argument}>: ${choices ? `expected ${choices.join(', ')}` : describe}.`
}

/** A value that a flag or an argument does not take. */
function illegalValue({ flags }: CommandModule, argument: string, given: string, choices: string): string {
  const label = argument in flags || argument in COMMON_FLAGS ? `--${argument}` : `<${argument}>`
  const legal = [...choices.matchAll(/"([^"]*)"/g)].map(([, one]) => one!)
  return `${label} ${given} is not valid; expected one of: ${legal.join(', ')}.${didYouMean(given.replaceAll('"', ''), legal)}`
}

/** A message of yargs in terms of the command. */
function translate(message: string, module: CommandModule): string {
  const [, given] = /^Not enough non-option arguments: got (\d+)/.exec(message) ?? []
  if (given !== undefined) return missingArgument(module, Number(given))
  const [, missing] = /^Missing required arguments?: (.*)/.exec(message) ?? []
  if (missing !== undefined)
    return `Missing ${missing
      .split(', ')
      .map((flag) => `--${flag}`)
      .join(', ')}.`
  const [, flag] = /^Not enough arguments following: (\S+)/.exec(message) ?? []
  if (flag !== undefined) return `--${flag} needs a value.`
  const [, argument, value, choices] = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message) ?? []
  return argument === undefined ? message : illegalValue(module, argument, value!, choices!)
}

/** The error for an illegal command line. An unknown flag is reported before its consequences. */
export function usageError(message: string, name: string, module: CommandModule, words: readonly string[]): InputError {
  const flags = [...Object.keys(module.flags), ...Object.keys(COMMON_FLAGS), 'help', 'version']
  const unknown = unknownFlag(words, flags)
  const options = flags.map((flag) => `--${flag}`)
  return new InputError(
    unknown === undefined
      ? translate(message, module)
      : `${name} has no flag --${unknown}.${didYouMean(`--${unknown}`, options)}`,
    { hint: `indicator-sync ${name} --help`, code: 'usage' },
  )
}
