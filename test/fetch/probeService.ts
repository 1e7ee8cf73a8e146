import type { IncomingMessage } from 'node:http'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Emulator } from '../../src/emulator/startEmulator.ts'
import {
  buildProbeRequest,
  probeRequest,
  REQUEST_NAMES,
  type RequestName,
} from '../../src/service/assumptions/probeRequests.ts'
import { SERVICES } from '../../src/service/services.ts'
import { serve } from '../support/kit.ts'

/** A response of the emulator that a test may change. */
export interface Changeable {
  status: number
  readonly headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests change any field.
  body: any
}

/** How the responses to one request differ from those of the emulator. */
export interface Deviation {
  readonly request: RequestName
  /** Rewrites the path and the query. */
  readonly target?: (target: string) => string
  readonly change?: (response: Changeable) => void
}

const TARGETS = REQUEST_NAMES.flatMap((name) => {
  const request = probeRequest(name)
  if ('listedBy' in request) return []
  const { target, headers } = buildProbeRequest(SERVICES.generic, request)
  return [{ name, key: `${target} ${headers.Accept}` }]
})

/** Returns the name of the request that arrived. */
function nameOf({ url, headers }: IncomingMessage): RequestName {
  if (/\/download/.test(url!)) return 'download'
  return TARGETS.find(({ key }) => key === `${url} ${headers.accept}`)!.name
}

/** The highest quality takes most of the time of a test. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

/** The responses of an emulator by their target, which are the same for each deviation. */
const known = new Map<string, Promise<Changeable>>()

async function request(url: string, headers: Record<string, string>): Promise<Changeable> {
  const response = await fetch(url, { headers, redirect: 'manual' })
  const text = await response.text()
  const { location } = Object.fromEntries(response.headers)
  return { status: response.status, headers: location ? { location } : {}, body: text === '' ? null : JSON.parse(text) }
}

/** Starts a service that forwards requests to an emulator and changes some of the responses. */
export async function deviatingService(emulator: Emulator, deviations: readonly Deviation[]) {
  const names: RequestName[] = []
  const server = await serve(async (incoming, outgoing) => {
    const name = nameOf(incoming)
    names.push(name)
    const deviation = deviations.find(({ request }) => request === name)
    const url = `${emulator.url}${deviation?.target?.(incoming.url!) ?? incoming.url}`
    const accept = incoming.headers.accept ?? 'application/json'
    const forwarded = known.get(url + accept) ?? request(url, { accept, 'x-api-key': emulator.key })
    known.set(url + accept, forwarded)
    const response = structuredClone(await forwarded)
    response.headers['content-encoding'] = 'br'
    deviation?.change?.(response)
    const { status, headers, body } = response
    const text = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    outgoing.writeHead(status, headers).end('content-encoding' in headers ? brotliCompressSync(text, QUICKLY) : text)
  })
  return { ...server, names }
}
