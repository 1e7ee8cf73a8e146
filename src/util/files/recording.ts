import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { join } from 'node:path'
import { InputError } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { describeSystemError } from '../systemErrors.ts'
import { partFileName } from './partFiles.ts'
import { asWriteError } from './target.ts'

/** A request and its response, without the key. */
export interface Recorded {
  /** The names of its two files, without their endings. */
  readonly name: string
  readonly url: string
  /** The headers of the request. */
  readonly sent: Readonly<Record<string, string>>
  readonly status: number
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>
  /** The body after decompression. */
  readonly body: Buffer
  /** Milliseconds from the call to the last byte. */
  readonly ms: number
  /** When it was sent: `2025-11-04T12:00:00.000Z`. */
  readonly sentAt: string
  /** The response without the key where a download redirects to; null without a redirect. */
  readonly redirected: { readonly isOtherHost: boolean; readonly status: number } | null
}

/** What to do about a folder without a recording. */
export const RECORDING_HINT = 'Pass a folder that `indicator-sync probe --record` wrote.'

/** Whether a value is the headers of a message, which can be sent again. */
function isHeaders(value: unknown): boolean {
  if (!isObject(value)) return false
  try {
    for (const [name, text] of Object.entries(value)) {
      validateHeaderName(name)
      if (typeof text !== 'string') return false
      validateHeaderValue(name, text)
    }
    return true
  } catch {
    return false
  }
}

/** Whether a value is the status of a final response. */
const isStatus = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 999

const isAddress = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')

/** Finds the first field of a recorded response that is missing or not valid; null if there is none. `file`: its name without the ending. */
function findBadField({ name, url, sent, status, headers, ms, sentAt, redirected }: JsonObject, file: string) {
  const isValid = {
    // The name becomes a part of an address.
    name: name === file && /^[\w.-]+$/.test(file),
    url: isAddress(url),
    sent: isHeaders(sent),
    status: isStatus(status),
    headers: isHeaders(headers),
    ms: Number.isFinite(ms),
    sentAt: typeof sentAt === 'string',
    redirected:
      redirected === null ||
      (isObject(redirected) && typeof redirected.isOtherHost === 'boolean' && isStatus(redirected.status)),
  }
  return Object.entries(isValid).find(([, valid]) => !valid)?.[0] ?? null
}

/** Writes a response into a folder: the body first, so that the file of its headers completes it. */
export function writeRecorded(folder: string, { body, ...head }: Recorded): void {
  const file = join(folder, head.name)
  try {
    for (const [ending, content] of [
      ['body', body],
      ['json', `${JSON.stringify(head, null, 2)}\n`],
    ] as const) {
      const part = partFileName(`${file}.${ending}`)
      writeFileSync(part, content)
      renameSync(part, `${file}.${ending}`)
    }
  } catch (error) {
    throw asWriteError(error, file)
  }
}

/** Reads all responses of a folder. Throws InputError if it does not exist or a file has another form. */
export function readRecording(folder: string): Recorded[] {
  let file = folder
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => {
        file = join(folder, name)
        const head: unknown = JSON.parse(readFileSync(file, 'utf8'))
        if (!isObject(head)) throw new SyntaxError('it is not an object')
        const bad = findBadField(head, name.replace(/\.json$/, ''))
        if (bad !== null) throw new SyntaxError(`its field ${bad} is missing or not valid`)
        file = file.replace(/json$/, 'body')
        return { ...(head as unknown as Omit<Recorded, 'body'>), body: readFileSync(file) }
      })
  } catch (error) {
    const isForm = error instanceof SyntaxError
    throw new InputError(
      isForm ? `${file} is not a recorded response: ${error.message}.` : `${file} ${describeSystemError(error)}.`,
      { hint: RECORDING_HINT, code: 'bad-recording', cause: error },
    )
  }
}
