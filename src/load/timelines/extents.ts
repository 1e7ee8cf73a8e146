import type { Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import type { CadenceKind } from '../../db/tables/series.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Extent, Timeline } from '../../judge/stored.ts'
import type { Instant } from '../../util/time/instant.ts'

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
export async function readExtent(tx: Transaction<Database>, seriesId: number, geoId: number): Promise<Extent | null> {
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

const toExtent = ({ at, steps }: Observations, [first, last]: readonly [number, number]): Extent => ({
  first: at[first]!,
  last: at[last]!,
  step: typeof steps === 'number' ? steps : steps[last]!,
})

/**
 * The extents of the timelines of a series after a reply. Reads values only if the reply may have removed the first or the last one. A
 * first value that was final remains the start of its timeline if the service takes it back: what it took back is missing.
 */
export async function findExtents(
  tx: Transaction<Database>,
  seriesId: number,
  before: readonly Timeline[],
  observations: Observations,
  { window, settledBefore }: Pick<PlannedRequest, 'window' | 'settledBefore'>,
): Promise<Map<number, Extent | null>> {
  const extents = new Map<number, Extent | null>(before.map(({ geoId, extent }) => [geoId, extent]))
  for (const { geoId, first, end } of geoRanges(observations)) {
    const stored = extents.get(geoId) ?? null
    const ends = findEnds(observations, first, end)
    const received = ends && toExtent(observations, ends)
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
      const { step } = received && received.last === left?.last ? received : stored
      extents.set(geoId, left && { ...left, step, first: isFinal ? Math.min(left.first, stored.first) : left.first })
    } else if (received && stored) {
      const { last, step } = stored.last > received.last ? stored : received
      extents.set(geoId, { first: Math.min(received.first, stored.first), last, step })
    } else if (received) extents.set(geoId, received)
    else if (!extents.has(geoId)) extents.set(geoId, null)
  }
  return extents
}

/** Writes a timeline, if it changed. */
export async function writeTimeline(
  tx: Transaction<Database>,
  seriesId: number,
  before: Timeline | undefined,
  after: Timeline,
): Promise<void> {
  const { geoId, extent, kind } = after
  const { first = null, last = null, step = null } = extent ?? {}
  const row = { seriesId, geoId, first, last, step, kind }
  if (!before) return insertTimeline.run(tx, row)
  const isSame =
    before.extent?.first === extent?.first &&
    before.extent?.last === extent?.last &&
    before.extent?.step === extent?.step &&
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
