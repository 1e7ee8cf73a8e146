import { isAddress } from '../../db/address.ts'
import { readSchemaState, takeOver } from '../../db/open.ts'
import { writeLanguage } from '../../db/queries/referenceTables.ts'
import { ensureJudged } from '../../load/spans/recordSpans.ts'
import { deriveStoredTimelines } from '../../load/timelines/deriveTimelines.ts'
import { LOCALES } from '../../service/routes.ts'
import { InputError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, DEFAULT_DATABASE, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withWriter } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'
import { createReporter, logFor } from '../terminal/progress.ts'

export const flags = {
  ...DATABASE_FLAG,
  list: { type: 'boolean', default: false, describe: 'Show the schema version and change nothing' },
  from: { type: 'string', describe: 'Copy this database file into --database (PostgreSQL)' },
  language: { choices: LOCALES, describe: 'Set the language of names (default: en, if stored)' },
  ...JSON_FLAG,
} as const
export const examples = [
  'migrate --list --database data/demo.db',
  'migrate --language es --database data/demo.db',
  'migrate --from data/demo.db --database postgres://user@host/market',
]

type MigrateArgs = Args<typeof flags>

/**
 * Updates the schema, which opening does, judges the series of an earlier schema, and sets the language of names if one is given. A
 * judgement that is interrupted continues with the next sync.
 */
async function migrate(file: string, language: string | undefined, args: MigrateArgs): Promise<void> {
  const service = readSettings(args).service.value
  const log = logFor(args, [])
  const report = createReporter(log)
  if (isAddress(file)) {
    const { exists, version, known } = await readSchemaState(file)
    if (exists && version < known)
      log.info(
        `Updating schema ${version} to ${known}. With many values this takes minutes; an interruption changes nothing.`,
      )
  }
  await withWriter(file, 'migrate', async (store) => {
    if (language !== undefined) await store.write((tx) => writeLanguage(tx, language))
    await deriveStoredTimelines(store, service, {
      onProgress: (done, total) => report(`${done} of ${total} series judged`),
    })
    await ensureJudged(store, Date.now())
  })
}

/** Copies a database file into a database on a server. The file is locked meanwhile. */
async function copyToServer(from: string, into: string, args: MigrateArgs): Promise<void> {
  if (isAddress(from) || !isAddress(into))
    throw new InputError('--from must be a file, and --database the address of a server.', {
      hint: `indicator-sync migrate --from ${DEFAULT_DATABASE} --database postgres://USER@HOST/DATABASE`,
      code: 'bad-copy',
    })
  // Refuses a database that does not exist: a writer would create it.
  if (!(await readSchemaState(from)).exists)
    throw new InputError(`The database ${from} does not exist.`, {
      hint: 'Pass the file to copy as --from FILE.',
      code: 'no-source',
    })
  const report = createReporter(logFor(args, []))
  await withWriter(from, 'migrate', async (source) => {
    const { tables, rows } = await takeOver(source, into, (table, done) =>
      report(`${grouped(done)} rows copied, now those of ${table}`),
    )
    if (!args.quiet)
      process.stderr.write(`${quantity(rows, 'row')} of ${tables} tables copied from ${from}; both are equal.\n`)
  })
}

export async function handler(args: MigrateArgs): Promise<number> {
  const file = readSettings(args).database.value
  if (args.from !== undefined) await copyToServer(args.from, file, args)
  if (args.from === undefined ? !args.list : args.language !== undefined) await migrate(file, args.language, args)
  const { exists, version, known, migrations } = await readSchemaState(file)
  const lines = [
    exists ? `${file} has schema ${version} of ${known}.` : `${file} does not exist yet.`,
    ...migrations.map(({ name, applied }) => `  ${applied ? 'applied' : 'pending'}  ${name}`),
  ]
  printResult(args, { database: file, exists, version, known, migrations }, lines.join('\n'))
  return EXIT.done
}
