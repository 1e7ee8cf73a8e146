import { parseEnv } from 'node:util'
import { KEY_VARIABLE } from '../../service/key.ts'

/** Returns the key in the text of a variable or a key file, which may be in quotes, beside comments, or assigned to the variable. */
export function extractKey(text: string): string {
  const named = parseEnv(text)[KEY_VARIABLE]
  const lines = text.split(/[\r\n]+/).filter((line) => !/^\s*(?:#|$)/.test(line))
  const key = (named ?? lines.join('\n')).trim()
  return (/^(["'])(.*)\1$/.exec(key)?.[2] ?? key).trim()
}
