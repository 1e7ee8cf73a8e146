import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { InputError, StoreError, SyncError, TransientError } from '../../util/errors.ts'
import { loadPeer } from '../../util/package.ts'

/** Access to an object storage. Defaults come from the variables and files of AWS. */
export interface S3Access {
  readonly endpoint?: string
  readonly region?: string
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
}

/** An object of a listing. */
export interface ListedObject {
  readonly key: string
  readonly bytes: number
  /** Write time by the clock of the storage, epoch milliseconds. */
  readonly writtenAt: number
}

/** The condition for writing an object: it does not exist yet, or it still has this tag. */
type Condition = 'absent' | { readonly tag: string }

function conditionHeaders(condition: Condition | null) {
  if (condition === null) return {}
  return condition === 'absent' ? { IfNoneMatch: '*' } : { IfMatch: condition.tag }
}

/** A bucket of an object storage. */
export interface Bucket {
  /** A small object with its tag; null if there is none. */
  text(key: string): Promise<{ readonly text: string; readonly tag: string } | null>
  sha256(key: string): Promise<string>
  list(prefix: string): Promise<ListedObject[]>
  /** Writes a small object. Returns false and writes nothing if the condition does not hold. */
  putText(key: string, text: string, condition: Condition | null): Promise<boolean>
  /** Writes a file as an object, and checks the stored size and checksum. */
  putFile(key: string, file: string, written: { readonly bytes: number; readonly sha256: string }): Promise<void>
  remove(key: string): Promise<void>
  close(): void
}

const PACKAGE = '@aws-sdk/client-s3'
/** Attempts to send a file or read an object. The client repeats requests, but not broken streams. */
const MAX_ATTEMPTS = 3

interface S3Error {
  readonly name?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

const httpStatus = (error: unknown): number | undefined => (error as S3Error).$metadata?.httpStatusCode

/** Turns an error of an object storage into an expected one. */
function asStorageError(error: unknown, address: string): SyncError {
  if (error instanceof SyncError) return error
  const { name = 'Error', message = '' } = error as S3Error
  const status = httpStatus(error)
  const failure = `${address}: ${name}${message && message !== name ? `: ${message.split('\n')[0]}` : ''}`
  const input = (hint: string, code: string): SyncError => new InputError(`${failure}.`, { hint, code, cause: error })
  if (name === 'CredentialsProviderError')
    return input(
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for ~/.aws/credentials.',
      'no-credentials',
    )
  if (name === 'NoSuchBucket')
    return input('Create the bucket or choose another one, and check AWS_ENDPOINT_URL.', 'no-bucket')
  if (status === 401 || status === 403)
    return input(
      'These credentials lack a permission (read, list, write or delete), or belong to another storage.',
      's3',
    )
  if (status === 301 || status === 307 || name === 'PermanentRedirect')
    return input('The bucket is in another region: set AWS_REGION to it.', 's3')
  if (status !== undefined && status < 500)
    return new StoreError(`${failure} (${status}).`, {
      hint: 'The storage rejected the request. The previous snapshot is kept.',
      code: 's3',
      cause: error,
    })
  return new TransientError(`${failure}.`, {
    hint: 'Check AWS_ENDPOINT_URL and the network, then run the command again. The previous snapshot is kept.',
    code: 's3-unreachable',
    cause: error,
  })
}

/** The error of a confirmed object that the storage lacks. */
export const createNotStoredError = (address: string, problem: string): StoreError =>
  new StoreError(`${address} was confirmed by the storage, but ${problem}.`, {
    hint: 'The previous snapshot stays valid. Check the storage, then run the command again.',
    code: 's3-not-stored',
  })

const quiet = (): void => undefined

/** Opens a bucket with the client of AWS, an optional package. */
export async function openBucket(bucket: string, { endpoint, region, credentials }: S3Access): Promise<Bucket> {
  const address = `s3://${bucket}`
  const sdk = await loadPeer<typeof Sdk>(PACKAGE)
  if (!sdk)
    throw new InputError(`A lake at ${address} needs the package ${PACKAGE}, which is not installed.`, {
      hint: `npm install ${PACKAGE} in this folder, or use a local folder.`,
      code: 'no-engine',
    })
  const client: Sdk.S3Client = new sdk.S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    // Storages other than AWS have no regions, but a request has to be signed for one.
    region: region ?? 'us-east-1',
    ...(credentials ? { credentials } : {}),
    // Only AWS certainly has a host for each bucket. The client calls this when it knows the endpoint.
    forcePathStyle: (async () => client.config.isCustomEndpoint === true) as unknown as boolean,
    // Other storages do not support checksums after a body; ours is in a header.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Retries do not concern the user; errors are thrown.
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
  })
  const send = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw asStorageError(error, address)
    }
  }
  /** How an object differs from the sent file; undefined if it does not. Some storages know only its size. */
  const difference = async (Key: string, bytes: number, checksum: string): Promise<string | undefined> => {
    try {
      const head = await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key, ChecksumMode: 'ENABLED' }))
      if (head.ContentLength !== bytes) return `it has ${head.ContentLength} bytes instead of ${bytes}`
      if ((head.ChecksumSHA256 ?? checksum) !== checksum)
        return `its SHA-256 is ${head.ChecksumSHA256}, not ${checksum}`
    } catch (error) {
      if (httpStatus(error) !== 404) throw error
      return 'it is missing'
    }
    return undefined
  }
  const read = async <T>(Key: string, use: (body: Readable, tag: string) => Promise<T>): Promise<T> => {
    for (let left = MAX_ATTEMPTS; ; ) {
      const { Body, ETag = '' } = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key }))
      try {
        return await use(Body as Readable, ETag)
      } catch (error) {
        if (--left === 0) throw error
      }
    }
  }
  return {
    text: (key) =>
      send(async () => {
        try {
          return await read(key, async (body, tag) => ({ text: Buffer.concat(await body.toArray()).toString(), tag }))
        } catch (error) {
          if ((error as S3Error).name === 'NoSuchKey') return null
          throw error
        }
      }),
    sha256: (key) =>
      send(() =>
        read(key, async (body) => {
          const hash = createHash('sha256')
          for await (const piece of body) hash.update(piece as Buffer)
          return hash.digest('hex')
        }),
      ),
    list: (prefix) =>
      send(async () => {
        const objects: ListedObject[] = []
        for await (const { Contents = [] } of sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix }))
          for (const { Key, Size, LastModified } of Contents)
            objects.push({
              key: Key!,
              bytes: Size ?? 0,
              writtenAt: LastModified?.getTime() ?? Number.POSITIVE_INFINITY,
            })
        return objects
      }),
    putText: (key, text, condition) =>
      send(async () => {
        try {
          await client.send(
            new sdk.PutObjectCommand({
              Bucket: bucket,
              Key: key,
              Body: text,
              ContentType: 'application/json',
              ContentLength: Buffer.byteLength(text),
              ...conditionHeaders(condition),
            }),
          )
          return true
        } catch (error) {
          if ([409, 412].includes(httpStatus(error) ?? 0)) return false
          throw error
        }
      }),
    putFile: (key, file, { bytes, sha256 }) =>
      send(async () => {
        const checksum = Buffer.from(sha256, 'hex').toString('base64')
        for (let left = MAX_ATTEMPTS; ; )
          try {
            await client.send(
              new sdk.PutObjectCommand({
                Bucket: bucket,
                Key: key,
                Body: createReadStream(file),
                ContentLength: bytes,
                ContentType: 'application/vnd.apache.parquet',
                ChecksumSHA256: checksum,
              }),
            )
            const problem = await difference(key, bytes, checksum)
            if (problem === undefined) return
            throw createNotStoredError(`${address}/${key}`, problem)
          } catch (error) {
            if (--left === 0 || (httpStatus(error) ?? 500) < 500) throw error
          }
      }),
    remove: (key) =>
      send(async () => void (await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key })))),
    close: () => client.destroy(),
  }
}
