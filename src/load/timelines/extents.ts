import type { Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import type { CadenceKind } from '../../db/tables/series.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Extent } from '../../judge/missing.ts'
import type { Instant } from '../../util/time/instant.ts'

/** A timeline of a series, as `series_geo` has it. */
export interface StoredTimeline {
  readonly geoId: number
  /** The first and the last instant with a value; null if it has none. */
  readonly extent: Extent | null
  readonly step: number | null
  readonly kind: CadenceKind | null
}

const selectTimelines = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('series_geo')
    .select(['geo_id', 'first_at', 'last_at', 'step_s', 'kind'])
    .where('series_id', '=', seriesId)
    .orderBy('geo_id'),
)

/** Reads the timelines of a series. */
export const readTimelines = async (tx: Transaction<Database>, seriesId: number): Promise<StoredTimeline[]> =>
  (await selectTimelines.all(tx, { seriesId })).map(({ geo_id, first_at, last_at, step_s, kind }) => ({
    geoId: geo_id,
    extent: first_at === null || last_at === null ? null : { first: first_at, last: last_at },
    step: step_s,
    kind,
  }))

const selectEnd = (order: 'asc' | 'desc') =>
  prepareQuery((db, { seriesId, geoId }: { seriesId: number; geoId: number }) =>
    db
      .selectFrom('observation')
      .select(['at', 'step_s'])
      .where('series_id', '=', seriesId)
      .where('geo_id', '=', geoId)
      .where('value', 'is not', null)
      .orderBy('at', order)
      .limit(1),
  )
const selectFirst = selectEnd('asc')
const selectLast = selectEnd('desc')

/** Reads the first and the last instant with a value, and the step of the last one; null without values. */
export async function readExtent(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
): Promise<(Extent & { readonly step: number }) | null> {
  const first = await selectFirst.first(tx, { seriesId, geoId })
  const last = await selectLast.first(tx, { seriesId, geoId })
  return first && last ? { first: first.at, last: last.at, step: last.step_s } : null
}

/** The first and the last index of a value other than null in a range; null without any. */
function findEnds({ values }: Observations, first: number, end: number): readonly [number, number] | null {
  let begin = first
  while (begin < end && values[begin] === null) begin++
  if (begin === end) return null
  let last = end - 1
  while (values[last] === null) last--
  return [begin, last]
}

/**
 * The extents of the timelines of a series after a reply. Reads values only if the reply may have removed the first or the last one. A
 * first value that was final stays the begin of its timeline if the service takes it back: what it took back is missing.
 */
export async function findExtents(
  tx: Transaction<Database>,
  seriesId: number,
  before: readonly StoredTimeline[],
  observations: Observations,
  { window, settledBefore }: Pick<PlannedRequest, 'window' | 'settledBefore'>,
): Promise<Map<number, Extent | null>> {
  const extents = new Map<number, Extent | null>(before.map(({ geoId, extent }) => [geoId, extent]))
  for (const { geoId, first, end } of geoRanges(observations)) {
    const stored = extents.get(geoId) ?? null
    const ends = findEnds(observations, first, end)
    const received = ends && { first: observations.at[ends[0]]!, last: observations.at[ends[1]]! }
    const isIn = (at: Instant): boolean =>
      window ? at >= window.from && at < window.to : at >= observations.at[first]! && at <= observations.at[end - 1]!
    // An end in the window that the reply lacks may be gone.
    const mayBeGone =
      stored !== null &&
      ((isIn(stored.first) && stored.first < (received?.first ?? Number.POSITIVE_INFINITY)) ||
        (isIn(stored.last) && stored.last > (received?.last ?? Number.NEGATIVE_INFINITY)))
    if (mayBeGone) {
      const left = await readExtent(tx, seriesId, geoId)
      const isFinal = stored.first < settledBefore
      extents.set(geoId, left && isFinal ? { ...left, first: Math.min(left.first, stored.first) } : left)
    } else if (received)
      extents.set(geoId, {
        first: Math.min(received.first, stored?.first ?? received.first),
        last: Math.max(received.last, stored?.last ?? received.last),
      })
    else if (!extents.has(geoId)) extents.set(geoId, null)
  }
  return extents
}

/** Writes a timeline, if it changed. */
export async function writeTimeline(
  tx: Transaction<Database>,
  seriesId: number,
  before: StoredTimeline | undefined,
  after: StoredTimeline,
): Promise<void> {
  const { geoId, extent, step, kind } = after
  const row = { seriesId, geoId, first: extent?.first ?? null, last: extent?.last ?? null, step, kind }
  if (!before) return insertTimeline.run(tx, row)
  const isSame =
    before.extent?.first === extent?.first &&
    before.extent?.last === extent?.last &&
    before.step === step &&
    before.kind === kind
  if (!isSame) await updateTimeline.run(tx, row)
}

interface TimelineRow {
  readonly seriesId: number
  readonly geoId: number
  readonly first: Instant | null
  readonly last: Instant | null
  readonly step: number | null
  readonly kind: CadenceKind | null
}

const insertTimeline = prepareQuery((db, row: TimelineRow) =>
  db.insertInto('series_geo').values({
    series_id: row.seriesId,
    geo_id: row.geoId,
    first_at: row.first,
    last_at: row.last,
    step_s: row.step,
    kind: row.kind,
  }),
)

const updateTimeline = prepareQuery((db, row: TimelineRow) =>
  db
    .updateTable('series_geo')
    .set({ first_at: row.first, last_at: row.last, step_s: row.step, kind: row.kind })
    .where('series_id', '=', row.seriesId)
    .where('geo_id', '=', row.geoId),
)
