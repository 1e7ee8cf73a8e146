import { openWriter } from '../../db/lock.ts'
import { schemaState } from '../../db/open.ts'
import { readSettings } from '../config.ts'
import type { CommonArgs, DatabaseArgs } from '../flags.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export async function run(
  args: CommonArgs & DatabaseArgs & { readonly list: boolean; readonly json: boolean },
): Promise<number> {
  const file = readSettings(args).database.value
  if (!args.list) await (await openWriter(file, 'migrate')).close()
  const { exists, version, known, migrations } = await schemaState(file)
  if (args.json) print(JSON.stringify({ database: file, exists, version, known, migrations }, null, 2))
  else
    print(
      [
        exists ? `${file} has schema ${version} of ${known}.` : `${file} does not exist yet.`,
        ...migrations.map(({ name, applied }) => `  ${applied ? 'applied' : 'pending'}  ${name}`),
      ].join('\n'),
    )
  return EXIT.done
}
