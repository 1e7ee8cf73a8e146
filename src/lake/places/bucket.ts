import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BusyError, InputError } from '../../util/errors.ts'
import { partFileName, removeStaleParts } from '../../util/files/partFiles.ts'
import { type LakeManifest, listFiles, MANIFEST, manifestText, parseManifest, requireManifest } from '../manifest.ts'
import { openFolderPlace } from './folder.ts'
import { isBucket, type LakePlace, type LakeWriter, type StoredFiles } from './place.ts'
import { type Bucket, createNotStoredError, type ListedObject, openBucket, type S3Access } from './s3.ts'

/** The folder of the files of all snapshots. The manifest lists those of the current one. */
const FILES_FOLDER = 'files'
/** An empty object to test whether the storage supports conditional writes. */
const CONDITIONS = 'conditions'
/** The manifest of a replaced snapshot, which stays until its files are deleted. */
const replacedKey = (snapshot: number): string => `replaced/${snapshot}.json`

const DATA_FILE = /^files\/.+\.s([1-9]\d*)\.parquet$/
const REPLACED = /^replaced\/([1-9]\d*)\.json$/
/** Milliseconds. Younger files without a snapshot may belong to a running sync. */
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

/** The objects of a lake below its prefix. */
interface BucketFolder {
  readonly bucket: Bucket
  readonly prefix: string
  readonly asWritten: string
}

const listObjects = async ({ bucket, prefix }: BucketFolder): Promise<ListedObject[]> =>
  (await bucket.list(prefix)).map((object) => ({ ...object, key: object.key.slice(prefix.length) }))

/** The files of a snapshot among listed objects. */
function storedFiles({ bucket, prefix }: BucketFolder, objects: readonly ListedObject[]): StoredFiles {
  const sizes = new Map(objects.map(({ key, bytes }) => [key, bytes]))
  return {
    size: ({ path }) => sizes.get(`${FILES_FOLDER}/${path}`),
    sha256: ({ path }) => bucket.sha256(`${prefix}${FILES_FOLDER}/${path}`),
  }
}

const createBusyError = (asWritten: string): BusyError =>
  new BusyError(`Another process published a snapshot of the lake ${asWritten} at the same time.`, {
    hint: 'That snapshot is kept. If it shows an older state of the database, run the command again.',
    code: 'lake-locked',
  })

/** Whether the storage refuses to write an object twice that must not exist yet. */
async function supportsConditions({ bucket, prefix }: BucketFolder, exists: boolean): Promise<boolean> {
  const put = (): Promise<boolean> => bucket.putText(`${prefix}${CONDITIONS}`, '', 'absent')
  if (!exists && !(await put())) return true
  return !(await put())
}

/**
 * Removes files of killed syncs, and snapshots that were replaced at least `graceMs` ago; their manifests last.
 */
async function tidyBucket(
  { bucket, prefix }: BucketFolder,
  objects: readonly ListedObject[],
  current: LakeManifest,
  graceMs: number,
  now: number,
): Promise<void> {
  const toKey = ({ path }: { readonly path: string }): string => `${FILES_FOLDER}/${path}`
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
  const kept = [current, ...replaced.filter((snapshot, i) => !isOld(snapshot, i)).map(({ manifest }) => manifest)]
  const live = new Set(kept.flatMap((manifest) => (manifest ? listFiles(manifest).map(toKey) : [])))
  const dead = new Set(old.flatMap(({ manifest }) => (manifest ? listFiles(manifest).map(toKey) : [])))
  for (const { key, writtenAt } of objects) {
    const [, number] = DATA_FILE.exec(key) ?? []
    // A file of a later snapshot is being written.
    if (number === undefined || live.has(key) || Number(number) > current.snapshot) continue
    if (dead.has(key) || now - writtenAt >= Math.max(graceMs, ORPHAN_MS)) await bucket.remove(prefix + key)
  }
  for (const { number } of old) await bucket.remove(prefix + replacedKey(number))
}

/** The local folder for new files of a lake in a bucket. */
const STAGING = join(tmpdir(), 'indicator-sync-lake')

async function openBucketWriter(folder: BucketFolder, now: number): Promise<LakeWriter> {
  const { bucket, prefix, asWritten } = folder
  const stored = await bucket.text(prefix + MANIFEST)
  const before = stored && parseManifest(stored.text)
  let objects = await listObjects(folder)
  if (before === null && objects.some(({ key }) => key !== CONDITIONS && !DATA_FILE.test(key) && !REPLACED.test(key)))
    throw new InputError(`${asWritten} contains objects that do not belong to a lake.`, {
      hint: 'Choose an unused prefix of the bucket. Nothing was changed.',
      code: 'target-exists',
    })
  if (before) requireManifest(before, asWritten)
  const isGuarded = await supportsConditions(
    folder,
    objects.some(({ key }) => key === CONDITIONS),
  )
  let current: LakeManifest | null = null
  const making = partFileName(STAGING)
  removeStaleParts(STAGING, now)
  /** Replaces the manifest, unless another process replaced it. */
  const replace = async (manifest: LakeManifest): Promise<void> => {
    const text = manifestText(manifest)
    const unchanged = stored === null ? 'absent' : { tag: stored.tag }
    const put = (): Promise<boolean> => bucket.putText(prefix + MANIFEST, text, isGuarded ? unchanged : null)
    const isReplaced = !isGuarded && (await bucket.text(prefix + MANIFEST))?.tag !== stored?.tag
    if (isReplaced) throw createBusyError(asWritten)
    const isPut = await put()
    const now = await bucket.text(prefix + MANIFEST)
    // The client repeats a request whose response was lost. Then the condition fails, but the object is ours.
    if (now?.text !== text)
      throw isPut && now?.tag === stored?.tag
        ? createNotStoredError(
            `${asWritten}/${MANIFEST}`,
            now === null ? 'it is missing' : 'it has the previous content',
          )
        : createBusyError(asWritten)
    current = manifest
  }
  return {
    ...storedFiles(folder, objects),
    before,
    caution: isGuarded ? null : CAUTION,
    folder: () => FILES_FOLDER,
    stage() {
      mkdirSync(making, { recursive: true })
      return making
    },
    // All snapshots share a folder.
    keep: () => undefined,
    async add(file, name, snapshot, written) {
      const path = `${name}-${written.sha256.slice(0, 16)}.s${snapshot}.parquet`
      await bucket.putFile(`${prefix}${FILES_FOLDER}/${path}`, file, written)
      rmSync(file)
      return path
    },
    async commit(manifest) {
      if (before) await bucket.putText(prefix + replacedKey(before.snapshot), manifestText(before), null)
      await replace(manifest)
      objects = await listObjects(folder)
    },
    confirm: replace,
    async tidy(_, graceMs, at) {
      // Nothing blocks a new snapshot, so leftovers are removed afterwards.
      if (current !== null) await tidyBucket(folder, objects, current, graceMs, at)
    },
    close: () => rmSync(making, { recursive: true, force: true }),
  }
}

/** A lake in a bucket of an object storage. */
async function openBucketPlace(asWritten: string, access: S3Access): Promise<LakePlace> {
  const { name, prefix } = parseBucketAddress(asWritten)
  const bucket = await openBucket(name, access)
  const folder: BucketFolder = { bucket, prefix, asWritten }
  return {
    asWritten,
    manifest: async () => parseManifest((await bucket.text(prefix + MANIFEST))?.text ?? ''),
    inspect: async () => ({ files: storedFiles(folder, await listObjects(folder)), findings: [] }),
    write: (now) => openBucketWriter(folder, now),
    close: () => bucket.close(),
  }
}

/** Opens the place of a lake: `s3://bucket/name`, or a folder. */
export const openPlace = async (asWritten: string, access: S3Access): Promise<LakePlace> =>
  isBucket(asWritten) ? openBucketPlace(asWritten, access) : openFolderPlace(asWritten)
