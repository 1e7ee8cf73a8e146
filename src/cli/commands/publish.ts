import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAddress } from '../../db/address.ts'
import type { Reader } from '../../db/store.ts'
import type { Query } from '../../page/page.ts'
import { PAGE_LOCALES } from '../../page/words/locale.ts'
import { prepareCopy, publish } from '../../reports/publishCopy.ts'
import type { Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { removeStaleParts } from '../../util/files/partFiles.ts'
import { asWriteError, prepareTarget, writeInPlace } from '../../util/files/target.ts'
import { makeFolder } from '../../util/files/targetFolder.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import { formatUtc, toInstant } from '../../util/time/instant.ts'
import { floorTo, localDate } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, OVERWRITE_FLAG, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'
import { resolveRange } from '../times.ts'

export const positionals = { file: { type: 'string', describe: 'File to write' } } as const
export const flags = {
  ...DATABASE_FLAG,
  page: { type: 'string', describe: 'Write a static page into this folder' },
  ...RANGE_FLAGS,
  last: { type: 'number', describe: 'Set the range of charts to the last days' },
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
  'publish --page public --last 7 --overwrite --database data/demo.db',
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

const refuseRange = (message: string, hint: string): never => {
  throw new InputError(message, { hint, code: 'bad-range' })
}

/** The longest range of a page, in days. */
const MOST_DAYS = 36_600

/** The range of the charts of a page, as in its addresses; empty for the usual one. */
function pageRange({ page, from, to, last }: PublishArgs, { timeZone }: Service): Query {
  const hasRange = from !== undefined || to !== undefined
  if (!hasRange && last === undefined) return {}
  if (page === undefined)
    refuseRange('--from, --to and --last only work with --page.', 'Add --page FOLDER; a copy has all values.')
  if (hasRange && last !== undefined) refuseRange('Pass either --last or --from and --to.', 'Omit one of them.')
  if (last !== undefined && !(Number.isInteger(last) && last >= 1 && last <= MOST_DAYS))
    refuseRange(`--last ${last} is not valid.`, `Use a whole number of days from 1 to ${MOST_DAYS}.`)
  if (last !== undefined) return { last }
  if (from === undefined || to === undefined)
    refuseRange('A range needs both --from and --to.', 'Pass both, or --last DAYS.')
  const range = resolveRange({ from, to }, timeZone, toInstant(Date.now()))!
  // Each series has its own local days.
  const border = (at: number): string => (floorTo(timeZone, at, 'day') === at ? localDate(timeZone, at) : formatUtc(at))
  return { from: border(range.from), to: border(range.to) }
}

async function publishPage(
  source: Reader,
  folder: string,
  args: PublishArgs,
  service: Service,
  range: Query,
): Promise<Report> {
  const { overwrite, language: locale } = args
  const { writePage } = await import('../../page/pageFolder.ts')
  const now = toInstant(Date.now())
  const page = await writePage(source, folder, { locale, service, now, range, overwrite, sources: [source.file] })
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
  const range = pageRange(args, service.value)
  return withReader(database.value, async (source) => {
    const published = [
      ...(file === undefined ? [] : [await publishCopy(source, file, args)]),
      ...(page === undefined ? [] : [await publishPage(source, page, args, service.value, range)]),
    ]
    const text = published.map((part) => part.text).join('\n')
    printResult(args, Object.assign({}, ...published.map(({ fields }) => fields)), text)
    return EXIT.done
  }).catch((error) => {
    throw asWriteError(error, file ?? page!)
  })
}
