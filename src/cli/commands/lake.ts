import { openReader } from '../../db/open.ts'
import { checkLake } from '../../lake/checkLake.ts'
import { syncLake } from '../../lake/syncLake.ts'
import { InputError } from '../../util/errors.ts'
import { asWriteError } from '../../util/files/target.ts'
import { version } from '../../util/package.ts'
import { quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { lakeText } from '../jobs/lakes.ts'
import { readSettings } from '../settings/config.ts'
import { withLake } from '../settings/storage.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'

export const positionals = {
  action: { type: 'string', choices: ['sync', 'check'], demandOption: true, describe: 'Action' },
  folder: { type: 'string', demandOption: true, describe: 'Directory, or s3://bucket/name' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  full: { type: 'boolean', default: false, describe: 'Rewrite all files, not only changed ones' },
  ...JSON_FLAG,
} as const
export const examples = ['lake sync data/lake --database data/demo.db', 'lake check data/lake']

type LakeArgs = Args<typeof flags, typeof positionals>

async function syncLakeFolder(args: LakeArgs): Promise<number> {
  const reader = openReader(readSettings(args).database.value)
  try {
    const done = await withLake(args.folder, (place) =>
      syncLake(reader, place, {
        program: `indicator-sync ${version()}`,
        now: Date.now,
        full: args.full,
        ...(args.verbose ? { onPart: (name, part) => void process.stderr.write(`${name} ${part}\n`) } : {}),
      }),
    )
    if (args.json) print(JSON.stringify(done, null, 2))
    else if (!args.quiet) print(lakeText(done))
    return EXIT.done
  } catch (error) {
    throw asWriteError(error, args.folder)
  } finally {
    await reader.close()
  }
}

async function checkFolder({ folder, json }: LakeArgs): Promise<number> {
  const { manifest, findings } = await withLake(folder, checkLake)
  const { snapshot, created_at, synced_at, tables } = manifest
  const rows = tables.observation.rows
  if (json) print(JSON.stringify({ snapshot, created_at, synced_at, rows, findings }, null, 2))
  else if (findings.length > 0)
    print(tableText({ columns: ['file', 'what'], rows: findings.map(({ file, what }) => [file, what]) }))
  else
    print(
      `${folder}: snapshot ${snapshot} is complete, ${quantity(rows, 'value')}, in sync with the database at ${synced_at}.`,
    )
  return findings.length === 0 ? EXIT.done : EXIT.check
}

export async function handler(args: LakeArgs): Promise<number> {
  if (args.folder.trim() === '') throw new InputError('The name of the directory is empty.', { code: 'empty-flag' })
  return args.action === 'sync' ? syncLakeFolder(args) : checkFolder(args)
}
