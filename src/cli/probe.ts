import { classifyResponse } from '../fetch/classify.ts'
import { AttemptError, openClient } from '../fetch/client.ts'
import { type HttpResponse, readResponse, send } from '../fetch/http.ts'
import { createPacer } from '../fetch/pacer.ts'
import { refuseExposed } from '../service/key.ts'
import { buildRequest } from '../service/request.ts'
import { KeyError, SyncError } from '../util/errors.ts'
import { version } from '../util/package.ts'
import { requireService, type Settings } from './settings/config.ts'

/** One finding of `doctor`. */
export interface Diagnosis {
  readonly what: string
  readonly good: boolean
  readonly says: string
  /** Whether it is only a warning: it works, but should be checked. */
  readonly warns?: true
}

export const good = (what: string, says: string): Diagnosis => ({ what, good: true, says })
export const warn = (what: string, says: string): Diagnosis => ({ what, good: true, says, warns: true })
export const bad = (what: string, says: string): Diagnosis => ({ what, good: false, says })

/** A clock that is off by more than this puts histories out of order. */
const MAX_SKEW_S = 60
/** A person waits for the response. */
const PROBE_TIMEOUT_MS = 20_000

/** Compares the clock of the response with that of this machine; nothing where the response has none. */
function clockDiagnosis(response: HttpResponse | null): Diagnosis[] {
  const serverMs = Date.parse(response?.headers.date ?? '')
  if (Number.isNaN(serverMs)) return []
  const skewS = Math.round((Date.now() - serverMs) / 1000)
  if (Math.abs(skewS) <= MAX_SKEW_S) return [good('clock online', "matches the service's clock")]
  const how = skewS > 0 ? 'ahead of' : 'behind'
  return [bad('clock online', `${Math.abs(skewS)} s ${how} the service's clock: correct this machine's clock`)]
}

const failedDiagnosis = (error: SyncError): Diagnosis =>
  bad(error instanceof KeyError ? 'key online' : 'online', [error.message, error.hint].filter(Boolean).join(' '))

/** One cheap call to the service, without retries: checks that it is reachable, who responses, the key and the clock. */
export async function probe(settings: Settings): Promise<Diagnosis[]> {
  const abort = new AbortController()
  let client: ReturnType<typeof openClient> | undefined
  let came: HttpResponse | null = null
  try {
    const reached = requireService(settings)
    refuseExposed(reached)
    const limits = { timeoutMs: PROBE_TIMEOUT_MS, totalMs: PROBE_TIMEOUT_MS }
    const opened = openClient({
      ...reached,
      limits,
      pacer: createPacer({ perSecond: 1 }),
      concurrency: 1,
      version: version(),
      signal: abort.signal,
    })
    client = opened
    const { service } = reached
    if (service.probe === null) return [good('online', `not called: ${service.name} declares no route for a test call`)]
    const slots = Object.entries(service.routes[service.probe]!.slots)
    const words = slots.map(([name, kind]) => [name, kind.kind === 'choice' ? kind.values[0] : undefined])
    const request = buildRequest(service, service.probe, { ...Object.fromEntries(words), locale: service.locales[0] })
    const url = `${opened.baseUrl}${request.target}`
    const headers = { ...request.headers, ...opened.headers(true) }
    const began = performance.now()
    const response = await opened.call(
      { route: request.route, url },
      async (sending) => {
        came = await send({ ...sending, url, headers }, readResponse)
        return came
      },
      classifyResponse,
    )
    const ms = Math.round(performance.now() - began)
    const isJson = /^\s*[[{]/.test(response.body.toString('latin1', 0, 64))
    return [
      (isJson ? good : bad)(
        'online',
        isJson ? `responds in ${ms} ms and accepts the key` : 'the response is not JSON; check the base URL',
      ),
      ...clockDiagnosis(response),
    ]
  } catch (error) {
    const failure = error instanceof AttemptError ? error.failure.error : error
    if (!(failure instanceof SyncError)) throw error
    return [failedDiagnosis(failure), ...clockDiagnosis(came)]
  } finally {
    await client?.close()
  }
}
