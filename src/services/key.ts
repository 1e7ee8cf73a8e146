import { InputError } from '../base/errors.ts'

/** No key is shorter: such a short text would also occur in data. */
const SHORTEST_KEY = 8

/** The form of issued keys, in words. */
export const ISSUED_FORM = '64 lowercase hexadecimal characters'
/** Whether a key, bare or in double quotes, has the form of issued ones. */
export const looksIssued = (key: string): boolean => /^"?[0-9a-f]{64}"?$/.test(key)

const HINT = `An issued key looks like ${ISSUED_FORM}; give it bare or in double quotes, on one line, as INDICATOR_SYNC_API_KEY or in a file for --api-key-file.`

/** Placeholders for a key. */
const PLACEHOLDER =
  /^<.*>$|^\[.*\]$|^\{.*\}$|^\$|^x{8,}$|^\*+$|^\.{3,}$|^(put|paste|insert|enter|replace|change)[-_ ]?(it|me|this|your|here|with|the)|^your[-_ ]|^my[-_ ]?(api[-_ ]?)?key$|api[-_ ]?key[-_ ]?here|^(todo|tbd|none|null|undefined|changeme|password|placeholder|example)$/i

/** What is wrong with a text as a key, as the end of a sentence; undefined when it can be one. Never repeats the text. */
export function keyFault(text: string): string | undefined {
  const bare = text.replace(/^"(.*)"$/s, '$1')
  const holds = (what: string): string => `is empty or holds characters that a header cannot carry: it ${what}`
  if (bare === '') return holds('is empty')
  if (/[\r\n]/.test(bare)) return holds('has more than one line')
  if (/\s/.test(bare)) return holds('has a space in it')
  if (/["'`]/.test(bare)) return holds('has a quotation mark in it, or only on one side')
  if (/[^\x21-\x7e]/.test(bare)) return holds('has letters beyond ASCII')
  if (PLACEHOLDER.test(bare)) return 'is a placeholder for a key'
  if (bare.length < SHORTEST_KEY) return `has ${bare.length} characters, and no key has fewer than ${SHORTEST_KEY}`
  // A text that occurs in ordinary data cannot be taken out of data.
  if (bare.length < 16 && /^(?:[a-z]+|[\d.:TZ+-]+)$/i.test(bare)) return 'is a word or a number, which data hold too'
  return undefined
}

/** A key for the `x-api-key` header: bare or in double quotes, as given. Never printed. Throws InputError, naming its source `from`, where it cannot be a key. */
export function checkKey(text: string, from: string): string {
  const key = text.trim()
  const fault = keyFault(key)
  if (fault !== undefined) throw new InputError(`The API key ${fault} (from ${from}).`, { hint: HINT, code: 'bad-key' })
  return key
}

/** The texts to keep out of every log and record: the key with and without its quotes. */
export const secretsOf = (key: string): string[] => [...new Set([key, key.replaceAll('"', '')])]
