import { openStore } from '../db/open.ts'
import { SCHEMA_VERSION, schemaState } from '../db/schema.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { print } from './output.ts'

export async function run(
  args: CommonArgs & DatabaseArgs & { readonly list: boolean; readonly json: boolean },
): Promise<number> {
  const file = readSettings(args).database.value
  if (!args.list) await (await openStore(file)).close()
  const { exists, version, known } = schemaState(file)
  const migrations = known.map((name, i) => ({ name, applied: i < version }))
  if (args.json) print(JSON.stringify({ database: file, exists, version, known: SCHEMA_VERSION, migrations }, null, 2))
  else
    print(
      [
        exists ? `${file} has schema ${version} of ${SCHEMA_VERSION}.` : `${file} does not exist yet.`,
        ...migrations.map(({ name, applied }) => `  ${applied ? 'applied' : 'pending'}  ${name}`),
      ].join('\n'),
    )
  return EXIT.done
}
