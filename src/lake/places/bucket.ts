import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BusyError, InputError } from '../../util/errors.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { filesOf, knownManifest, type LakeManifest, MANIFEST, manifestText, parseManifest } from '../manifest.ts'
import { folderPlace } from './folder.ts'
import { isBucket, type LakePlace, type LakeWriter, type StoredFiles } from './place.ts'
import { type Bucket, type ListedObject, notStored, openBucket, type S3Access } from './s3.ts'

/** Where the files of all snapshots lie; the manifest says which of them belong to the current one. */
const FILES_FOLDER = 'files'
/** An empty object that tests whether the storage respects conditions. */
const CONDITIONS = 'conditions'
/** The manifest of a snapshot that was replaced; it stays until its files are deleted. */
const replacedKey = (snapshot: number): string => `replaced/${snapshot}.json`

const DATA_FILE = /^files\/.+\.s([1-9]\d*)\.parquet$/
const REPLACED = /^replaced\/([1-9]\d*)\.json$/
/** Milliseconds. A file that no snapshot has may belong to a running sync; after this long it does not. */
const ORPHAN_MS = 24 * 3_600_000

const CAUTION = 'This storage ignores If-Match: run only one sync of this lake at a time.'

/** The bucket and the prefix of a lake, from its address. */
function parseBucketAddress(asWritten: string): { readonly name: string; readonly prefix: string } {
  const [, name, rest = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#]*))?$/.exec(asWritten) ?? []
  const names = rest.split('/').filter((part) => part !== '')
  if (name === undefined || names.some((part) => part === '.' || part === '..'))
    throw new InputError(`${JSON.stringify(asWritten)} is not the address of a lake.`, {
      hint: 'Write s3://bucket/name. Set AWS_ENDPOINT_URL if the storage is not AWS.',
      code: 'bad-address',
    })
  return { name, prefix: names.map((part) => `${part}/`).join('') }
}

/** The objects of a lake, by their names below its prefix. */
interface BucketFolder {
  readonly bucket: Bucket
  readonly prefix: string
  readonly asWritten: string
}

const listObjects = async ({ bucket, prefix }: BucketFolder): Promise<ListedObject[]> =>
  (await bucket.list(prefix)).map((object) => ({ ...object, key: object.key.slice(prefix.length) }))

/** Those of the listed objects that are files of a snapshot, each with its content. */
function filesAmong({ bucket, prefix }: BucketFolder, objects: readonly ListedObject[]): StoredFiles {
  const sizes = new Map(objects.map(({ key, bytes }) => [key, bytes]))
  return {
    sizeOf: ({ path }) => sizes.get(`${FILES_FOLDER}/${path}`),
    sha256Of: ({ path }) => bucket.sha256(`${prefix}${FILES_FOLDER}/${path}`),
  }
}

const busy = (asWritten: string): BusyError =>
  new BusyError(`Another process published a snapshot of the lake ${asWritten} at the same time.`, {
    hint: 'That snapshot is kept. If it shows an older state of the database, run the command again.',
    code: 'lake-locked',
  })

/** Whether the storage refuses to write an object that must not exist yet; one that ignores the condition writes it twice. */
async function keepsConditions({ bucket, prefix }: BucketFolder, isThere: boolean): Promise<boolean> {
  const put = (): Promise<boolean> => bucket.putText(`${prefix}${CONDITIONS}`, '', 'absent')
  if (!isThere && !(await put())) return true
  return !(await put())
}

/**
 * Removes the files of snapshots that were replaced long enough ago, and what killed syncs left; their manifests are removed
 * last.
 */
async function tidyBucket(
  { bucket, prefix }: BucketFolder,
  objects: readonly ListedObject[],
  current: LakeManifest,
  graceMs: number,
  now: number,
): Promise<void> {
  const keyOf = ({ path }: { readonly path: string }): string => `${FILES_FOLDER}/${path}`
  const numbers = objects
    .map(({ key }) => Number(REPLACED.exec(key)?.[1]))
    .filter((number) => number < current.snapshot)
    .sort((a, b) => a - b)
  const replaced: { readonly number: number; readonly manifest: LakeManifest | null }[] = []
  for (const number of numbers) {
    const { text = '' } = (await bucket.text(prefix + replacedKey(number))) ?? {}
    replaced.push({ number, manifest: parseManifest(text) })
  }
  const isOld = (_: unknown, i: number): boolean =>
    now - Date.parse((replaced[i + 1]?.manifest ?? current).created_at) >= graceMs
  const old = replaced.filter(isOld)
  const read = [current, ...replaced.filter((one, i) => !isOld(one, i)).map(({ manifest }) => manifest)]
  const live = new Set(read.flatMap((manifest) => (manifest ? filesOf(manifest).map(keyOf) : [])))
  const dead = new Set(old.flatMap(({ manifest }) => (manifest ? filesOf(manifest).map(keyOf) : [])))
  for (const { key, writtenAt } of objects) {
    const [, number] = DATA_FILE.exec(key) ?? []
    // A file of a later snapshot is being written now.
    if (number === undefined || live.has(key) || Number(number) > current.snapshot) continue
    if (dead.has(key) || now - writtenAt >= Math.max(graceMs, ORPHAN_MS)) await bucket.remove(prefix + key)
  }
  for (const { number } of old) await bucket.remove(prefix + replacedKey(number))
}

/** Where the files of a lake in a bucket are made before they are sent. */
const STAGING = join(tmpdir(), 'indicator-sync-lake')

async function bucketWriter(folder: BucketFolder, now: number): Promise<LakeWriter> {
  const { bucket, prefix, asWritten } = folder
  const there = await bucket.text(prefix + MANIFEST)
  const before = there && parseManifest(there.text)
  let objects = await listObjects(folder)
  if (before === null && objects.some(({ key }) => key !== CONDITIONS && !DATA_FILE.test(key) && !REPLACED.test(key)))
    throw new InputError(`${asWritten} contains objects that do not belong to a lake.`, {
      hint: 'Choose an unused prefix of the bucket. Nothing was changed.',
      code: 'target-exists',
    })
  if (before) knownManifest(before, asWritten)
  const isGuarded = await keepsConditions(
    folder,
    objects.some(({ key }) => key === CONDITIONS),
  )
  let current: LakeManifest | null = null
  const making = partFileName(STAGING)
  removeStaleParts(STAGING, now)
  /** Replaces the manifest that was read, and no other one. */
  const replace = async (manifest: LakeManifest): Promise<void> => {
    const text = manifestText(manifest)
    const put = (): Promise<boolean> =>
      bucket.putText(prefix + MANIFEST, text, isGuarded ? (there === null ? 'absent' : { tag: there.tag }) : null)
    const isOthers = !isGuarded && (await bucket.text(prefix + MANIFEST))?.tag !== there?.tag
    if (isOthers) throw busy(asWritten)
    const isPut = await put()
    const stored = await bucket.text(prefix + MANIFEST)
    // The client repeats a request whose answer was lost: then the condition fails, but the object that is there is ours.
    if (stored?.text !== text)
      throw isPut && stored?.tag === there?.tag
        ? notStored(`${asWritten}/${MANIFEST}`, stored === null ? 'it is missing' : 'it has the previous content')
        : busy(asWritten)
    current = manifest
  }
  return {
    ...filesAmong(folder, objects),
    before,
    caution: isGuarded ? null : CAUTION,
    folderOf: () => FILES_FOLDER,
    stage() {
      mkdirSync(making, { recursive: true })
      return making
    },
    // The file is already where those of the new snapshot are.
    keep: () => undefined,
    async add(made, name, snapshot, written) {
      const path = `${name}-${written.sha256.slice(0, 16)}.s${snapshot}.parquet`
      await bucket.putFile(`${prefix}${FILES_FOLDER}/${path}`, made, written)
      rmSync(made)
      return path
    },
    async commit(manifest) {
      if (before) await bucket.putText(prefix + replacedKey(before.snapshot), manifestText(before), null)
      await replace(manifest)
      objects = await listObjects(folder)
    },
    confirm: replace,
    async tidy(_, graceMs, at) {
      // Nothing can block a new snapshot: leftovers are removed when it is current.
      if (current !== null) await tidyBucket(folder, objects, current, graceMs, at)
    },
    close: () => rmSync(making, { recursive: true, force: true }),
  }
}

/** A lake in a bucket of an object storage. */
async function bucketPlace(asWritten: string, access: S3Access): Promise<LakePlace> {
  const { name, prefix } = parseBucketAddress(asWritten)
  const bucket = await openBucket(name, access)
  const folder: BucketFolder = { bucket, prefix, asWritten }
  return {
    asWritten,
    manifest: async () => parseManifest((await bucket.text(prefix + MANIFEST))?.text ?? ''),
    look: async () => ({ files: filesAmong(folder, await listObjects(folder)), findings: [] }),
    write: (now) => bucketWriter(folder, now),
    close: () => bucket.close(),
  }
}

/** Where a lake lies, by its name: `s3://bucket/name`, or a folder. */
export const openPlace = async (asWritten: string, access: S3Access): Promise<LakePlace> =>
  isBucket(asWritten) ? bucketPlace(asWritten, access) : folderPlace(asWritten)
