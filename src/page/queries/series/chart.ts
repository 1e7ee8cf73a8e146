import type { Reader } from '../../../db/store.ts'
import type { Measure } from '../../../db/tables/sql/expressions.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { transitions } from '../../../util/time/zone.ts'
import { lengthText } from '../../client/format.ts'
import type { LineData } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import { timeTicks } from '../../timeTicks.ts'
import type { ChartState } from '../intervals.ts'
import type { PeriodUnit } from '../periods.ts'
import { countChangesSince } from './changesSince.ts'
import { readDifference } from './difference.ts'
import { type ComparedLineWithStates, chosenUnit, drawnUnit, drawVersions } from './lines.ts'
import type { ChartQuery } from './seriesQuery.ts'
import { type Line, readStepChanges } from './window.ts'

const MAX_STATES = 400

/** The offset of a zone at the beginning of a range, and its changes. */
const listOffsets = (zone: string, { from, to }: Interval): [number, number][] => {
  const rows = transitions(zone)
  const first = rows.findLastIndex(({ at }) => at <= from)
  return rows
    .filter(({ at }, i) => i === Math.max(0, first) || (at > from && at < to))
    .map(({ at, offset }) => [Math.max(at, from), offset])
}

/** Explains the line of a chart if it summarizes values: what stands for which periods, and its band if it has one. */
export function bucketText(
  { words: { series: labels } }: PageRequest,
  now: LineData,
  by: PeriodUnit | undefined,
  measure: Measure | null,
) {
  const [summary] = now.kind === 'extremes' ? now.segments : []
  if (!summary) return null
  const period = by === undefined ? lengthText(summary.step) : labels.units[by]
  if (by !== undefined && measure === 'energy') return labels.sums(period)
  return summary.min ? labels.bucket(period) : labels.means(period)
}

/** The intervals that are not final, for a chart: at most `MAX_STATES`. */
const drawnStates = (states: readonly ChartState[]) =>
  states
    .filter(({ state }) => state !== 'final')
    .slice(0, MAX_STATES)
    .map(({ from, to, state }) => [from, to, state] as const)

/** Reads the step of the last value before an instant; undefined if there is none. */
async function stepBefore({ kysely }: Reader, { seriesId, geoId }: Line, at: number): Promise<number | undefined> {
  const row = await kysely
    .selectFrom('observation')
    .select('step_s')
    .where((eb) => eb.and({ series_id: seriesId, geo_id: geoId }))
    .where('at', '<', at)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.step_s
}

/** Reads all data of a chart. */
export async function readChart(
  request: PageRequest,
  chartQuery: ChartQuery,
  states: readonly ChartState[],
  compared: readonly ComparedLineWithStates[],
) {
  const { store } = request
  const { line, range, asOf: past } = chartQuery
  const steps = await readStepChanges(store, line.seriesId, range)
  const earlier = steps[0] && (await stepBefore(store, line, steps[0].from_at))
  const [now, before = null] = await drawVersions(request, line, range, past ? [null, past.fetchId] : [null])
  return {
    ...range,
    zone: line.zone,
    unit: drawnUnit(request, line, range),
    /** The offsets of the zone in seconds, each with its first instant. */
    offsets: listOffsets(line.zone, range),
    ticks: timeTicks(line.zone, range, request.locale),
    now: now!,
    /** What a summarized line shows; null for values. */
    bucket: bucketText(request, now!, chosenUnit(request, range), line.measure),
    /** The values as known at a past moment; null without one. */
    before,
    asOf: past?.moment ?? null,
    /** How many values changed since then; null without a past moment, and for a long range. */
    changed: past && (await countChangesSince(store, { ...line, ...range }, past.fetchId)),
    compared: compared.map(({ open, ...other }) => ({ ...other, states: drawnStates(open) })),
    difference: await readDifference(request, chartQuery, now!, compared),
    states: drawnStates(states),
    /** The changes of the step: the instant, the new step in seconds, and both steps in words. */
    steps: steps.map(({ from_at, step_s }, i) => {
      const before = i === 0 ? earlier : steps[i - 1]!.step_s
      return [from_at, step_s, [before, step_s].flatMap((step) => (step ? lengthText(step) : [])).join(' → ')] as const
    }),
  }
}

export type ChartData = Awaited<ReturnType<typeof readChart>>
