import {
  createPartFinder,
  isUserRange,
  type MissingPart,
  NO_FAILURE,
  type RequestRecord,
} from '../db/queries/fetchOutcomes.ts'
import type { IdentityRow } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, type FailureOutcome } from '../db/tables/codes.ts'
import { seriesParams } from '../job/entryRoutes.ts'
import { fromIdentityRow, type RetryRequest, toRouteCall, toWindow } from '../job/plannedRequest.ts'
import type { AnyParams } from '../service/routes.ts'
import { parseNumbers } from '../util/json.ts'
import { memoize } from '../util/memoize.ts'
import { type Interval, intersect } from '../util/time/interval.ts'

/** Reads every request that failed, with its job, and its series if it has one. */
const readFailed = ({ kysely }: Reader) =>
  kysely
    .selectFrom('_fetch as f')
    .leftJoin('series as s', 's.id', 'f.series_id')
    .leftJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.outcome', 'not in', NO_FAILURE)
    .orderBy('f.id')
    .selectAll('s')
    .select([
      'r.job',
      'r.job_id as jobId',
      'f.run_id as runId',
      'r.command',
      'f.reason',
      'f.id as fetchId',
      'f.entry',
      'f.route',
      'f.target',
      'f.params',
      'f.geo_ids as requested',
      'f.from_at',
      'f.to_at',
      'f.outcome',
      'f.complete',
      'f.finished_at as failed_at',
      'f.message',
      'f.hint',
      'f.code',
    ])
    .$narrowType<{ outcome: FailureOutcome }>()
    .execute()

type FailedRow = Awaited<ReturnType<typeof readFailed>>[number]

/** A request that failed and has not fully succeeded since, with the parts that are left. */
export interface OpenFailureRow extends FailedRow {
  readonly left: readonly MissingPart[]
  /** When it failed for the first time since its range, or a part of it, was last fetched. */
  readonly firstFailedAt: string
}

const toRecorded = (row: FailedRow): RequestRecord => ({
  fetchId: row.fetchId,
  target: row.target,
  seriesId: row.id,
  window: toWindow(row),
  geoIds: parseNumbers(row.requested),
})

/** Reads the jobs' selections, and returns whether any job selects a geo of a series, in any range. */
async function readSelected({ kysely }: Reader): Promise<(seriesId: number, geoId: number) => boolean> {
  const rows = await kysely.selectFrom('_duty').select(['series_id', 'geo_ids']).distinct().execute()
  const selected = new Set(
    rows.flatMap(({ series_id, geo_ids }) =>
      (parseNumbers(geo_ids || null) ?? [ALL_GEOS]).map((geo) => `${series_id} ${geo}`),
    ),
  )
  return (seriesId, geoId) => [ALL_GEOS, geoId].some((geo) => selected.has(`${seriesId} ${geo}`))
}

/** The ranges of a series that a job requires and that are not complete, for a geo or for all. */
type OpenRanges = (seriesId: number, geoId: number) => Promise<readonly Interval[]>

function createOpenRanges({ kysely }: Reader): OpenRanges {
  const read = memoize((seriesId: number) =>
    kysely
      .selectFrom('_span')
      .select(['geo_id', 'from_at as from', 'to_at as to'])
      .where('series_id', '=', seriesId)
      .where('job_id', 'is not', null)
      .where((span) => span.or([span('reason', '<>', 'stored'), span('state', '<>', 'complete')]))
      .execute(),
  )
  return async (seriesId, geoId) =>
    (await read(seriesId))
      .filter(({ geo_id }) => geoId === ALL_GEOS || geo_id === ALL_GEOS || geo_id === geoId)
      .map(({ from, to }) => ({ from, to: to ?? Number.POSITIVE_INFINITY }))
}

/**
 * Reads every request that failed and has not fully succeeded since, each once, in order. A request of a job is left out as far as no
 * job requires its range any more, or only with a shorter lookback; a range of the user, as far as no job selects the series.
 */
export async function findOpenFailures(db: Reader): Promise<OpenFailureRow[]> {
  const byTarget = Map.groupBy(await readFailed(db), ({ target }) => target)
  const findLeft = createPartFinder(db.kysely, false)
  const isSelected = await readSelected(db)
  const openRanges = createOpenRanges(db)
  const cutToOpen = async (seriesId: number, parts: readonly MissingPart[]): Promise<MissingPart[]> => {
    const open: MissingPart[] = []
    for (const { geoId, intervals } of parts) {
      const left = intersect(intervals, await openRanges(seriesId, geoId))
      if (left.length > 0) open.push({ geoId, intervals: left })
    }
    return open
  }
  /** Finds the first failure in a row: what was fetched since an earlier one leaves nothing of it. */
  const findFirst = async (rows: readonly FailedRow[]): Promise<FailedRow> => {
    for (const row of rows) if ((await findLeft(toRecorded(row))).length > 0) return row
    return rows.at(-1)!
  }
  const failures: OpenFailureRow[] = []
  const lasts = [...byTarget.values()].map((rows) => rows.at(-1)!)
  for (const row of lasts.sort((a, b) => a.fetchId - b.fetchId)) {
    const missing = await findLeft(toRecorded(row))
    const { id, from_at } = row
    const findRequired = async () => {
      if (id === null || from_at === null) return missing
      if (isUserRange(row)) return missing.filter(({ geoId }) => isSelected(id, geoId))
      return cutToOpen(id, missing)
    }
    const left = await findRequired()
    if (left.length === 0) continue
    const { failed_at } = await findFirst(byTarget.get(row.target)!)
    failures.push({ ...row, left, firstFailedAt: failed_at })
  }
  return failures
}

/** Reads unverified windows as requests of their own. */
async function readUnverified({ kysely }: Reader): Promise<RetryRequest[]> {
  const rows = await kysely
    .selectFrom('_coverage as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .where('c.state', '=', 'unverified')
    .orderBy('s.id')
    .orderBy('c.geo_id')
    .orderBy('c.from_at')
    .selectAll('s')
    .select((eb) => [
      'c.geo_id as geoId',
      'c.from_at as from',
      'c.to_at as to',
      eb
        .selectFrom('_fetch as f')
        .select('f.entry')
        .whereRef('f.series_id', '=', 's.id')
        .orderBy('f.id', 'desc')
        .limit(1)
        .as('entry'),
    ])
    .execute()
  return rows.map((row) => {
    const series = fromIdentityRow(row)
    const geoIds = row.geoId === ALL_GEOS ? null : [row.geoId]
    const params: AnyParams = { id: series.indicatorId, ...seriesParams(series, series.geoIds ?? geoIds ?? []) }
    return {
      entryPath: row.entry ?? 'series',
      route: series.kind,
      params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)),
      series,
      geoIds,
      window: { from: row.from, to: row.to },
      lookbackS: row.lookback_s,
      isUnfiltered: false,
    }
  })
}

/** Splits a failed request into requests for the parts that are left; geos with the same parts stay together. */
function splitFailure(failure: OpenFailureRow): RetryRequest[] {
  const { route, params, window } = toRouteCall(failure)
  const { geoIds } = toRecorded(failure)
  const series = failure.id === null ? null : fromIdentityRow(failure as IdentityRow)
  const isDated = window !== null || params.start_date !== undefined || params.datetime !== undefined
  const request = {
    entryPath: failure.entry,
    route,
    series,
    lookbackS: failure.lookback_s,
    isUnfiltered: failure.complete === 1 && !isDated,
  }
  if (!series || !window) return [{ ...request, params, geoIds, window }]
  return [...Map.groupBy(failure.left, ({ intervals }) => JSON.stringify(intervals)).values()].flatMap((group) => {
    const geos = group.map(({ geoId }) => geoId)
    return group[0]!.intervals.map((interval) => ({
      ...request,
      params: { ...params, ...(series.geoAgg === null && geoIds ? { geo_ids: geos } : {}) },
      geoIds: geoIds === null ? null : geos,
      window: interval,
    }))
  })
}

/**
 * Reads all requests that failed or left windows unverified, to send them again. Requests for all geos come first, so that requests
 * for single geos in the same windows can be left out.
 */
export async function readRetryRequests(db: Reader): Promise<RetryRequest[]> {
  const requests = [...(await findOpenFailures(db)).flatMap(splitFailure), ...(await readUnverified(db))]
  const isWhole = ({ series, window, geoIds }: RetryRequest): boolean =>
    series !== null && window !== null && geoIds === null
  return [...requests.filter(isWhole), ...requests.filter((request) => !isWhole(request))]
}
