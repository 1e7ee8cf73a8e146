import { InputError } from '../util/errors.ts'
import { isLoopback } from '../util/host.ts'
import { quantity } from '../util/text.ts'

/** How a service receives a key. */
export interface ApiKey {
  /** The header of the key. */
  readonly header: string
  /** The form of issued keys, as a regular expression and in words; null if it is unknown. */
  readonly issued: { readonly pattern: string; readonly words: string } | null
}

/** Source: the specification, "Authentication". */
export const API_KEY: ApiKey = {
  header: 'x-api-key',
  issued: { pattern: '[0-9a-f]{64}', words: '64 lowercase hexadecimal characters' },
}

/** The variable of the key. A key file may have it, too. */
export const KEY_VARIABLE = 'INDICATOR_SYNC_API_KEY'

/** A line that assigns a key to a name, or a header. A key may end with `=`, as Base64 does. */
const ASSIGNMENT = /^(?:export\s+)?[a-z_][\w.-]*\s*=\s*[^=\s]|^[\w-]*(?:key|token)[\w-]*:/i

/** Shorter texts would also occur in data. */
const SHORTEST_KEY = 8

/** The form of issued keys in words, if a key has another form. */
export const expectedForm = ({ issued }: ApiKey, key: string): string | undefined =>
  issued === null || new RegExp(`^(?:${issued.pattern})$`).test(key) ? undefined : issued.words

const keyHint = ({ issued }: ApiKey): string =>
  `${issued === null ? '' : `An issued key has ${issued.words}. `}Set ${KEY_VARIABLE}, or put the key alone on one line of a file for --api-key-file. Quotes, comments and ${KEY_VARIABLE}= before the key are allowed.`

/** Placeholders for a key. */
const PLACEHOLDER =
  /^<.*>$|^\[.*\]$|^\{.*\}$|^\$|^x{8,}$|^\*+$|^\.{3,}$|^(put|paste|insert|enter|replace|change)[-_ ]?(it|me|this|your|here|with|the)|^your[-_ ]|^my[-_ ]?(api[-_ ]?)?key$|api[-_ ]?key[-_ ]?here|^(todo|tbd|none|null|undefined|changeme|password|placeholder|example)$/i

/** Why a text cannot be a key, as the end of a sentence; undefined if it can. Never repeats the text. */
export function keyFault(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (text.includes('\0')) return 'is not UTF-8 but looks like UTF-16'
  if (ASSIGNMENT.test(text)) return `is not a key but a line such as NAME=KEY, and the name is not ${KEY_VARIABLE}`
  if (/[^\x21-\x7e]|["'`]/.test(text))
    return 'cannot be sent in a header: it contains a space, a line break, a quotation mark or a non-ASCII character'
  if (PLACEHOLDER.test(text)) return 'is a placeholder for a key'
  if (text.length < SHORTEST_KEY)
    return `has only ${quantity(text.length, 'character')}; a key has at least ${SHORTEST_KEY}`
  // A text that occurs in data cannot be redacted.
  if (text.length < 16 && /^(?:[a-z]+|[\d.:TZ+-]+)$/i.test(text))
    return 'is a plain word or number, which could also occur in data'
  return undefined
}

/** Returns a trimmed key. Throws InputError, which names its source, if it cannot be a key. */
export function checkKey(text: string, source: string, form: ApiKey): string {
  const key = text.trim()
  const fault = keyFault(key)
  if (fault !== undefined)
    throw new InputError(`The API key (from ${source}) ${fault}.`, { hint: keyHint(form), code: 'bad-key' })
  return key
}

/** Whether the key would be sent unencrypted to another machine. */
export const isExposed = (baseUrl: string): boolean => new URL(baseUrl).protocol === 'http:' && !isLoopback(baseUrl)

/** Refuses to send the key unencrypted to another machine, unless that is allowed. */
export function refuseExposed({
  baseUrl,
  allowHttp = false,
}: {
  readonly baseUrl: string
  readonly allowHttp?: boolean | undefined
}): void {
  if (allowHttp || !isExposed(baseUrl)) return
  throw new InputError(`The key would be sent to ${baseUrl} unencrypted: anyone on the network path could read it.`, {
    hint: 'Use https://. In a trusted network, set INDICATOR_SYNC_ALLOW_HTTP=1 (in programs: allowHttp).',
    code: 'plain-http',
  })
}
