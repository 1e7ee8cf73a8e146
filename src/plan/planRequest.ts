import { ALL_GEOS } from '../db/tables/codes.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { requestFor } from '../service/request.ts'
import type { AnyParams, Locale } from '../service/routes.ts'
import type { Planning } from './planning.ts'

type Extra = Partial<
  Pick<PlannedRequest, 'series' | 'geoIds' | 'window' | 'settledBefore' | 'lookbackS' | 'complete' | 'reason'>
>

/** Plans one request; the defaults are those of a listing without a range. */
export function planRequest(
  { service, now }: Pick<Planning, 'service' | 'now'>,
  entry: string,
  route: string,
  given: AnyParams,
  { window = null, ...extra }: Extra = {},
): PlannedRequest {
  const params: { [name: string]: AnyParams[string] } = {}
  for (const name in given) if (given[name] !== undefined) params[name] = given[name]
  return {
    entry,
    route,
    params,
    window,
    request: requestFor({ service, route, params, window }),
    locale: (params.locale as Locale | undefined) ?? service.locales[0],
    reason: 'missing',
    series: null,
    geoIds: [ALL_GEOS],
    settledBefore: now,
    lookbackS: null,
    timeZone: service.timeZone,
    service,
    complete: false,
    ...extra,
  }
}
