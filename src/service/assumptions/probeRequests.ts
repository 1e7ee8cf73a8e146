import { isObject, toList, toText } from '../../util/json.ts'
import { parseInstant } from '../../util/time/instant.ts'
import { type ApiRequest, buildRequest, rangeParams } from '../request.ts'
import type { AnyParams, RouteName } from '../routes.ts'
import type { Service } from '../service.ts'
import { WELL_KNOWN } from '../wellKnown.ts'

/** A request that tests assumptions. Its dates are fixed, so that a recording of its response fits later runs. */
interface ProbeRequest {
  readonly route: RouteName
  readonly params: AnyParams
  /** Query parameters as text, in forms that the program never sends. */
  readonly raw?: Readonly<Record<string, string>>
  /** Another version of the interface than the program requests. */
  readonly version?: number
}

/** A request for the first file that the response to another request lists. */
interface ProbeDownload {
  readonly listedBy: 'archives'
}

const { spotPrice, demand } = WELL_KNOWN
const SPOT = spotPrice.indicator
export const SPAIN = spotPrice.geo
export const PORTUGAL = 1
/** The regulated consumer price: hours, in five electric systems. */
const RETAIL = 1001
/** Scheduled wind energy, in quarter-hours since 2022-05-24. */
const WIND_ENERGY = 10010
const PENINSULA = demand.geo

/** The first local day of prices in quarter-hours, 2025-10-01, and its end. */
export const DAY = { from: parseInstant('2025-09-30T22:00:00Z'), to: parseInstant('2025-10-01T22:00:00Z') } as const
/** The second quarter-hour of that day. */
export const SECOND_QUARTER = DAY.from + 900
/** The first local day of wind energy in quarter-hours, 2022-05-24. */
export const WIND_CHANGE = parseInstant('2022-05-23T22:00:00Z')
/** The last hour of summer time in 2025 and the hour after it, both of which are called two o'clock, and the hour before. */
export const CLOCK_CHANGE = { from: parseInstant('2025-10-25T23:00:00Z'), to: parseInstant('2025-10-26T02:00:00Z') }

const locale = 'es'
const spot = { id: SPOT, locale, geo_ids: [SPAIN] }
const retail = { id: RETAIL, locale, ...rangeParams(DAY) }
const hoursAround = (at: number) => rangeParams({ from: at - 7_200, to: at + 7_200 })
const series = (params: AnyParams, raw?: ProbeRequest['raw']): ProbeRequest =>
  raw ? { route: 'indicator', params, raw } : { route: 'indicator', params }

/** The requests of `probe` in their order. With the redirect of the download they are 25 calls. */
export const PROBE_REQUESTS = {
  day: series({ ...spot, start_date: DAY.from, end_date: DAY.to }),
  sums: series({ ...spot, ...rangeParams(DAY), time_trunc: 'day' }),
  average: series({ ...spot, ...rangeParams(DAY), time_trunc: 'day', time_agg: 'average' }),
  avg: series({ ...spot, ...rangeParams(DAY), time_trunc: 'day' }, { time_agg: 'avg' }),
  instant: series({ ...spot, datetime: SECOND_QUARTER }),
  both: series({ ...spot, ...rangeParams({ from: DAY.from, to: DAY.from + 3_600 }), datetime: SECOND_QUARTER }),
  change: series({ ...spot, ...hoursAround(DAY.from) }),
  energy: series({ id: WIND_ENERGY, locale, geo_ids: [PENINSULA], ...hoursAround(WIND_CHANGE) }),
  zoned: series(
    { id: SPOT, locale, geo_ids: [SPAIN, PORTUGAL] },
    { start_date: '2025-10-26T01:00:00+02:00', end_date: '2025-10-26T02:59:59+01:00' },
  ),
  naive: series(
    { id: demand.indicator, locale, geo_ids: [PENINSULA] },
    { start_date: '2025-10-01', end_date: '2025-10-01T00:55:00' },
  ),
  retail: series(retail),
  grouped: series({ ...retail, locale: 'en', geo_agg: 'sum' }),
  country: series({ ...retail, geo_agg: 'sum', geo_trunc: 'country' }),
  nowhere: series({ ...spot, geo_ids: [999_999], ...rangeParams({ from: DAY.from, to: DAY.from + 3_600 }) }),
  catalogue: { route: 'indicators', params: { locale } },
  news: { route: 'news', params: { language: 'es', locale, order: 'published' } },
  sticky: { route: 'documentations', params: { language: 'es', locale, sticky: true } },
  archives: { route: 'archives', params: { locale, ...rangeParams(DAY), date_type: 'datos' } },
  published: { route: 'archives', params: { locale, ...rangeParams(DAY), date_type: 'publicacion' } },
  jsonArchives: { route: 'archives_json', params: { locale, ...rangeParams(DAY) } },
  widget: { route: 'widget', params: { id: 1, locale } },
  namedWidget: { route: 'widget', params: { id: 'potencia', locale }, version: 1 },
  download: { listedBy: 'archives' },
  // The last one: a service that refuses it like a wrong key ends the run.
  missing: series({ id: 999_999_999, locale, ...rangeParams({ from: DAY.from, to: DAY.from + 3_600 }) }),
} as const satisfies Record<string, ProbeRequest | ProbeDownload>

/** The name of a request, and of the file of its response. */
export type RequestName = keyof typeof PROBE_REQUESTS
export const REQUEST_NAMES = Object.keys(PROBE_REQUESTS) as RequestName[]

/** The request by its name without literal types. */
export const probeRequest = (name: RequestName): ProbeRequest | ProbeDownload => PROBE_REQUESTS[name]

/** Builds a request as the program does, then adds its raw parameters and replaces its version. */
export function buildProbeRequest(service: Service, { route, params, raw = {}, version }: ProbeRequest): ApiRequest {
  const built = buildRequest<string>(service, route, params)
  const { Accept: accept = '' } = built.headers
  const pairs = Object.entries(raw).map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
  const accepted = version === undefined ? accept : accept.replace(/-v\d+\+/, `-v${version}+`)
  return {
    ...built,
    target: [built.target, ...pairs].join('&'),
    headers: { ...built.headers, Accept: accepted },
  }
}

/** The address of the first daily file in a list of archives, otherwise of any file; undefined if it has none. */
export function firstFile(body: unknown): string | undefined {
  const files = toList(isObject(body) ? body.archives : undefined).flatMap((archive) => {
    const { download, horizon } = isObject(archive) ? archive : {}
    const url = toText(isObject(download) ? download.url : undefined)
    return url === null ? [] : [{ url, isDaily: horizon === 'D' }]
  })
  return (files.find(({ isDaily }) => isDaily) ?? files[0])?.url
}
