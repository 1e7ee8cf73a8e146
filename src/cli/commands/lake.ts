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
import { withReader } from '../settings/databases.ts'
import { withLake } from '../settings/storage.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'

export const positionals = {
  action: { type: 'string', choices: ['sync', 'check'], demandOption: true, describe: 'Action' },
  folder: { type: 'string', demandOption: true, describe: 'Folder, or s3://bucket/name' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  full: { type: 'boolean', default: false, describe: 'Rewrite all files, not only changed ones' },
  ...JSON_FLAG,
} as const
export const examples = ['lake sync data/lake --database data/demo.db', 'lake check data/lake']

type LakeArgs = Args<typeof flags, typeof positionals>

const updateLake = (args: LakeArgs): Promise<number> =>
  withReader(readSettings(args).database.value, async (reader) => {
    const onPart = (name: string, part: string) => void process.stderr.write(`${name} ${part}\n`)
    const summary = await withLake(args.folder, (place) =>
      syncLake(reader, place, {
        program: `indicator-sync ${version()}`,
        nowMs: Date.now,
        full: args.full,
        ...(args.verbose ? { onPart } : {}),
      }),
    ).catch((error) => {
      throw asWriteError(error, args.folder)
    })
    printResult(args, summary, args.quiet ? '' : lakeText(summary))
    return EXIT.done
  })

async function verifyLake(args: LakeArgs): Promise<number> {
  const { manifest, findings } = await withLake(args.folder, checkLake)
  const { snapshot, created_at, synced_at, tables } = manifest
  const rows = tables.observation.rows
  printResult(
    args,
    { snapshot, created_at, synced_at, rows, findings },
    findings.length > 0
      ? tableText({ columns: ['file', 'what'], rows: findings.map(({ file, what }) => [file, what]) })
      : `${args.folder}: snapshot ${snapshot} is complete, ${quantity(rows, 'value')}, in sync with the database at ${synced_at}.`,
  )
  return findings.length === 0 ? EXIT.done : EXIT.check
}

export async function handler(args: LakeArgs): Promise<number> {
  if (args.folder.trim() === '') throw new InputError('The name of the folder is empty.', { code: 'empty-flag' })
  return args.action === 'sync' ? updateLake(args) : verifyLake(args)
}
