import { didYouMean } from '../util/didYouMean.ts'
import { InputError } from '../util/errors.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { formatOffset, localClock, offsetAt } from '../util/time/zone.ts'
import type { DateForm, ParameterKind } from './kinds.ts'
import type { AnyParams, ParamsOf } from './routes.ts'
import type { Service } from './services.ts'

/** A GET that is ready to be sent, without the key. */
export interface ApiRequest {
  readonly route: string
  /** Path and query, percent-encoded, beginning with a slash. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

/** What is requested: a route with its parameters, and the window, which is not repeated among these. */
export interface Call {
  readonly service: Service
  readonly route: string
  readonly params: AnyParams
  /** What is requested; null for listings without a range. */
  readonly window: Interval | null
}

/** A range as parameters. Our windows exclude their end, the service's include it. */
export const rangeParams = (window: Interval): AnyParams => ({ start_date: window.from, end_date: window.to - 1 })

/** The parameters of a call as they are sent and recorded: with the window as a range, unless `date` says which day it is. */
export const sentParams = ({ params, window }: Pick<Call, 'params' | 'window'>): AnyParams =>
  window === null || params.date !== undefined ? params : { ...params, ...rangeParams(window) }

/** The parameters of a call that was sent or recorded, without the range that its window says. */
export function ownParams(sent: AnyParams, window: Interval | null): AnyParams {
  if (window === null) return sent
  const { start_date: _start, end_date: _end, ...own } = sent
  return own
}

/** Writes an instant in one of the service's three forms, not yet percent-encoded. */
export function formatDate(form: DateForm, at: Instant, timeZone: string): string {
  if (form === 'utc') return formatUtc(at)
  const offset = offsetAt(timeZone, at)
  const clock = localClock(timeZone, at)
  return form === 'offset'
    ? `${clock}${formatOffset(offset)}`
    : `${clock.replace('T', ' ')} ${formatOffset(offset, '')}`
}

function refuseParameter(route: string, name: string, value: unknown, legal: string, extra = ''): never {
  throw new InputError(
    `${JSON.stringify(value)} is not a valid ${name} of route ${route}; expected ${legal}.${extra}`,
    {
      code: 'illegal-parameter',
    },
  )
}

/** The texts that a value becomes on the wire: one, or one for each element of a list. */
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

/** Builds the request of a call: path, query in the order of the route's row, and headers. Pure; throws InputError for what the row does not allow. */
export function buildRequest<R extends string>(service: Service, route: R, params: ParamsOf<R>): ApiRequest {
  const row = service.routes[route]
  if (!row) throw new InputError(`The service ${service.name} has no route ${route}.`, { code: 'unknown-route' })
  const given = params as AnyParams
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(row.slots, name) || Object.hasOwn(row.query, name)) continue
    const names = [...Object.keys(row.slots), ...Object.keys(row.query)]
    throw new InputError(
      `${JSON.stringify(name)} is not a parameter of route ${route}; expected one of: ${names.join(', ')}.${didYouMean(name, names)}`,
      { code: 'illegal-parameter' },
    )
  }
  let path = row.path
  for (const [name, kind] of Object.entries(row.slots))
    path = path.replace(
      `{${name}}`,
      encodeURIComponent(wireValues(route, name, kind, given[name], service.timeZone)[0]!),
    )
  const pairs: string[] = []
  for (const [name, kind] of Object.entries(row.query)) {
    const value = given[name]
    if (value === undefined) continue
    const key = kind.kind === 'list' ? `${name}[]` : name
    for (const text of wireValues(route, name, kind, value, service.timeZone))
      pairs.push(`${key}=${encodeURIComponent(text)}`)
  }
  return {
    route,
    target: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
    headers: {
      Accept: `application/json; application/vnd.${service.vendor}-v${row.version}+json`,
      'Content-Type': 'application/json',
    },
  }
}

/** The request of a call with its window. */
export const requestFor = (call: Call): ApiRequest => buildRequest(call.service, call.route, sentParams(call))

/** A response of any status. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body after content decoding; only the beginning if the status is not 200. */
  readonly body: Buffer
}

/** The last response to a request, after all retries. Without a response, its status is 0 and its body is empty. */
export interface LastResponse extends HttpResponse {
  /** The size of the body, also after its memory is freed. */
  readonly bytes: number
  /** How often the request was sent. */
  readonly attempts: number
  /** The time of the first attempt (epoch milliseconds). */
  readonly sentAt: number
  /** Milliseconds from the first attempt to the last byte. */
  readonly ms: number
}

/** A last response with status 200. */
export interface Reply extends LastResponse {
  readonly status: 200
}
