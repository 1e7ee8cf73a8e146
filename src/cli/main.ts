import { splitCommandLine } from './commandLine/splitCommandLine.ts'
import { watchOutput } from './terminal/pipes.ts'

/** Runs the command of the command line. Loads the parser and the command on demand, so that `--help` is quick. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  watchOutput()
  const line = splitCommandLine(argv)
  if (!line.isHelp) return (await import('./commandLine/runCommandLine.ts')).runCommandLine(line)
  const { helpText } = await import('./commandLine/help.ts')
  process.stdout.write(`${helpText()}\n`)
}

// Started directly: only `bin.js` checks the version of Node.
if (import.meta.main) await main()
