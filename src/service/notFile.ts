import { brief, isObject } from '../util/json.ts'
import { oneLine } from '../util/text.ts'

/* What the service or its storage sends in place of the file of an archive. */

/** The longest message of the service, or of the storage. */
export const MAX_MESSAGE_BYTES = 64 * 1024
/** Keys that a message has, in lower case. At least one is of the first list, and no other one occurs. */
const MESSAGE_KEYS = ['message', 'error', 'errors', 'detail', 'details', 'title', 'description']
const OTHER_KEYS = ['status', 'statuscode', 'code', 'type', 'path', 'instance', 'timestamp', 'requestid', 'success']

/** The message in JSON that the service sent instead of a file, such as `{"message":"No values for specified archive"}`. */
function parseMessage(text: string): string | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(body)) return null
  const entries = Object.entries(body).map(([key, value]) => [key.toLowerCase(), value] as const)
  if (!entries.every(([key]) => MESSAGE_KEYS.includes(key) || OTHER_KEYS.includes(key))) return null
  const [, message] = entries.find(([key]) => MESSAGE_KEYS.includes(key)) ?? []
  return message === undefined ? null : brief(message)
}

/** The first element of a page, or of an error of storage in XML, after what may precede it. */
const PAGE =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+)?(?<root>html|head|body|error)[\s>]/is

/** Why a response is not the file of an archive; null if it may be one. `bytes`: its size. `start`: its beginning, up to MAX_MESSAGE_BYTES. */
export function findNotFile(bytes: number, start: string, contentType = ''): string | null {
  if (bytes === 0) return 'the response is empty'
  const root = PAGE.exec(start)?.groups?.root
  if (root?.toLowerCase() === 'error') return 'the response is an error instead of a file'
  if (root || /^(?:text\/html|application\/xhtml)\b/i.test(contentType))
    return 'the response is a web page instead of a file'
  const message = bytes > MAX_MESSAGE_BYTES ? null : parseMessage(start)
  return message && `the service sent the message ${oneLine(message).slice(0, 200)} instead of a file`
}
