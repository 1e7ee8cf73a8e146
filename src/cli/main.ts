import { commandNamed } from './commandLine/commands.ts'
import { watchOutput } from './terminal/pipes.ts'

/** Whether a command line requests the help of the program as a whole. */
function isHelp(argv: readonly string[]): boolean {
  const words = argv.filter((word) => !word.startsWith('-'))
  return (argv.includes('--help') && words.length === 0) || (words[0] === 'help' && argv.length === 1)
}

/** Runs the command of the command line; modules are loaded on demand, because most commands need few. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  watchOutput(commandNamed(argv[0])?.endsWithOutput === true)
  if (!isHelp(argv)) return (await import('./commandLine/parse.ts')).runCommand(argv)
  const { helpText } = await import('./commandLine/help.ts')
  process.stdout.write(`${helpText(Math.min(110, process.stdout.columns ?? 110))}\n`)
}

// Called by itself, on a runtime that is new enough; `bin.js` checks that first.
if (import.meta.main) await main()
