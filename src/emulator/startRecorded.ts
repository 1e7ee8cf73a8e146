import { createServer, type ServerResponse } from 'node:http'
import { brotliCompressSync } from 'node:zlib'
import { InputError } from '../util/errors.ts'
import { RECORDING_HINT, type Recorded, readRecording } from '../util/files/recording.ts'
import { type ListeningServer, listen } from '../util/listen.ts'
import { EMULATOR_KEY } from './startEmulator.ts'
import { STORAGE_PATH, storageResponse, storageUrl } from './storage.ts'

/** Headers that the server writes itself. */
const OWN_HEADERS =
  /^(content-length|content-encoding|transfer-encoding|trailer|upgrade|connection|keep-alive|date|location)$/i

const targetOf = ({ url }: Recorded): string => {
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

/** Starts a server that returns the responses of a folder to the same requests. It accepts every key. */
export async function startRecorded(
  folder: string,
  { port = 0, host = '127.0.0.1' }: { readonly port?: number; readonly host?: string } = {},
): Promise<ListeningServer & { readonly key: string }> {
  const recording = readRecording(folder)
  if (recording.length === 0)
    throw new InputError(`${folder} has no recorded response: it contains no file that ends in .json.`, {
      hint: RECORDING_HINT,
      code: 'bad-recording',
    })
  const server = createServer(({ url = '', headers }, response) => {
    const key = headers['x-api-key']?.toString()
    const fits = recording.filter((recorded) => targetOf(recorded) === url)
    const found = fits.find(({ sent }) => sent.Accept === headers.accept) ?? fits[0]
    if (url.startsWith(`${STORAGE_PATH}/`)) {
      const name = url.slice(STORAGE_PATH.length + 1)
      const status = recording.find((recorded) => recorded.name === name)?.redirected?.status
      const { body, ...head } = storageResponse(name, key, status)
      return response.writeHead(head.status, { 'Content-Type': 'text/plain' }).end(body)
    }
    if (!found) return response.writeHead(404).end('{"message":"Not recorded"}')
    return write(response, found, headers.host ?? '')
  })
  return { key: EMULATOR_KEY, ...(await listen(server, { host, port })) }
}

/** Writes a recorded response, compressed if it was. A redirect leads to this server. */
function write(response: ServerResponse, { name, status, headers, body, redirected }: Recorded, host: string) {
  const isCompressed = 'content-encoding' in headers
  response.writeHead(status, {
    ...Object.fromEntries(Object.entries(headers).filter(([header]) => !OWN_HEADERS.test(header))),
    ...(isCompressed && { 'Content-Encoding': 'br' }),
    ...(redirected && { Location: storageUrl(host, name, redirected.isOtherHost) }),
  })
  return response.end(isCompressed ? brotliCompressSync(body) : body)
}
