import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
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

const HINT = 'Pass a folder that `indicator-sync probe --record` wrote.'

const isTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string')

/** Whether an object has all fields of a recorded response except its body. */
const isRecorded = ({ name, url, sent, status, headers, ms, sentAt, redirected }: JsonObject): boolean =>
  [name, url, sentAt].every((text) => typeof text === 'string') &&
  [status, ms].every(Number.isFinite) &&
  isTexts(sent) &&
  isTexts(headers) &&
  (redirected === null ||
    (isObject(redirected) && typeof redirected.isOtherHost === 'boolean' && Number.isFinite(redirected.status)))

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
        if (!isObject(head) || !isRecorded(head)) throw new SyntaxError('it has other fields')
        return { ...(head as unknown as Omit<Recorded, 'body'>), body: readFileSync(file.replace(/json$/, 'body')) }
      })
  } catch (error) {
    const isForm = error instanceof SyntaxError
    throw new InputError(
      isForm ? `${file} is not a recorded response: ${error.message}.` : `${file} ${describeSystemError(error)}.`,
      { hint: HINT, code: 'bad-recording', cause: error },
    )
  }
}
