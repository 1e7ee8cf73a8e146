import { watchOutput } from './terminal/pipes.ts'

/** Runs the command of the command line. Loads the parser and the command on demand, so that `--help` is quick. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  watchOutput()
  const words = argv.filter((word, i) => !word.startsWith('-') && argv[i - 1] !== '--log-format')
  const hasFlag = argv.some((word) => word === '--help' || word === '-h')
  const isHelp = (hasFlag && words.length === 0) || (words[0] === 'help' && words.length === 1)
  if (!isHelp) return (await import('./commandLine/runCommandLine.ts')).runCommandLine(argv)
  const { helpText } = await import('./commandLine/help.ts')
  process.stdout.write(`${helpText()}\n`)
}

// Started directly: only `bin.js` checks the version of Node.
if (import.meta.main) await main()
