import { watchOutput } from './terminal/pipes.ts'

/** Runs the command of the command line. Loads the parser and the command on demand, so that `--help` is quick. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  watchOutput()
  const words = argv.filter((word) => !word.startsWith('-'))
  const isHelp = (argv.includes('--help') && words.length === 0) || (words[0] === 'help' && argv.length === 1)
  if (!isHelp) return (await import('./commandLine/runCommandLine.ts')).runCommandLine(argv)
  const { helpText } = await import('./commandLine/help.ts')
  process.stdout.write(`${helpText()}\n`)
}

// Started directly: only `bin.js` checks the version of Node.
if (import.meta.main) await main()
