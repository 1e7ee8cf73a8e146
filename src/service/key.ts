import { InputError } from '../util/errors.ts'
import { isHere } from '../util/host.ts'
import { quantity } from '../util/text.ts'

/** How a service is shown a key. */
export interface ApiKey {
  /** The header that holds it. */
  readonly header: string
  /** What issued keys look like: a regular expression for all of a key, and the same in words; null where nothing is known of it. */
  readonly issued: { readonly pattern: string; readonly words: string } | null
}

/** Source: the specification, "Authentication". */
export const API_KEY: ApiKey = {
  header: 'x-api-key',
  issued: { pattern: '[0-9a-f]{64}', words: '64 lowercase hexadecimal characters' },
}

/** No key is shorter: such a short text would also occur in data. */
const SHORTEST_KEY = 8

/** What issued keys have that a key, bare or in double quotes, has not, in words; undefined where it may be an issued one. */
export const unlikeIssued = ({ issued }: ApiKey, key: string): string | undefined =>
  issued === null || new RegExp(`^"?(?:${issued.pattern})"?$`).test(key) ? undefined : issued.words

const keyHint = ({ issued }: ApiKey): string =>
  `${issued === null ? '' : `An issued key has ${issued.words}. `}Set INDICATOR_SYNC_API_KEY, or put the key on one line of a file for --api-key-file.`

/** Placeholders for a key. */
const PLACEHOLDER =
  /^<.*>$|^\[.*\]$|^\{.*\}$|^\$|^x{8,}$|^\*+$|^\.{3,}$|^(put|paste|insert|enter|replace|change)[-_ ]?(it|me|this|your|here|with|the)|^your[-_ ]|^my[-_ ]?(api[-_ ]?)?key$|api[-_ ]?key[-_ ]?here|^(todo|tbd|none|null|undefined|changeme|password|placeholder|example)$/i

/** What is wrong with a text as a key, as the end of a sentence; undefined when it can be one. Never repeats the text. */
export function keyFault(text: string): string | undefined {
  const bare = text.replace(/^"(.*)"$/s, '$1')
  const holds = (what: string): string => `cannot be sent in a header: it ${what}`
  if (bare === '') return 'is empty'
  if (/[\r\n]/.test(bare)) return holds('has more than one line')
  if (/\s/.test(bare)) return holds('contains a space')
  if (/["'`]/.test(bare)) return holds('contains a quotation mark')
  if (/[^\x21-\x7e]/.test(bare)) return holds('contains non-ASCII characters')
  if (PLACEHOLDER.test(bare)) return 'is a placeholder for a key'
  if (bare.length < SHORTEST_KEY)
    return `has only ${quantity(bare.length, 'character')}; a key has at least ${SHORTEST_KEY}`
  // A text that occurs in ordinary data cannot be taken out of data.
  if (bare.length < 16 && /^(?:[a-z]+|[\d.:TZ+-]+)$/i.test(bare))
    return 'is a plain word or number, which could also occur in data'
  return undefined
}

/** A key for the header of a service: bare or in double quotes, as given. Never printed. Throws InputError, naming its source `from`, where it cannot be a key. */
export function checkKey(text: string, from: string, form: ApiKey): string {
  const key = text.trim()
  const fault = keyFault(key)
  if (fault !== undefined)
    throw new InputError(`The API key (from ${from}) ${fault}.`, { hint: keyHint(form), code: 'bad-key' })
  return key
}

/** The texts to keep out of every log and record: the key with and without its quotes. */
export const listSecrets = (key: string): string[] => [...new Set([key, key.replaceAll('"', '')])]

/** Whether the key would be sent unencrypted to another machine. */
export const isExposed = (baseUrl: string): boolean => new URL(baseUrl).protocol === 'http:' && !isHere(baseUrl)

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
