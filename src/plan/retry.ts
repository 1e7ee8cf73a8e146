import { buildRequest } from '../api/request.ts'
import type { Locale, Params, RouteName } from '../api/routes.ts'
import type { Service } from '../api/services.ts'
import { ALL_GEOS, type Ask, type FailedRequest } from '../job/ask.ts'
import { DEFAULTS } from '../job/mean.ts'
import { parseSpan } from '../job/moment.ts'
import { settledBefore } from './held.ts'
import { borderUnit } from './windows.ts'

/** Asks the same requests again. Their windows are absolute, so they mean the same however much later it is. */
export function* planRetry(
  { service, now }: { service: Service; now: number },
  failed: readonly FailedRequest[],
): Generator<Ask> {
  for (const { where, route, params, series, geoIds, window, timeZone } of failed)
    yield {
      where,
      route,
      params,
      request: buildRequest(service, route, params as Params<RouteName>),
      locale: (params.locale as Locale | undefined) ?? 'es',
      reason: 'retry',
      series,
      geoIds: geoIds ?? (window || !series ? [ALL_GEOS] : []),
      window,
      settledBefore: settledBefore(
        timeZone,
        Math.floor(now / 1000),
        parseSpan(DEFAULTS.lookback)!,
        borderUnit(series?.timeTrunc ?? null),
      ),
      timeZone,
      complete: false,
    }
}
