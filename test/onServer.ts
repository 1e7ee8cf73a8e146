import { resolve } from 'node:path'

/** Whether the suites run over PostgreSQL (`npm run test:postgres`): a path is a database of its server then. */
export const ON_SERVER = process.env.INDICATOR_SYNC_TEST_ON === 'postgres'

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
