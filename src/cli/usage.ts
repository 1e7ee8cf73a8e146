import { InputError } from '../base/errors.ts'
import { didYouMean } from '../base/suggest.ts'
import { COMMANDS, type CommandName } from './commands.ts'
import { COMMON } from './flags.ts'

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

/** What is wrong with a command line: a flag that is not known before whatever follows from it, and the help to look into. */
export function usageError(message: string, argv: readonly string[]): InputError {
  const [name] = argv
  if (!isCommand(name)) return new InputError(message, { hint: 'indicator-sync --help', code: 'usage' })
  const flags = [...Object.keys(COMMANDS[name].flags), ...Object.keys(COMMON), 'help', 'version']
  const unknown = unknownFlag(argv.slice(1), flags)
  return new InputError(
    unknown === undefined
      ? message
      : `${name} has no flag --${unknown}.${didYouMean(
          `--${unknown}`,
          flags.map((flag) => `--${flag}`),
        )}`,
    { hint: `indicator-sync ${name} --help`, code: 'usage' },
  )
}
