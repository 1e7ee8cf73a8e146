import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { parseDatabase } from '../../db/address.ts'
import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import { PAGE_LOCALES } from '../../page/words/locale.ts'
import { claimCopy, publish } from '../../reports/publish.ts'
import type { Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { asWriteError, prepareTarget, type Target, tryMoveIntoPlace } from '../../util/files/target.ts'
import { makeFolder } from '../../util/files/targetFolder.ts'
import { version } from '../../util/package.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { metadataText } from '../exports/metadata.ts'
import { DATABASE_FLAG, JSON_FLAG, OVERWRITE_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export const positionals = { file: { type: 'string', describe: 'File to write' } } as const
export const flags = {
  ...DATABASE_FLAG,
  page: { type: 'string', describe: 'Write a static page into this directory' },
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

const METADATA = 'metadata.yaml'

/** Replaces a small file atomically; `make` gets its current content. */
function replaceSmallFile(claimIt: () => Target, make: (stands: string | null) => string): void {
  for (let attempt = 0; attempt < 10; attempt++) {
    const target = claimIt()
    const part = partFileName(target.file)
    removeStaleParts(target.file, Date.now())
    try {
      writeFileSync(part, make(target.existing ? readFileSync(target.file, 'utf8') : null), { flag: 'wx' })
      // Another copy may be published into the same folder at this moment.
      if (tryMoveIntoPlace(part, target)) return
    } finally {
      rmSync(part, { force: true })
    }
  }
}

/** The addresses of the services that were called; an early call may have left only its host. */
async function readSources({ kysely }: Reader): Promise<string[]> {
  const known = await kysely.selectFrom('_source').select(['host', 'base_url']).execute()
  const called = await kysely.selectFrom('_budget').select('host').distinct().execute()
  const others = called
    .filter(({ host }) => !known.some((one) => one.host === host))
    .map(({ host }) => `https://${host}`)
  return [...new Set([...known.map(({ base_url }) => base_url), ...others])].sort().filter((url) => URL.canParse(url))
}

/** Makes the copy and its descriptions. */
async function publishCopy(
  source: Reader,
  path: string,
  args: PublishArgs,
  service: Service,
): Promise<object & { summary: string }> {
  const { overwrite } = args
  const folder = dirname(resolve(path))
  makeFolder(dirname(path))
  const name = basename(path)
  if (name === METADATA)
    throw new InputError(`${METADATA} is reserved for the description of the copy.`, {
      hint: 'Name another file.',
      code: 'bad-name',
    })
  const claimManifest = () => prepareTarget(join(folder, `${name}.manifest.json`), { product: 'a manifest', overwrite })
  const claimMetadata = () =>
    prepareTarget(join(folder, METADATA), { product: 'a description for Datasette', overwrite })
  // All targets are checked before anything is written.
  claimCopy(path, overwrite, [source.file])
  claimManifest()
  claimMetadata()
  const manifest = await publish(source, path, { bookkeeping: args.bookkeeping, overwrite })
  const whole = { file: name, program: `indicator-sync ${version()}`, ...manifest }
  replaceSmallFile(claimManifest, () => `${JSON.stringify(whole, null, 2)}\n`)
  const publication = { service, sources: await readSources(source) }
  replaceSmallFile(claimMetadata, (stands) => metadataText(basename(name, extname(name)), publication, stands))
  const summary = `${path}: ${quantity(manifest.rows.observation ?? 0, 'value')}, ${grouped(manifest.bytes)} bytes, sha256 ${manifest.sha256}.\nBeside it: ${name}.manifest.json, and metadata.yaml for \`datasette ${name} -m metadata.yaml\`.`
  return Object.assign(whole, { summary })
}

/** Makes the page as files. */
async function publishPage(source: Reader, folder: string, { overwrite, language }: PublishArgs, service: Service) {
  const { writePage } = await import('../../page/pageFolder.ts')
  const now = Math.floor(Date.now() / 1000)
  const how = { locale: language, service, now, overwrite, sources: [source.file] }
  const made = await writePage(source, folder, how)
  const summary = `${folder}: ${quantity(made.files, 'file')}, ${grouped(made.bytes)} bytes. Open ${join(folder, 'index.html')}, or put the directory on a web server.`
  return { folder, ...made, summary }
}

export async function handler(args: PublishArgs): Promise<number> {
  const { file, page } = args
  if (file === undefined && page === undefined)
    throw new InputError('Missing target: pass a file for the copy, or --page DIRECTORY.', {
      hint: 'indicator-sync publish public/market.db, or publish --page public',
      code: 'nothing-to-publish',
    })
  for (const target of [file, page])
    if (target !== undefined && parseDatabase(target).folder === null)
      throw new InputError('Cannot publish to a server: the target is a file, or a directory for --page.', {
        hint: 'Pass a file. Readers of a server need no copy, only a read-only role (docs/postgresql.md).',
        code: 'publish-on-server',
      })
  const { database, service } = readSettings({ database: args.database })
  const source = openReader(database.value)
  try {
    const copy = file === undefined ? null : await publishCopy(source, file, args, service.value)
    const files = page === undefined ? null : await publishPage(source, page, args, service.value)
    const { summary: _, ...whole } = {
      summary: '',
      ...copy,
      ...(files ? { page: { ...files, summary: undefined } } : {}),
    }
    if (args.json) print(JSON.stringify(whole, null, 2))
    else for (const made of [copy, files]) if (made) print(made.summary)
    return EXIT.done
  } catch (error) {
    throw asWriteError(error, file ?? page!)
  } finally {
    await source.close()
  }
}
