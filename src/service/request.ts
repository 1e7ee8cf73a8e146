import { didYouMean } from '../util/didYouMean.ts'
import { InputError } from '../util/errors.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { formatOffset, localClock, offsetAt } from '../util/time/zone.ts'
import type { DateForm, ParameterKind } from './kinds.ts'
import type { AnyParams, ParamsOf } from './routes.ts'
import type { Service } from './service.ts'

/** A GET request without the key. */
export interface ApiRequest {
  readonly route: string
  /** Path and query, percent-encoded. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

/** A route with its parameters and window. */
export interface RouteCall {
  readonly service: Service
  readonly route: string
  readonly params: AnyParams
  /** The requested window; null for listings without a range. */
  readonly window: Interval | null
}

/** A window as parameters. Our windows exclude their end, those of the service include it. */
export const rangeParams = (window: Interval): AnyParams => ({ start_date: window.from, end_date: window.to - 1 })

/** The sent and recorded parameters of a call, including its window unless there is a `date`. */
export const sentParams = ({ params, window }: Pick<RouteCall, 'params' | 'window'>): AnyParams =>
  window === null || params.date !== undefined ? params : { ...params, ...rangeParams(window) }

/** The recorded parameters of a call without its window. */
export function paramsWithoutWindow(sent: AnyParams, window: Interval | null): AnyParams {
  if (window === null) return sent
  const { start_date: _start, end_date: _end, ...rest } = sent
  return rest
}

/** Formats an instant, not yet percent-encoded. */
export function formatDate(form: DateForm, at: Instant, timeZone: string): string {
  if (form === 'utc') return formatUtc(at)
  const offset = offsetAt(timeZone, at)
  const clock = localClock(timeZone, at)
  return form === 'offset'
    ? `${clock}${formatOffset(offset)}`
    : `${clock.replace('T', ' ')} ${formatOffset(offset, '')}`
}

function refuseParameter(route: string, name: string, value: unknown, legal: string, suggestion = ''): never {
  throw new InputError(
    `${JSON.stringify(value)} is not a valid ${name} of route ${route}; expected ${legal}.${suggestion}`,
    {
      code: 'illegal-parameter',
    },
  )
}

/** The text of a value in a request, or of each element of a list. */
function wireValues(route: string, name: string, kind: ParameterKind, value: unknown, timeZone: string): string[] {
  switch (kind.kind) {
    case 'choice': {
      const word = Object.hasOwn(kind.aliases, String(value)) ? kind.aliases[String(value)] : value
      if (typeof word === 'string' && kind.values.includes(word)) return [word]
      return refuseParameter(route, name, value, kind.values.join(', '), didYouMean(String(value), kind.values))
    }
    case 'instant':
      if (Number.isSafeInteger(value)) return [formatDate(kind.form, value as Instant, timeZone)]
      return refuseParameter(route, name, value, 'an instant in whole epoch seconds')
    case 'list':
      if (Array.isArray(value) && value.every((v) => Number.isSafeInteger(v) || (typeof v === 'string' && v !== '')))
        return value.map(String)
      return refuseParameter(route, name, value, 'a list of ids or names')
    case 'flag':
      return typeof value === 'boolean' ? [String(value)] : refuseParameter(route, name, value, 'true, false')
    case 'id':
      if (Number.isSafeInteger(value) && (value as number) >= 0) return [String(value)]
      return refuseParameter(route, name, value, 'a whole number')
    case 'idOrName':
      if (
        (Number.isSafeInteger(value) && (value as number) >= 0) ||
        (typeof value === 'string' && /^[^/?#\s]+$/.test(value))
      )
        return [String(value)]
      return refuseParameter(route, name, value, 'a whole number or a name')
  }
}

/** Builds the request of a call. Throws InputError for parameters that the route does not have. */
export function buildRequest<R extends string>(service: Service, route: R, params: ParamsOf<R>): ApiRequest {
  const declared = service.routes[route]
  if (!declared) throw new InputError(`The service ${service.name} has no route ${route}.`, { code: 'unknown-route' })
  const values = params as AnyParams
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(declared.slots, name) || Object.hasOwn(declared.query, name)) continue
    const names = [...Object.keys(declared.slots), ...Object.keys(declared.query)]
    throw new InputError(
      `${JSON.stringify(name)} is not a parameter of route ${route}; expected one of: ${names.join(', ')}.${didYouMean(name, names)}`,
      { code: 'illegal-parameter' },
    )
  }
  let path = declared.path
  for (const [name, kind] of Object.entries(declared.slots))
    path = path.replace(
      `{${name}}`,
      encodeURIComponent(wireValues(route, name, kind, values[name], service.timeZone)[0]!),
    )
  const pairs: string[] = []
  for (const [name, kind] of Object.entries(declared.query)) {
    const value = values[name]
    if (value === undefined) continue
    const key = kind.kind === 'list' ? `${name}[]` : name
    for (const text of wireValues(route, name, kind, value, service.timeZone))
      pairs.push(`${key}=${encodeURIComponent(text)}`)
  }
  return {
    route,
    target: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
    headers: {
      Accept: `application/json; application/vnd.${service.vendor}-v${declared.version}+json`,
      'Content-Type': 'application/json',
    },
  }
}

/** The request of a call with its window. */
export const requestFor = (call: RouteCall): ApiRequest => buildRequest(call.service, call.route, sentParams(call))

/** A response of any status. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body after content decoding; only the beginning if the status is not 200. */
  readonly body: Buffer
}

/** The last response to a request, after all retries. Without a response, its status is 0 and its body is empty. */
export interface Reply extends HttpResponse {
  /** The size of the body, also after its memory is freed. */
  readonly bytes: number
  /** How often the request was sent. */
  readonly attempts: number
  /** The time of the first attempt (epoch milliseconds). */
  readonly sentAt: number
  /** Milliseconds from the first attempt to the last byte. */
  readonly ms: number
}
