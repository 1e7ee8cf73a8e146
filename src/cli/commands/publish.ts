import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { isAddress } from '../../db/address.ts'
import type { Reader } from '../../db/store.ts'
import { PAGE_LOCALES } from '../../page/words/locale.ts'
import { prepareCopy, publish } from '../../reports/publishCopy.ts'
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
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'

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

/** A result of publishing: fields for JSON, and a text. */
interface Published {
  readonly fields: object
  readonly text: string
}

const METADATA = 'metadata.yaml'

/** Replaces a small file atomically. `prepare` checks the target; `make` gets its current content. */
function replaceSmallFile(prepare: () => Target, make: (existing: string | null) => string): void {
  for (let attempt = 0; attempt < 10; attempt++) {
    const target = prepare()
    const part = partFileName(target.file)
    removeStaleParts(target.file)
    try {
      writeFileSync(part, make(target.existing ? readFileSync(target.file, 'utf8') : null), { flag: 'wx' })
      // Fails if another process publishes into the same directory at this moment.
      if (tryMoveIntoPlace(part, target)) return
    } finally {
      rmSync(part, { force: true })
    }
  }
}

/** Reads the base URLs of the called services; an early call may have left only its host. */
async function readSources({ kysely }: Reader): Promise<string[]> {
  const sources = await kysely.selectFrom('_source').select(['host', 'base_url']).execute()
  const hosts = await kysely.selectFrom('_budget').select('host').distinct().execute()
  const urls = [
    ...sources.map(({ base_url }) => base_url),
    ...hosts.filter(({ host }) => !sources.some((source) => source.host === host)).map(({ host }) => `https://${host}`),
  ]
  return [...new Set(urls)].sort().filter((url) => URL.canParse(url))
}

/** Makes the copy, its manifest and its description. */
async function publishCopy(source: Reader, path: string, args: PublishArgs, service: Service): Promise<Published> {
  const { overwrite, bookkeeping } = args
  const folder = dirname(resolve(path))
  makeFolder(dirname(path))
  const name = basename(path)
  if (name === METADATA)
    throw new InputError(`${METADATA} is reserved for the description of the copy.`, {
      hint: 'Name another file.',
      code: 'bad-name',
    })
  const manifestName = `${name}.manifest.json`
  const prepareManifest = () => prepareTarget(join(folder, manifestName), { product: 'a manifest', overwrite })
  const prepareMetadata = () =>
    prepareTarget(join(folder, METADATA), { product: 'a description for Datasette', overwrite })
  // Checks all targets before it writes anything.
  prepareCopy(path, overwrite, [source.file])
  prepareManifest()
  prepareMetadata()
  const manifest = await publish(source, path, { bookkeeping, overwrite })
  const fields = { file: name, program: `indicator-sync ${version()}`, ...manifest }
  replaceSmallFile(prepareManifest, () => `${JSON.stringify(fields, null, 2)}\n`)
  const sources = await readSources(source)
  const database = basename(name, extname(name))
  replaceSmallFile(prepareMetadata, (existing) => metadataText(database, service, sources, existing))
  const text = `${path}: ${quantity(manifest.rows.observation ?? 0, 'value')}, ${grouped(manifest.bytes)} bytes, sha256 ${manifest.sha256}.\nBeside it: ${manifestName}, and metadata.yaml for \`datasette ${name} -m metadata.yaml\`.`
  return { fields, text }
}

async function publishPage(source: Reader, folder: string, args: PublishArgs, service: Service): Promise<Published> {
  const { overwrite, language: locale } = args
  const { writePage } = await import('../../page/pageFolder.ts')
  const now = Math.floor(Date.now() / 1000)
  const page = await writePage(source, folder, { locale, service, now, overwrite, sources: [source.file] })
  const text = `${folder}: ${quantity(page.files, 'file')}, ${grouped(page.bytes)} bytes. Open ${join(folder, 'index.html')}, or put the directory on a web server.`
  return { fields: { page: { folder, ...page } }, text }
}

export async function handler(args: PublishArgs): Promise<number> {
  const { file, page } = args
  if (file === undefined && page === undefined)
    throw new InputError('Missing target: pass a file for the copy, or --page DIRECTORY.', {
      hint: 'indicator-sync publish public/market.db, or publish --page public',
      code: 'nothing-to-publish',
    })
  for (const target of [file, page])
    if (target !== undefined && isAddress(target))
      throw new InputError('Cannot publish to a server: the target is a file, or a directory for --page.', {
        hint: 'Pass a file. Readers of a server need no copy, only a read-only role (docs/postgresql.md).',
        code: 'publish-on-server',
      })
  const { database, service } = readSettings({ database: args.database })
  return withReader(database.value, async (source) => {
    const published = [
      ...(file === undefined ? [] : [await publishCopy(source, file, args, service.value)]),
      ...(page === undefined ? [] : [await publishPage(source, page, args, service.value)]),
    ]
    const text = published.map((part) => part.text).join('\n')
    printResult(args, Object.assign({}, ...published.map(({ fields }) => fields)), text)
    return EXIT.done
  }).catch((error) => {
    throw asWriteError(error, file ?? page!)
  })
}
