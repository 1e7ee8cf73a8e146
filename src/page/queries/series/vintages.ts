import type { Interval } from '../../../util/time/interval.ts'
import type { PageRequest } from '../../page.ts'
import { timeTicks } from '../../timeTicks.ts'
import { type Change, isExamined } from './changes.ts'
import { bucketText } from './chart.ts'
import { withoutBand } from './compared.ts'
import { chosenUnit, drawnUnit, drawVersions } from './lines.ts'
import { differingDays } from './revisions.ts'
import { findAsOf, type NamedLine } from './seriesQuery.ts'

/** Versions that are compared at once. */
export const MAX_VINTAGES = 5
/** Columns of the picture of versions. */
const COLUMNS = 150
/** The most marks of its time axis: as many as fit on a phone. */
const MAX_TICKS = 6

/** A moment with the last fetch that was known then, and the run of a change. */
interface Vintage {
  readonly at: string
  readonly run: number | null
  readonly fetchId: number
}

/** Finds the states at moments; the last ones if there are too many. */
async function findVintages(
  { store }: PageRequest,
  { seriesId }: NamedLine,
  moments: string[],
  changes: readonly Change[],
) {
  const found: Vintage[] = []
  for (const at of moments.slice(-MAX_VINTAGES)) {
    const { fetchId } = await findAsOf(store, seriesId, at)
    found.push({ at, run: changes.find((change) => change.at === at)?.run ?? null, fetchId })
  }
  return found
}

/**
 * Reads several versions of a range, the oldest first: those of moments, else after the last changes. The picture has only the days in
 * which they differ. Null without two versions, and for a range that is too long.
 */
export async function readVintages(
  request: PageRequest,
  line: NamedLine,
  range: Interval,
  changes: readonly Change[],
  moments: string[] | undefined,
) {
  const vintages = moments
    ? await findVintages(request, line, moments, changes)
    : changes.slice(-MAX_VINTAGES).map(({ at, run, fetchId }) => ({ at, run, fetchId }))
  if (vintages.length < 2 || !isExamined(range)) return null
  const oldest = Math.min(...vintages.map(({ fetchId }) => fetchId))
  const days = (await differingDays(request.store, { ...line, ...range }, oldest)) ?? range
  const fetchIds = vintages.map(({ fetchId }) => fetchId)
  const drawn = (await drawVersions(request, line, days, fetchIds, COLUMNS)).map(withoutBand)
  const ticks = timeTicks(line.zone, days, request.locale)
  const every = Math.ceil(ticks.length / MAX_TICKS)
  return {
    from: days.from,
    to: days.to,
    unit: drawnUnit(request, line, days),
    ticks: ticks.filter((_, i) => i % every === 0),
    bucket: bucketText(request, drawn.at(-1)!, chosenUnit(request, days), line.measure),
    lines: vintages.map(({ at, run }, i) => ({ at, run, drawn: drawn[i]! })),
  }
}

export type Vintages = NonNullable<Awaited<ReturnType<typeof readVintages>>>
