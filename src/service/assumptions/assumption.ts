import { isObject, toInteger, toList } from '../../util/json.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import { routeOf } from '../routes.ts'
import { probeRequest, type RequestName } from './probeRequests.ts'

/** A response of the service to one request of `probe`. */
export interface ProbeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown
  /** The size of the body after decompression. */
  readonly bytes: number
  /** Milliseconds from the call to the last byte. */
  readonly ms: number
  /** The response to the same request without the key where a download redirects to; null without a redirect. */
  readonly redirected: { readonly isOtherHost: boolean; readonly status: number } | null
}

export type Responses = Readonly<Record<RequestName, ProbeResponse>>

/** Whether an assumption holds, with what the responses show. `unknown`: they do not show it. */
export interface Verdict {
  readonly verdict: 'holds' | 'deviates' | 'unknown'
  readonly seen: string
}

/** What the program assumes about the service, and how the responses show whether it is right. */
export interface Assumption {
  readonly id: string
  /** The expected behaviour, in one sentence. */
  readonly expected: string
  /** Known from recorded responses or official pages, claimed by other clients, inferred from these, or guessed. */
  readonly certainty: 'known' | 'claimed' | 'inferred' | 'guessed'
  readonly source: string
  /** The requests whose responses show it. Several assumptions share one. */
  readonly requests: readonly RequestName[]
  /** Whether rows would be wrong or missing, or runs would end early, if it does not hold. */
  readonly matters: boolean
  /** What the program does if it does not hold. */
  readonly consequence: string
  /** Whether the status of the response is part of the assumption. */
  readonly isAboutStatus?: boolean
  /** Its responses are complete and have the expected root, unless it is about the status. */
  readonly judge: (responses: Responses) => Verdict
}

export const verdict = (isRight: boolean, seen: string): Verdict => ({ verdict: isRight ? 'holds' : 'deviates', seen })
export const unknown = (seen: string): Verdict => ({ verdict: 'unknown', seen })

/** A value of a series, as far as it can be read. */
interface ProbeValue {
  /** NaN if `datetime` cannot be read. */
  readonly at: Instant
  /** The instant of `tz_time`; NaN if it cannot be read. */
  readonly utc: Instant
  readonly value: unknown
  readonly geo: number | null
  /** The list of an aggregated value; null without one. */
  readonly geoIds: readonly unknown[] | null
}

interface ProbedIndicator {
  readonly id: unknown
  readonly name: unknown
  /** The id of its resolution. */
  readonly step: number | null
  readonly magnitude: number | null
  /** The ids of the list `geos`. */
  readonly geos: readonly (number | null)[]
  readonly updated: unknown
  readonly values: readonly ProbeValue[]
}

/** The fields of a JSON object; none of any other value. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})
const instantOf = (text: unknown): Instant => (typeof text === 'string' ? parseInstant(text) : Number.NaN)
const firstId = (list: unknown): number | null => toInteger(fieldsOf(toList(list)[0]).id)

/** The items of a list in a response, as far as they are objects. */
export const itemsIn = ({ body }: ProbeResponse, root: string): Readonly<Record<string, unknown>>[] =>
  toList(fieldsOf(body)[root]).map(fieldsOf)

export function seriesIn({ body }: ProbeResponse): ProbedIndicator {
  const indicator = fieldsOf(fieldsOf(body).indicator)
  const { id, name, tiempo, magnitud, geos, values, values_updated_at: updated } = indicator
  return {
    id,
    name,
    step: firstId(tiempo),
    magnitude: firstId(magnitud),
    geos: toList(geos).map((geo) => toInteger(fieldsOf(geo).geo_id)),
    updated,
    values: toList(values)
      .map(fieldsOf)
      .map(({ datetime, tz_time, value, geo_id, geo_ids }) => ({
        at: instantOf(datetime),
        utc: instantOf(tz_time),
        value,
        geo: toInteger(geo_id),
        geoIds: Array.isArray(geo_ids) ? geo_ids : null,
      })),
  }
}

/** Requests whose series may be empty. */
const MAY_BE_EMPTY: readonly RequestName[] = ['nowhere', 'missing']

/** Why a response shows nothing about an assumption; null if it does. */
function faultOf(name: RequestName, response: ProbeResponse): Verdict | null {
  const request = probeRequest(name)
  if ('listedBy' in request) return null
  const { status, body } = response
  const { root, shape } = routeOf(request.route)
  if (status === 429 || status === 408 || status >= 500) return unknown(`request ${name}: status ${status}`)
  if (body === undefined) return unknown(`request ${name}: status ${status}, the body is not JSON`)
  if (status !== 200) return verdict(false, `request ${name}: status ${status}`)
  if (!(root in fieldsOf(body))) return verdict(false, `request ${name}: the response has no ${root}`)
  if (shape === 'series' && !MAY_BE_EMPTY.includes(name) && seriesIn(response).values.length === 0)
    return unknown(`request ${name}: the response has no values`)
  return null
}

/** The most characters of what was seen: the service may send any text. */
const MAX_SEEN = 300

/** Judges an assumption by the responses that exist. */
export function judgeAssumption(
  { requests, isAboutStatus = false, judge }: Assumption,
  responses: Partial<Responses>,
): Verdict {
  for (const name of requests) {
    const response = responses[name]
    if (!response) return unknown(`request ${name}: no response`)
    const fault = isAboutStatus ? null : faultOf(name, response)
    if (fault) return fault
  }
  const { verdict, seen } = judge(responses as Responses)
  return { verdict, seen: seen.length > MAX_SEEN ? `${seen.slice(0, MAX_SEEN)}…` : seen }
}
