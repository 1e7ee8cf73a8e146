import { existsSync } from 'node:fs'
import { DEFAULT_DATABASE } from '../flags.ts'
import type { Heap } from '../heap.ts'
import { commandNamed } from './commands.ts'

/** The file of the database by the command line or the environment; a guess, because nothing is read yet. */
function databaseOf(argv: readonly string[]): string {
  const at = argv.findIndex((word) => /^--database(?:=|$)/.test(word))
  const named = at < 0 ? undefined : (argv[at]!.split('=')[1] ?? argv[at + 1])
  return named ?? process.env.INDICATOR_SYNC_DATABASE ?? DEFAULT_DATABASE
}

/**
 * The heap that suits the command line of a process, Node and script included. A `sync` into an existing database may find nothing
 * to do, and decides later.
 */
export const heapOf = (argv: readonly string[]): Heap | undefined =>
  argv[2] === 'sync' && !existsSync(databaseOf(argv)) ? 'replies' : commandNamed(argv[2])?.heap
