import { resolve } from 'node:path'

/** Whether the suites run over PostgreSQL (`npm run test:postgres`): a path is a database of its server then. */
export const ON_SERVER = process.env.INDICATOR_SYNC_TEST_ON === 'postgres'

/** What the suites leave out over PostgreSQL, by the reason. */
const FILES_ONLY = {
  file: 'It looks at the bytes of the file, its pragmas or its statistics.',
  copy: 'It copies a file; what is copied from a server is a file, too, and compared in test/postgres/equal.test.ts.',
  plan: "It reads SQLite's plans (`explain query plan`).",
  first: 'It starts from a file of the first schema: servers begin with a later one.',
  match: 'It needs `match` of SQLite: on PostgreSQL the recipe `search` is told to be `discover`.',
  tool: 'A tool that sends empty texts for what is not said opens files only.',
  page: 'docs/recipes.md shows the answers of a file; test/postgres/equal.test.ts compares those of both.',
} as const satisfies Record<string, string>

/** Whether a test is left out: `test.skipIf(onlyInFile('plan'))`. */
export const onlyInFile = (reason: keyof typeof FILES_ONLY): boolean => ON_SERVER && reason in FILES_ONLY

/** A command as it finds its databases: as it is, and on the server while the suites run over PostgreSQL. */
export async function commandOnServer(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<readonly [args: readonly string[], env: Readonly<Record<string, string>>]> {
  const isAddress = (name: string | undefined): boolean => /^postgres/.test(name ?? '')
  if (!ON_SERVER || isAddress(env.INDICATOR_SYNC_DATABASE)) return [args, env]
  const { databaseFor } = await import('./postgres/suites/names.ts')
  const at = args.indexOf('--database') + 1
  if (isAddress(args[at])) return [args, env]
  if (at > 0 && args[at] !== undefined) return [args.with(at, await databaseFor(resolve(cwd, args[at]))), env]
  const named = env.INDICATOR_SYNC_DATABASE ?? 'data/indicator-sync.db'
  return [args, { ...env, INDICATOR_SYNC_DATABASE: await databaseFor(resolve(cwd, named)) }]
}
