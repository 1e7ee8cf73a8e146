import { InputError } from '../base/errors.ts'

/** A key as it goes into the `x-api-key` header: bare or in double quotes, as it was given. Never printed. */
export function checkKey(text: string): string {
  const key = text.trim()
  if (key === '' || !/^"?[\x21\x23-\x7e]+"?$/.test(key) || key.startsWith('"') !== key.endsWith('"'))
    throw new InputError('The API key is empty or holds characters that a header cannot carry.', {
      hint: 'An issued key looks like 64 lowercase hexadecimal characters; give it bare or in double quotes.',
      code: 'bad-key',
    })
  return key
}

/** The texts to keep out of every log and record: the key with and without its quotes. */
export const secretsOf = (key: string): string[] => [key, key.replaceAll('"', '')]
