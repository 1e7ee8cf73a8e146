import { existsSync } from 'node:fs'
import { commandNamed } from './commands.ts'

/** The file of the database by the command line or the environment; a guess, because nothing is read yet. */
function databaseOf(argv: readonly string[]): string {
  const at = argv.findIndex((word) => /^--database(?:=|$)/.test(word))
  const named = at < 0 ? undefined : (argv[at]!.split('=')[1] ?? argv[at + 1])
  return named ?? process.env.INDICATOR_SYNC_DATABASE ?? 'data/indicator-sync.db'
}

/** Whether the command line of a process, Node and script included, will certainly fetch. A `sync` into an existing database may find nothing to do, and decides later. */
export const isFetching = (argv: readonly string[]): boolean =>
  commandNamed(argv[2])?.smallHeap === true || (argv[2] === 'sync' && !existsSync(databaseOf(argv)))
