/** A command line, split before the flags of its command are known. */
export interface SplitCommandLine {
  /** The word in the place of the command; undefined without one. */
  readonly name: string | undefined
  /** All other words. */
  readonly words: readonly string[]
  /** True if the command line requests the list of all commands. */
  readonly isHelp: boolean
  /** True if errors are logged as JSON. */
  readonly isJson: boolean
}

/** Flags of all commands, which may come before the command. */
const COMMON_FLAG = /^--(no-)?(quiet|verbose|log-format)\b/

/** Joins `--log-format` and its value, so that no value is taken for the command. */
function joinLogFormat(argv: readonly string[]): string[] {
  const index = argv.indexOf('--log-format')
  if (index < 0 || index === argv.length - 1) return [...argv]
  const joined = `--log-format=${argv[index + 1]}`
  return [...argv.slice(0, index), joined, ...joinLogFormat(argv.slice(index + 2))]
}

/** Splits a command line into the command and its other words. Common flags may come first; `help sync` is `sync --help`. */
export function splitCommandLine(argv: readonly string[]): SplitCommandLine {
  const all = joinLogFormat(argv)
  const isJson = all.includes('--log-format=json')
  const isHelpFlag = all.includes('--help') || all.includes('-h')
  const values = all.filter((word) => !word.startsWith('-'))
  const isHelp = values.length === 0 ? isHelpFlag : values.length === 1 && values[0] === 'help'
  if (all[0] === 'help') return { name: all[1], words: ['--help'], isHelp, isJson }
  const index = all.findIndex((word) => !COMMON_FLAG.test(word))
  return { name: all[index], words: all.filter((_, i) => i !== index), isHelp, isJson }
}
