import type { Reader, Store } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { gapsAt } from '../findings/findGaps.ts'
import { recordSpans } from '../load/spans/recordSpans.ts'
import { InputError } from '../util/errors.ts'
import { quantity } from '../util/text.ts'
import { formatMillis, type Instant, toInstant } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'

/** The gaps to accept. */
export interface AcceptRequest {
  readonly indicatorId: number
  /** Undefined if the indicator has one series with gaps. */
  readonly seriesId?: number | undefined
  /** Undefined for every geo with gaps. */
  readonly geoId?: number | undefined
  /** The instants of `--from` and `--to` in the zone of a series. Without `to`, the series has ended. */
  readonly from: (zone: string) => Instant
  readonly to: ((zone: string) => Instant) | null
  readonly note: string
}

/** An accepted gap: a row of `_accept` with local times. */
export interface AcceptedGap {
  readonly id: number
  readonly series_id: number
  readonly kind: string
  readonly indicator_id: number
  readonly geo_id: number
  readonly from: string
  /** Null if the series or geo has ended. */
  readonly to: string | null
  readonly note: string
  readonly created_at: string
}

/** Lists what was accepted. */
export async function listAccepted({ kysely }: Pick<Reader, 'kysely'>): Promise<AcceptedGap[]> {
  const rows = await kysely
    .selectFrom('_accept as a')
    .innerJoin('series as s', 's.id', 'a.series_id')
    .select([
      'a.id',
      'a.series_id',
      's.kind',
      's.indicator_id',
      'a.geo_id',
      'a.from_at',
      'a.to_at',
      'a.note',
      'a.created_at',
      's.time_zone',
    ])
    .orderBy('a.id')
    .execute()
  return rows.map(({ from_at, to_at, note, created_at, time_zone, ...row }) => ({
    ...row,
    from: formatLocal(time_zone, from_at),
    to: to_at === null ? null : formatLocal(time_zone, to_at),
    note,
    created_at,
  }))
}

/** Refuses to accept gaps, or to undo that. */
export function refuseAcceptance(message: string, hint: string): never {
  throw new InputError(message, { hint, code: 'bad-acceptance' })
}

/** The reasons of gaps that have no end. */
const isOpenEnded = (reason: string): boolean => reason === 'late' || reason === 'no values'

const geoText = (geoId: number): string => (geoId === ALL_GEOS ? 'all geos' : `geo ${geoId}`)

/** Reads the gaps of an indicator, with the time zones of their series. */
const readGaps = ({ kysely }: Pick<Reader, 'kysely'>, indicatorId: number, now: Instant) =>
  kysely
    .selectFrom(gapsAt(now))
    .innerJoin('series as s', 's.id', 'gaps.series_id')
    .select(['gaps.series_id', 'gaps.geo_id', 'gaps.from_at', 'gaps.to_at', 'gaps.reason', 's.time_zone'])
    .where('s.indicator_id', '=', indicatorId)
    .orderBy('gaps.series_id')
    .orderBy('gaps.geo_id')
    .orderBy('gaps.from_at')
    .execute()

type IndicatorGap = Awaited<ReturnType<typeof readGaps>>[number]

const LIST_HINT = 'List the gaps with `indicator-sync gaps`.'

/** Selects the gaps of the requested series and geo. Throws InputError if there are none. */
function selectGaps(gaps: readonly IndicatorGap[], { indicatorId, seriesId, geoId }: AcceptRequest): IndicatorGap[] {
  if (gaps.length === 0) refuseAcceptance(`Indicator ${indicatorId} has no gap.`, LIST_HINT)
  const ofSeries = gaps.filter(({ series_id }) => seriesId === undefined || series_id === seriesId)
  if (ofSeries.length === 0) {
    const known = [...new Set(gaps.map(({ series_id }) => series_id))].join(', ')
    refuseAcceptance(
      `Series ${seriesId} of indicator ${indicatorId} has no gap.`,
      `Series with gaps: ${known}. ${LIST_HINT}`,
    )
  }
  const ofGeo = ofSeries.filter(({ geo_id }) => geoId === undefined || geo_id === geoId)
  if (ofGeo.length === 0) {
    const known = [...new Set(ofSeries.map(({ geo_id }) => geo_id))].join(', ')
    refuseAcceptance(
      `Indicator ${indicatorId} has no gap of ${geoText(geoId!)}.`,
      `Geos with gaps: ${known}. ${LIST_HINT}`,
    )
  }
  return ofGeo
}

/** Selects the parts of gaps in the requested range. Throws InputError if there are none, or if they need another request. */
function selectParts(gaps: readonly IndicatorGap[], request: AcceptRequest) {
  const { indicatorId } = request
  const parts = gaps.flatMap(({ series_id, geo_id, from_at, to_at, reason, time_zone }) => {
    const from = Math.max(from_at, request.from(time_zone))
    const to = Math.min(to_at, request.to?.(time_zone) ?? to_at)
    if (from >= to) return []
    return { reason, row: { series_id, geo_id, from_at: from, to_at: request.to ? to : null } }
  })
  if (parts.length === 0) {
    const { from_at, to_at, time_zone } = gaps[0]!
    const first = `${formatLocal(time_zone, from_at)} to ${formatLocal(time_zone, to_at)}`
    refuseAcceptance(
      `Indicator ${indicatorId} has no gap in the range; its first gap is ${first}.`,
      `Choose --from and --to so that they include a gap. ${LIST_HINT}`,
    )
  }
  const series = [...new Set(parts.map(({ row }) => row.series_id))]
  if (series.length > 1)
    refuseAcceptance(
      `Indicator ${indicatorId} has gaps in ${quantity(series.length, 'series', 'series')} in the range: ${series.join(', ')}.`,
      'Choose one with --series.',
    )
  if (request.to) return parts
  const open = parts.filter(({ reason }) => isOpenEnded(reason))
  if (open.length === 0)
    refuseAcceptance(
      `A gap that is ${parts[0]!.reason} needs --to: without it, only the end of a series or geo is accepted.`,
      'Add --to with the first day after the gap.',
    )
  return open
}

/**
 * Accepts the parts of gaps in a range: they are not findings any more. Throws InputError if the range has no gap, or those of several
 * series. Returns the accepted parts.
 */
export async function acceptGaps(store: Store, request: AcceptRequest, nowMs: number): Promise<AcceptedGap[]> {
  const { indicatorId, note } = request
  const now = toInstant(nowMs)
  const parts = selectParts(selectGaps(await readGaps(store, indicatorId, now), request), request)
  return store.write(async (tx) => {
    const ids = new Set<number>()
    for (const { row } of parts) {
      const { id } = await tx
        .insertInto('_accept')
        .values({ ...row, note, created_at: formatMillis(nowMs) })
        .returning('id')
        .executeTakeFirstOrThrow()
      ids.add(id)
    }
    await recordSpans(tx, parts[0]!.row.series_id, now)
    const listed = await listAccepted({ kysely: tx })
    return listed.filter(({ id }) => ids.has(id))
  })
}

/** Undoes acceptances: their gaps are findings again. Throws InputError for an unknown id. */
export async function reopenGaps(store: Store, ids: readonly number[], nowMs: number): Promise<AcceptedGap[]> {
  const accepted = await listAccepted(store)
  const unknown = ids.filter((id) => !accepted.some((row) => row.id === id))
  if (unknown.length > 0) {
    const known = accepted.length === 0 ? 'Nothing is accepted.' : `Ids: ${accepted.map(({ id }) => id).join(', ')}.`
    refuseAcceptance(
      `No accepted gap has the id ${unknown.join(', ')}.`,
      `${known} \`indicator-sync gaps --accepted\` lists them.`,
    )
  }
  const reopened = accepted.filter(({ id }) => ids.includes(id))
  await store.write(async (tx) => {
    await tx.deleteFrom('_accept').where('id', 'in', ids).execute()
    for (const seriesId of new Set(reopened.map(({ series_id }) => series_id)))
      await recordSpans(tx, seriesId, toInstant(nowMs))
  })
  return reopened
}
