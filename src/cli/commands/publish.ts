import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAddress } from '../../db/address.ts'
import type { Reader } from '../../db/store.ts'
import { PAGE_LOCALES } from '../../page/words/locale.ts'
import { prepareCopy, publish } from '../../reports/publishCopy.ts'
import type { Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { removeStaleParts } from '../../util/files/partFiles.ts'
import { asWriteError, prepareTarget, writeInPlace } from '../../util/files/target.ts'
import { makeFolder } from '../../util/files/targetFolder.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import { toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, OVERWRITE_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'

export const positionals = { file: { type: 'string', describe: 'File to write' } } as const
export const flags = {
  ...DATABASE_FLAG,
  page: { type: 'string', describe: 'Write a static page into this folder' },
  language: { choices: PAGE_LOCALES, default: PAGE_LOCALES[0], describe: 'Choose the language of the page' },
  ...OVERWRITE_FLAG,
  bookkeeping: {
    type: 'boolean',
    default: false,
    describe: 'Include stored responses and request records (full backup)',
  },
  ...JSON_FLAG,
} as const
export const examples = [
  'publish public/market.db --database data/demo.db',
  'publish --page public --database data/demo.db',
]

type PublishArgs = Args<typeof flags, typeof positionals>

/** A result of publishing: fields for JSON, and a text. */
interface Report {
  readonly fields: object
  readonly text: string
}

/** Makes the copy, and its manifest beside it. */
async function publishCopy(source: Reader, path: string, { overwrite, bookkeeping }: PublishArgs): Promise<Report> {
  makeFolder(dirname(path))
  const manifestPath = `${path}.manifest.json`
  // Checks both targets before it writes anything.
  prepareCopy(path, overwrite, [source.file])
  const target = prepareTarget(manifestPath, { product: 'a manifest', overwrite, tidy: removeStaleParts })
  const manifest = await publish(source, path, { bookkeeping, overwrite })
  const fields = { file: basename(path), program: `indicator-sync ${version()}`, ...manifest }
  await writeInPlace(target, (part) => writeFileSync(part, `${JSON.stringify(fields, null, 2)}\n`))
  const text = `${path}: ${quantity(manifest.rows.observation ?? 0, 'value')}, ${grouped(manifest.bytes)} bytes, sha256 ${manifest.sha256}.\nBeside it: ${basename(manifestPath)}.`
  return { fields, text }
}

async function publishPage(source: Reader, folder: string, args: PublishArgs, service: Service): Promise<Report> {
  const { overwrite, language: locale } = args
  const { writePage } = await import('../../page/pageFolder.ts')
  const now = toInstant(Date.now())
  const page = await writePage(source, folder, { locale, service, now, overwrite, sources: [source.file] })
  const text = `${folder}: ${quantity(page.files, 'file')}, ${grouped(page.bytes)} bytes. Open ${join(folder, 'index.html')}, or put the folder on a web server.`
  return { fields: { page: { folder, ...page } }, text }
}

export async function handler(args: PublishArgs): Promise<number> {
  const { file, page } = args
  if (file === undefined && page === undefined)
    throw new InputError('Missing target: pass a file for the copy, or --page FOLDER.', {
      hint: 'indicator-sync publish public/market.db, or publish --page public',
      code: 'nothing-to-publish',
    })
  for (const target of [file, page])
    if (target !== undefined && isAddress(target))
      throw new InputError('Cannot publish to a server: the target is a file, or a folder for --page.', {
        hint: 'Pass a file. Readers of a server need no copy, only a read-only role (docs/postgresql.md).',
        code: 'publish-on-server',
      })
  const { database, service } = readSettings({ database: args.database })
  return withReader(database.value, async (source) => {
    const published = [
      ...(file === undefined ? [] : [await publishCopy(source, file, args)]),
      ...(page === undefined ? [] : [await publishPage(source, page, args, service.value)]),
    ]
    const text = published.map((part) => part.text).join('\n')
    printResult(args, Object.assign({}, ...published.map(({ fields }) => fields)), text)
    return EXIT.done
  }).catch((error) => {
    throw asWriteError(error, file ?? page!)
  })
}
