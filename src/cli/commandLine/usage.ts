import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import type { CommandModule } from '../command.ts'
import { COMMON_FLAGS } from '../flags.ts'
import { COMMANDS } from './commands.ts'

function missingCommandText(word: string | undefined): string {
  if (word === undefined) return 'Missing command.'
  if (word.startsWith('-')) return `Unknown flag ${word}, and no command.`
  return `Unknown command ${JSON.stringify(word)}.${didYouMean(word, Object.keys(COMMANDS))}`
}

/** The error for a command line that does not begin with a command. */
export const createMissingCommandError = (word: string | undefined): InputError =>
  new InputError(missingCommandText(word), { hint: 'indicator-sync --help', code: 'usage' })

/** Finds the first flag of a command line that its command does not have. */
function findUnknownFlag(words: readonly string[], flags: readonly string[]): string | undefined {
  const end = words.indexOf('--')
  const names = words.slice(0, end < 0 ? undefined : end).flatMap((word) => /^--([a-z][\w-]*)/i.exec(word)?.[1] ?? [])
  return names.find((name) => !flags.includes(name) && !flags.includes(name.replace(/^no-/, '')))
}

/** Messages of yargs, each with its text in terms of the command. */
const MESSAGES: readonly (readonly [RegExp, (module: CommandModule, ...groups: string[]) => string])[] = [
  [
    /^Not enough non-option arguments: got (\d+)/,
    ({ positionals = {} }, count) => {
      const required = Object.entries(positionals).filter(([, { demandOption }]) => demandOption)
      const [name, { choices, describe }] = required[Number(count)]!
      return `Missing argument <${name}>: ${choices ? `expected ${choices.join(', ')}` : describe}.`
    },
  ],
  [/^Missing required arguments?: (.*)/, (_, flags) => `Missing --${flags!.replaceAll(', ', ', --')}.`],
  [/^Not enough arguments following: (\S+)/, (_, flag) => `--${flag} needs a value.`],
  [
    /Argument: (\S+), Given: (.*), Choices: (.*)/,
    ({ flags }, argument, value, choices) => {
      const label = argument! in flags || argument! in COMMON_FLAGS ? `--${argument}` : `<${argument}>`
      const legal = JSON.parse(`[${choices}]`) as string[]
      const suggestion = didYouMean(value!.replaceAll('"', ''), legal)
      return `${label} ${value} is not valid; expected one of: ${legal.join(', ')}.${suggestion}`
    },
  ],
]

function translate(message: string, module: CommandModule): string {
  for (const [pattern, text] of MESSAGES) {
    const match = pattern.exec(message)
    if (match) return text(module, ...match.slice(1))
  }
  return message
}

/** The error for an illegal command line. An unknown flag is reported before its consequences. */
export function createUsageError(
  message: string,
  name: string,
  module: CommandModule,
  words: readonly string[],
): InputError {
  const flags = [...Object.keys(module.flags), ...Object.keys(COMMON_FLAGS), 'help', 'version']
  const unknown = findUnknownFlag(words, flags)
  const options = flags.map((flag) => `--${flag}`)
  return new InputError(
    unknown === undefined
      ? translate(message, module)
      : `${name} has no flag --${unknown}.${didYouMean(`--${unknown}`, options)}`,
    { hint: `indicator-sync ${name} --help`, code: 'usage' },
  )
}
