import type { ProbeResponse, Responses } from '../service/assumptions/assumption.ts'
import { buildProbeRequest, firstFile, probeRequest, type RequestName } from '../service/assumptions/probeRequests.ts'
import type { ApiRequest, HttpResponse } from '../service/request.ts'
import type { Service } from '../service/service.ts'
import { KeyError, StoppedError, SyncError, TransientError, UnavailableError } from '../util/errors.ts'
import type { Recorded } from '../util/files/recording.ts'
import { parseJson } from '../util/json.ts'
import { formatMillis } from '../util/time/instant.ts'
import { classifyResponse } from './classify.ts'
import type { Client } from './client.ts'
import { refuseForeign, resolveLink, resolveRedirect } from './files/links.ts'
import { readBeginning } from './http.ts'

/** How `probe` calls the service. */
export interface ProbeOptions {
  readonly client: Client
  readonly service: Service
  /** The requests to send, in the order of PROBE_REQUESTS. */
  readonly names: readonly RequestName[]
  /** The responses of earlier runs, which are not requested again. */
  readonly recorded: readonly Recorded[]
  /** Called for each new response. */
  readonly onResponse: (response: Recorded) => void
}

/** The responses of a probe, and what it could not request. */
export interface ProbeResult {
  readonly responses: Partial<Responses>
  /** The number of requests that were sent, without redirects. */
  readonly requests: number
  /** Requests without a usable response, each with the reason. A later run sends them again. */
  readonly failed: readonly { readonly name: RequestName; readonly reason: string }[]
  /** The error that ended the run. */
  readonly earlyEnd: SyncError | null
}

/** Headers of a response that say nothing about the service, or that may be secret. */
const PRIVATE_HEADERS = ['set-cookie']
/** How much of a file is read. */
const FILE_BYTES = 2048

const NO_RETRY = { mayRetry: () => false } as const

/** Parses a recorded response. */
function toProbeResponse({ body, ...recorded }: Recorded): ProbeResponse {
  let parsed: unknown
  try {
    parsed = parseJson(body)
  } catch {
    parsed = undefined
  }
  return { ...recorded, body: parsed, bytes: body.length }
}

/** The query of an address within a text. */
const QUERY = /((?:https?:)?\/\/[^\s?#"'<>]*)[?#][^\s"'<>]*/gi

/**
 * The headers and the body that are recorded. The query of an address that the service redirects to may be a signature, and the body
 * of a redirect repeats the address.
 */
const withoutSignature = ({ status, headers, body }: HttpResponse): Pick<Recorded, 'headers' | 'body'> => ({
  headers: Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !PRIVATE_HEADERS.includes(name))
      .map(([name, value]) => [
        name,
        (name === 'location' ? value.replace(/[?#].*$/s, '') : value).replace(QUERY, '$1'),
      ]),
  ),
  body: status >= 300 && status < 400 ? Buffer.alloc(0) : body,
})

/** A response to record, or the error without one. */
interface Outcome {
  readonly recorded: Recorded | null
  /** The failure, also of a response that a later run requests again. */
  readonly error: SyncError | null
  readonly endsRun: boolean
}

/** Whether a later run requests the response again, because it shows only that the service was busy. */
const isTransient = ({ redirected, ...response }: Recorded): boolean =>
  (redirected !== null && redirected.status >= 500) ||
  classifyResponse(response, { route: '', url: response.url }, 0)?.error instanceof TransientError

/** Sends one request of the interface, without retries. */
async function fetchReply(client: Client, name: RequestName, request: ApiRequest): Promise<Outcome> {
  const reply = await client.get(request, NO_RETRY)
  const failed = 'error' in reply ? reply : null
  const { status, headers, body, ms, sentAt } = 'error' in reply ? reply.last : reply
  const recorded: Recorded = {
    name,
    url: `${client.baseUrl}${request.target}`,
    sent: { ...request.headers, ...client.headers(false) },
    status,
    ...withoutSignature({ status, headers, body }),
    ms: Math.round(ms),
    sentAt: formatMillis(sentAt),
    redirected: null,
  }
  return {
    recorded: status === 0 ? null : recorded,
    error: failed?.error ?? null,
    endsRun: failed?.endsRun ?? false,
  }
}

/** Requests the beginning of a file, without following redirects. Throws the error of a request without a response. */
async function requestFile(client: Client, address: URL, withKey: boolean): Promise<HttpResponse> {
  const result = await client.retry(
    () =>
      client.call({
        route: 'download',
        url: address.href,
        headers: fileHeaders(client, withKey),
        read: async (opened, { redactor }) => ({
          status: opened.status,
          headers: opened.headers,
          body: await readBeginning(opened, FILE_BYTES, redactor),
        }),
        classify: (response, summary, now) => {
          const failure = response.status < 400 ? undefined : classifyResponse(response, summary, now)
          // The key was accepted before: a refusal is about the file.
          return failure?.error instanceof KeyError ? undefined : failure
        },
      }),
    NO_RETRY,
  )
  if (!('error' in result)) return result
  if (result.response) return result.response
  throw result.error
}

const fileHeaders = (client: Client, withKey: boolean) => ({
  ...client.headers(withKey),
  'Accept-Encoding': 'identity',
})

/** Requests a file with the key, and where it redirects to without the key. */
async function fetchFile(client: Client, name: RequestName, url: string): Promise<Outcome> {
  const sentAt = Date.now()
  try {
    const links = { baseUrl: client.baseUrl, allowHosts: [] }
    const address = resolveLink(url, client.baseUrl)
    refuseForeign(address, links)
    const { status, headers, body } = await requestFile(client, address, true)
    const { location } = headers
    const next = status >= 300 && status < 400 && location ? resolveRedirect(location, address, links) : null
    const redirected = next && {
      isOtherHost: next.host !== address.host,
      status: (await requestFile(client, next, false)).status,
    }
    const recorded: Recorded = {
      name,
      url,
      sent: fileHeaders(client, false),
      status,
      ...withoutSignature({ status, headers, body }),
      ms: Date.now() - sentAt,
      sentAt: formatMillis(sentAt),
      redirected,
    }
    return { recorded, error: null, endsRun: false }
  } catch (error) {
    if (error instanceof SyncError) return { recorded: null, error, endsRun: error instanceof StoppedError }
    throw error
  }
}

/** A request before it is sent. */
interface ProbeCall {
  readonly url: string
  /** The version that it requests; undefined for a file. */
  readonly accept: string | undefined
  readonly send: () => Promise<Outcome>
}

/** Prepares a request; null for a file that no response lists. */
function prepare(
  name: RequestName,
  { client, service }: ProbeOptions,
  responses: Partial<Responses>,
): ProbeCall | null {
  const request = probeRequest(name)
  if ('listedBy' in request) {
    const link = firstFile(responses[request.listedBy]?.body)
    if (link === undefined) return null
    const url = link.startsWith('/') ? `${client.baseUrl}${link}` : link
    return { url, accept: undefined, send: () => fetchFile(client, name, url) }
  }
  const http = buildProbeRequest(service, request)
  return {
    url: `${client.baseUrl}${http.target}`,
    accept: http.headers.Accept,
    send: () => fetchReply(client, name, http),
  }
}

/** The end of a probe after one request was refused with a key that others were accepted with. */
const createRefusedItemError = (name: RequestName, { message, cause }: SyncError): StoppedError =>
  new StoppedError(`${message} It accepted the key before, so the refusal is about request ${name}.`, {
    hint: 'Run the same command again: it continues with the other requests.',
    code: 'request-refused',
    cause,
  })

/** Sends the requests of a probe whose responses are not recorded, one after the other and each once. */
export async function fetchProbe(options: ProbeOptions): Promise<ProbeResult> {
  const { names, recorded, onResponse } = options
  const responses: Partial<Record<RequestName, ProbeResponse>> = {}
  const failed: { name: RequestName; reason: string }[] = []
  let requests = 0
  const result = (earlyEnd: SyncError | null): ProbeResult => ({ responses, requests, failed, earlyEnd })
  for (const name of names) {
    const prepared = prepare(name, options, responses)
    if (!prepared) {
      failed.push({ name, reason: 'No listed archive has an address.' })
      continue
    }
    const { url, accept, send } = prepared
    const isSame = (one: Recorded): boolean => one.name === name && one.url === url && one.sent.Accept === accept
    const stored = recorded.find((one) => isSame(one) && !isTransient(one))
    if (stored) {
      responses[name] = toProbeResponse(stored)
      continue
    }
    const isKeyGood = Object.values(responses).some(({ status }) => status === 200)
    const isFirst = Object.keys(responses).length === 0
    const { recorded: response, error, endsRun } = await send()
    if (response || !endsRun) requests++
    // A refusal after a success is about this request.
    const isRefusedItem = error instanceof KeyError && isKeyGood
    if (response && (isRefusedItem || !(error instanceof KeyError))) {
      responses[name] = toProbeResponse(response)
      onResponse(response)
    }
    // If nothing responds, the service is down, and further requests would only wait.
    if (isFirst && !response && error instanceof TransientError) return result(new UnavailableError(error))
    // The client sends nothing after a refusal, but nothing may be left.
    if (error && endsRun && !(isRefusedItem && name === names.at(-1)))
      return result(isRefusedItem ? createRefusedItemError(name, error) : error)
    if (!response || isTransient(response))
      failed.push({ name, reason: error?.message ?? `It has status ${response?.status}.` })
  }
  return result(null)
}
