import { renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { publish } from '../audit/publish.ts'
import { InputError } from '../base/errors.ts'
import { openReader, type Reader } from '../db/open.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { metadataText } from './metadata.ts'
import { grouped, print } from './output.ts'
import { version } from './version.ts'

interface PublishArgs extends CommonArgs, DatabaseArgs {
  readonly file: string
  readonly bookkeeping: boolean
  readonly json: boolean
  readonly title: string
  readonly source?: string
  readonly sourceUrl?: string
  readonly license?: string
  readonly licenseUrl?: string
}

/** Writes a small file whole or not at all. */
function writeWhole(file: string, text: string): void {
  const part = `${file}.${process.pid}.part`
  writeFileSync(part, text)
  renameSync(part, file)
}

/** The hosts that were asked. */
const hostsOf = (reader: Reader): string[] =>
  (reader.all('select distinct host from _budget order by host') as { host: string }[]).map(({ host }) => host)

export async function run(args: PublishArgs): Promise<number> {
  const from = readSettings(args).database.value
  if (resolve(from) === resolve(args.file))
    throw new InputError(`${args.file} is the database itself.`, { hint: 'Name another file.', code: 'same-file' })
  const folder = dirname(resolve(args.file))
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new InputError(`There is no folder ${folder}.`, { hint: 'Make it first.', code: 'no-folder' })
  const source = openReader(from)
  try {
    const manifest = await publish(source, args.file, { bookkeeping: args.bookkeeping })
    const name = basename(args.file)
    const whole = { file: name, program: `indicator-sync ${version()}`, ...manifest }
    writeWhole(join(folder, `${name}.manifest.json`), `${JSON.stringify(whole, null, 2)}\n`)
    const metadata = join(folder, 'metadata.yaml')
    writeWhole(metadata, metadataText(basename(name, extname(name)), { ...args, hosts: hostsOf(source) }))
    print(
      args.json
        ? JSON.stringify(whole, null, 2)
        : `${args.file}: ${grouped(manifest.rows.observation ?? 0)} values, ${grouped(manifest.bytes)} bytes, sha256 ${manifest.sha256}.\nBeside it: ${name}.manifest.json, and metadata.yaml for \`datasette ${name} -m metadata.yaml\`.`,
    )
    return EXIT.done
  } finally {
    await source.close()
  }
}
