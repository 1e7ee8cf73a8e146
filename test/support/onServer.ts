import { resolve } from 'node:path'

/** Whether the suites run on PostgreSQL (`npm run test:postgres`): then a path stands for a database of the server. */
export const ON_SERVER = process.env.INDICATOR_SYNC_TEST_ON === 'postgres'

/** Reasons to skip tests on PostgreSQL. */
const FILES_ONLY = {
  file: 'Reads the bytes, pragmas or statistics of the file.',
  copy: 'Copies a file; copies of a server are compared in test/postgres/equal.test.ts.',
  plan: "Reads SQLite's plans (`explain query plan`).",
  first: 'Starts from the first schema; servers start with a later one.',
  page: 'docs/recipes.md shows results of SQLite; test/postgres/equal.test.ts compares both.',
} as const satisfies Record<string, string>

/** Whether to skip a test on PostgreSQL: `test.skipIf(onlyInFile('plan'))`. */
export const onlyInFile = (reason: keyof typeof FILES_ONLY): boolean => ON_SERVER && reason in FILES_ONLY

/**
 * Returns arguments and environment of a command: unchanged, or with databases of the server if the suites run on
 * PostgreSQL.
 */
export async function commandOnServer(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<readonly [args: readonly string[], env: Readonly<Record<string, string>>]> {
  const isAddress = (name: string | undefined): boolean => /^postgres/.test(name ?? '')
  if (!ON_SERVER || isAddress(env.INDICATOR_SYNC_DATABASE)) return [args, env]
  const { databaseFor } = await import('../postgres/suites/names.ts')
  const at = args.indexOf('--database') + 1
  if (isAddress(args[at])) return [args, env]
  if (at > 0 && args[at] !== undefined) return [args.with(at, await databaseFor(resolve(cwd, args[at]))), env]
  const named = env.INDICATOR_SYNC_DATABASE ?? 'data/indicator-sync.db'
  return [args, { ...env, INDICATOR_SYNC_DATABASE: await databaseFor(resolve(cwd, named)) }]
}
