import { createMissingParts, type MissingPart, NO_FAILURE, type Recorded } from '../db/queries/fetchOutcomes.ts'
import type { IdentityRow } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, type FailureOutcome } from '../db/tables/codes.ts'
import { seriesParams } from '../job/entryRoutes.ts'
import {
  type FailedRequest,
  type SeriesIdentity,
  storedCall,
  storedIdentity,
  storedWindow,
} from '../job/plannedRequest.ts'
import type { AnyParams } from '../service/routes.ts'
import { parseNumbers } from '../util/json.ts'

/** Every request that failed, with its job, and its series where it requested one. */
const readFailed = ({ kysely }: Reader) =>
  kysely
    .selectFrom('_fetch as f')
    .leftJoin('series as s', 's.id', 'f.series_id')
    .leftJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.outcome', 'not in', NO_FAILURE)
    .orderBy('f.id')
    .selectAll('s')
    .select(['r.job', 'f.run_id as runId'])
    .select(['f.id as fetchId', 'f.entry', 'f.route', 'f.target', 'f.params', 'f.geo_ids as requested', 'f.from_at'])
    .select(['f.to_at', 'f.outcome', 'f.complete', 'f.finished_at as failed_at', 'f.message', 'f.hint', 'f.code'])
    .$narrowType<{ outcome: FailureOutcome }>()
    .execute()

type FailedRow = Awaited<ReturnType<typeof readFailed>>[number]

/** A request that failed and has not been answered since. */
export type Failure = FailedRow & { readonly left: readonly MissingPart[] }

const recorded = (row: FailedRow): Recorded => ({
  fetchId: row.fetchId,
  target: row.target,
  seriesId: row.id,
  window: storedWindow(row),
  geoIds: parseNumbers(row.requested),
})

/** Every request that failed and has not been answered in full since, each once, in order. */
export async function failures(db: Reader): Promise<Failure[]> {
  const last = new Map((await readFailed(db)).map((row) => [row.target, row]))
  const leftOf = createMissingParts(db.kysely, false)
  const found: Failure[] = []
  for (const row of [...last.values()].sort((a, b) => a.fetchId - b.fetchId)) {
    const left = await leftOf(recorded(row))
    if (left.length > 0) found.push({ ...row, left })
  }
  return found
}

/** Unverified windows, as requests of their own. */
async function unverifiedWindows({ kysely }: Reader): Promise<FailedRequest[]> {
  const rows = await kysely
    .selectFrom('_coverage as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .where('c.state', '=', 'unverified')
    .orderBy('s.id')
    .orderBy('c.geo_id')
    .orderBy('c.from_at')
    .selectAll('s')
    .select(['c.geo_id as geoId', 'c.from_at as from', 'c.to_at as to'])
    .select((of) =>
      of
        .selectFrom('_fetch as f')
        .select('f.entry')
        .whereRef('f.series_id', '=', 's.id')
        .orderBy('f.id', 'desc')
        .limit(1)
        .as('entry'),
    )
    .execute()
  return rows.map((row) => {
    const series = storedIdentity(row)
    const geoIds = series.geoIds ?? (row.geoId === ALL_GEOS ? [] : [row.geoId])
    const given: AnyParams = { id: series.indicatorId, ...seriesParams(series, geoIds) }
    return {
      entry: row.entry ?? 'series',
      route: series.kind,
      params: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      series,
      geoIds: row.geoId === ALL_GEOS ? null : [row.geoId],
      window: { from: row.from, to: row.to },
      lookbackS: row.lookback_s,
      complete: false,
    }
  })
}

/** The unanswered parts of a failed request, as requests of their own; geos with the same parts together. */
function missingRequests(failure: Failure): FailedRequest[] {
  const { route, params, window } = storedCall(failure)
  const { geoIds } = recorded(failure)
  const series: SeriesIdentity | null = failure.id === null ? null : storedIdentity(failure as IdentityRow)
  const isDated = window !== null || params.start_date !== undefined || params.datetime !== undefined
  const request = {
    entry: failure.entry,
    route,
    series,
    lookbackS: failure.lookback_s,
    complete: failure.complete === 1 && !isDated,
  }
  if (!series || !window) return [{ ...request, params, geoIds, window }]
  const groups = new Map<string, { geoIds: number[]; intervals: MissingPart['intervals'] }>()
  for (const { geoId, intervals } of failure.left) {
    const key = JSON.stringify(intervals)
    groups.set(key, { geoIds: [...(groups.get(key)?.geoIds ?? []), geoId], intervals })
  }
  return [...groups.values()].flatMap((group) =>
    group.intervals.map((interval) => ({
      ...request,
      params: { ...params, ...(series.geoAgg === null && geoIds ? { geo_ids: group.geoIds } : {}) },
      geoIds: geoIds === null ? null : group.geoIds,
      window: interval,
    })),
  )
}

/**
 * Everything that is still unanswered or unverified, to be requested again as before. Requests for all geos come first, so that
 * requests for single geos in the same windows can be left out.
 */
export async function failedRequests(db: Reader): Promise<FailedRequest[]> {
  const all = [...(await failures(db)).flatMap(missingRequests), ...(await unverifiedWindows(db))]
  const isWhole = ({ series, window, geoIds }: FailedRequest): boolean =>
    series !== null && window !== null && geoIds === null
  return [...all.filter(isWhole), ...all.filter((request) => !isWhole(request))]
}
