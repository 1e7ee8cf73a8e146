import { type Client, createClient } from '../fetch/client.ts'
import { describeSkew, findSkew } from '../fetch/clockSkew.ts'
import { createPacer } from '../fetch/pacer.ts'
import { type ApiRequest, buildRequest, type HttpResponse } from '../service/request.ts'
import type { Service } from '../service/service.ts'
import { KeyError, SyncError } from '../util/errors.ts'
import { type CommandSettings, requireService } from './settings/config.ts'

/** A diagnosis of `doctor`, as its JSON has it. */
export interface Diagnosis {
  readonly what: string
  readonly good: boolean
  readonly says: string
  /** True for a warning: it works, but should be checked. */
  readonly warns?: true
}

export const pass = (what: string, says: string): Diagnosis => ({ what, good: true, says })
export const warn = (what: string, says: string): Diagnosis => ({ what, good: true, says, warns: true })
export const fail = (what: string, says: string): Diagnosis => ({ what, good: false, says })

/** The timeout of the test call is short, because a person waits. */
const TIMEOUT_MS = 20_000

/** Compares the clock of a response with that of this machine; empty if the response has no date. */
function diagnoseClock({ headers }: HttpResponse): Diagnosis[] {
  const skewS = findSkew(headers)
  if (skewS === null) return []
  const difference = describeSkew(skewS)
  return [
    difference === null
      ? pass('clock online', "matches the service's clock")
      : fail('clock online', `${difference}: correct the clock of this machine`),
  ]
}

const diagnoseError = (error: SyncError): Diagnosis =>
  fail(error instanceof KeyError ? 'key online' : 'online', [error.message, error.hint].filter(Boolean).join(' '))

/** The request that shows whether a service can be reached; null if it declares none. */
function buildProbe(service: Service): ApiRequest | null {
  if (service.probe === null) return null
  const slots = Object.entries(service.routes[service.probe]!.slots)
  const params = slots.map(([name, kind]) => [name, kind.kind === 'choice' ? kind.values[0] : undefined])
  return buildRequest(service, service.probe, { ...Object.fromEntries(params), locale: service.locales[0] })
}

/** Checks with one call whether the service accepts the key. Throws KeyError, or another error that ends the run. */
export async function requireGoodKey(client: Client, service: Service): Promise<void> {
  const request = buildProbe(service)
  const reply = request && (await client.get(request, { mayRetry: () => false }))
  if (reply && 'error' in reply && reply.endsRun) throw reply.error
}

/** Calls the service once, without retries, to check the connection, the key and the clock. */
export async function diagnoseService(settings: CommandSettings): Promise<Diagnosis[]> {
  try {
    const access = requireService(settings)
    const { service } = access
    const request = buildProbe(service)
    if (request === null) return [pass('online', `not called: ${service.name} declares no route for a test call`)]
    const limits = { timeoutMs: TIMEOUT_MS, totalMs: TIMEOUT_MS }
    const client = createClient(
      { ...access, limits },
      {
        pacer: createPacer({ perSecond: 1 }),
        concurrency: 1,
        signal: new AbortController().signal,
      },
    )
    const reply = await client.get(request, { mayRetry: () => false }).finally(client.close)
    if ('error' in reply) return [diagnoseError(reply.error), ...diagnoseClock(reply.last)]
    const isJson = /^\s*[[{]/.test(reply.body.toString('latin1', 0, 64))
    return [
      isJson
        ? pass('online', `responds in ${Math.round(reply.ms)} ms and accepts the key`)
        : fail('online', 'the response is not JSON; check the base URL'),
      ...diagnoseClock(reply),
    ]
  } catch (error) {
    if (!(error instanceof SyncError)) throw error
    return [diagnoseError(error)]
  }
}
