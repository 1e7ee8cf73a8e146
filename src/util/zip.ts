import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'

/** A file in a ZIP. */
export interface ZippedFile {
  /** Its full name, with folders. */
  readonly path: string
  /** Its declared size. `read` never yields more. */
  readonly bytes: number
  readonly packedBytes: number
  /** Whether it is a file with contents: no folder, symlink or device. */
  readonly isRegular: boolean
  /** Unpacks it piece by piece. Throws ZipError at the end if its size or checksum is wrong. */
  readonly read: () => AsyncIterable<Buffer>
}

/** A ZIP or a file in it is damaged or not supported. */
export class ZipError extends Error {}

/** A monthly settlement has several hundred files. */
const MAX_FILES = 10_000

const FILE_TYPE = 0o170000
const REGULAR = 0o100000
const UNIX = 3

/** Whether a ZIP made on Unix declares an entry to be something else than a file. */
function isRegular({ fileName, externalFileAttributes, versionMadeBy }: Entry): boolean {
  const type = (externalFileAttributes >>> 16) & FILE_TYPE
  const isOther = versionMadeBy >> 8 === UNIX && type !== 0 && type !== REGULAR
  return !isOther && !fileName.endsWith('/')
}

const asZipError = (error: unknown): ZipError =>
  error instanceof ZipError ? error : new ZipError(`the ZIP is damaged: ${(error as Error).message}`, { cause: error })

/** Unpacks an entry and compares its checksum. The package compares its size. */
async function* unpack(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0
  try {
    for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      sum = crc32(piece, sum)
      yield piece
    }
  } catch (error) {
    throw asZipError(error)
  }
  if (sum !== entry.crc32) throw new ZipError('its CRC-32 is wrong')
}

/** The first four bytes of a ZIP, and of one without files. */
const SIGNATURES = [0x04034b50, 0x06054b50]

/** Whether bytes begin as a ZIP does. */
export const isZip = (bytes: Buffer): boolean => bytes.length >= 4 && SIGNATURES.includes(bytes.readUInt32LE(0))

/** Lists the files of a ZIP without unpacking them. Throws ZipError if its directory is damaged or repeats a name. */
export async function listZip(bytes: Buffer): Promise<readonly ZippedFile[]> {
  const files = new Map<string, ZippedFile>()
  try {
    const zip = await fromBufferPromise(bytes)
    if (zip.entryCount > MAX_FILES) throw new ZipError(`the ZIP has ${zip.entryCount} files (limit ${MAX_FILES})`)
    for await (const entry of zip.eachEntry()) {
      const { fileName: path, uncompressedSize, compressedSize } = entry
      if (files.has(path)) throw new ZipError(`the ZIP has two files named ${JSON.stringify(path)}`)
      files.set(path, {
        path,
        bytes: uncompressedSize,
        packedBytes: compressedSize,
        isRegular: isRegular(entry),
        read: () => unpack(zip, entry),
      })
    }
  } catch (error) {
    throw asZipError(error)
  }
  return [...files.values()]
}
