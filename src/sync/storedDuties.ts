import type { Transaction } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { IDENTITY_COLUMNS } from '../db/queries/seriesLookup.ts'
import type { Reader, Store } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Duty, EarlierLookback } from '../job/duty.ts'
import type { Expectation } from '../job/expectation.ts'
import { fromIdentityRow, seriesKey } from '../job/plannedRequest.ts'
import { applySelectors, type CatalogueIndicator, needsCatalogue } from '../job/select.ts'
import { findLag } from '../judge/growth.ts'
import { recordSpans } from '../load/spans/recordSpans.ts'
import { findOrInsertSeries } from '../load/storedSeries.ts'
import { type Duties, decideDuties, groupDuties, includesGeos, scopeKey } from '../plan/duties.ts'
import { createRecall, listSelectedRanges } from '../plan/entries.ts'
import type { PlanContext } from '../plan/planning.ts'
import { parseNumbers } from '../util/json.ts'
import { intersect, subtract } from '../util/time/interval.ts'

type DutyRow = Database['_duty']
type DutyPlanning = Pick<PlanContext, 'job' | 'options' | 'service' | 'now'>

/** Reads what a job requires. */
export async function readDuties({ kysely }: Reader, jobId: number): Promise<Duty[]> {
  const rows = await kysely
    .selectFrom('_duty as d')
    .innerJoin('series as s', 's.id', 'd.series_id')
    .where('d.job_id', '=', jobId)
    .select([
      ...IDENTITY_COLUMNS,
      'd.geo_ids as geos',
      'd.window_text',
      'd.entry',
      'd.time_zone',
      'd.from_at',
      'd.to_at',
      'd.lookback_s',
      'd.earlier_lookbacks',
      'd.refresh_s',
      'd.expect',
      'd.selector',
      'd.since_at',
    ])
    .orderBy('d.series_id')
    .orderBy('d.geo_ids')
    .orderBy('d.window_text')
    .execute()
  return rows.map((row) => ({
    series: fromIdentityRow(row),
    geoIds: parseNumbers(row.geos || null) ?? [],
    window: row.window_text,
    entryPath: row.entry,
    timeZone: row.time_zone,
    from: row.from_at,
    to: row.to_at,
    lookbackS: row.lookback_s,
    earlierLookbacks: JSON.parse(row.earlier_lookbacks ?? '[]') as EarlierLookback[],
    refreshS: row.refresh_s,
    expect: row.expect as Expectation | null,
    selector: row.selector,
    sinceAt: row.since_at,
  }))
}

/** Decides what a job requires by its definition now. A part of the job changes nothing about the rest. */
function decide(
  { job, options, ...planning }: DutyPlanning,
  stored: readonly Duty[],
  catalogue: readonly CatalogueIndicator[],
): Duty[] {
  const whole = job.fullJob ?? job
  const resolved = applySelectors(whole, catalogue, createRecall(groupDuties(stored)))
  return decideDuties(stored, listSelectedRanges({ ...planning, job: resolved }, whole), {
    now: planning.now,
    keepsEnds: options.range !== undefined,
    keepsSelected: needsCatalogue(whole) && catalogue.length === 0,
  })
}

/** What a job would require if it were run now. `jobId`: undefined if it was never run. */
export async function previewDuties(
  db: Reader,
  jobId: number | undefined,
  planning: DutyPlanning,
  catalogue: readonly CatalogueIndicator[],
): Promise<Duties> {
  const stored = jobId === undefined ? [] : await readDuties(db, jobId)
  return groupDuties(decide(planning, stored, catalogue))
}

/**
 * Stores what a job requires, and inserts its new series: whatever the result of the run, `gaps` then lists ranges that were not
 * requested. Returns the duties, and how many stored ranges no job requires any more.
 */
export async function storeDuties(
  store: Store,
  jobId: number,
  planning: DutyPlanning,
  catalogue: readonly CatalogueIndicator[],
  nowMs: number,
): Promise<{ duties: Duties; unselected: number }> {
  const stored = await readDuties(store, jobId)
  const decided = decide(planning, stored, catalogue)
  const storedRows = new Map(stored.map((duty) => [rowKey(duty), duty]))
  const changed = decided.filter((duty) => !isSame(storedRows.get(rowKey(duty)), duty))
  const kept = new Set(decided.map(rowKey))
  const removed = stored.filter((duty) => !kept.has(rowKey(duty)))
  const duties = groupDuties(decided)
  if (changed.length + removed.length === 0) return { duties, unselected: 0 }
  const { timeZone } = planning.service
  return store.write(async (tx) => {
    const ids = await readSeriesIds(tx)
    const touched = new Set<number>()
    for (const duty of removed) {
      const id = ids.get(seriesKey(duty.series))!
      await deleteDuty.run(tx, toRow(duty, jobId, id))
      touched.add(id)
    }
    for (const duty of changed) {
      const { series } = duty
      const id = ids.get(seriesKey(series)) ?? (await findOrInsertSeries(tx, { series, timeZone }, nowMs))!
      await upsertDuty.run(tx, toRow(duty, jobId, id))
      if (changesSpans(storedRows.get(rowKey(duty)), duty)) touched.add(id)
    }
    for (const id of touched) await recordSpans(tx, id, planning.now)
    const unselected = await countUnselected(
      tx,
      removed.map((duty) => ({ ...duty, seriesId: ids.get(seriesKey(duty.series))! })),
    )
    return { duties, unselected }
  })
}

const rowKey = (duty: Duty): string => `${scopeKey(duty)} ${duty.geoIds.join()}`

const isSame = (stored: Duty | undefined, duty: Duty): boolean =>
  stored !== undefined && JSON.stringify(toRow(stored, 0, 0)) === JSON.stringify(toRow(duty, 0, 0))

/** Whether a changed duty changes what is missing. The end of a window that grows with time is read from the clock. */
function changesSpans(stored: Duty | undefined, duty: Duty): boolean {
  const end = findLag(duty.window) === null ? {} : { to: 0 }
  return !isSame(stored && { ...stored, ...end, entryPath: '' }, { ...duty, ...end, entryPath: '' })
}

const toRow = (duty: Duty, jobId: number, seriesId: number): DutyRow => ({
  series_id: seriesId,
  job_id: jobId,
  geo_ids: duty.geoIds.join(','),
  window_text: duty.window,
  entry: duty.entryPath,
  time_zone: duty.timeZone,
  from_at: duty.from,
  to_at: duty.to,
  lookback_s: duty.lookbackS,
  earlier_lookbacks: duty.earlierLookbacks.length === 0 ? null : JSON.stringify(duty.earlierLookbacks),
  refresh_s: duty.refreshS,
  expect: duty.expect,
  selector: duty.selector,
  since_at: duty.sinceAt,
})

/** The ids of all stored series, by their keys. */
async function readSeriesIds(tx: Transaction<Database>): Promise<Map<string, number>> {
  const series = await tx
    .selectFrom('series')
    .select(['id', 'kind', 'indicator_id', 'time_trunc', 'time_agg', 'geo_agg', 'geo_trunc', 'geo_ids'])
    .execute()
  return new Map(series.map((row) => [seriesKey(fromIdentityRow(row)), row.id]))
}

const deleteDuty = prepareQuery((db, row: DutyRow) =>
  db
    .deleteFrom('_duty')
    .where('series_id', '=', row.series_id)
    .where('job_id', '=', row.job_id)
    .where('geo_ids', '=', row.geo_ids)
    .where('window_text', '=', row.window_text),
)
const upsertDuty = prepareQuery((db, row: DutyRow) => {
  const { series_id, job_id, geo_ids, window_text, ...rest } = row
  return db
    .insertInto('_duty')
    .values(row)
    .onConflict((conflict) => conflict.columns(['series_id', 'job_id', 'geo_ids', 'window_text']).doUpdateSet(rest))
})

/** A range of some geos that is required. */
type RequiredRange = Pick<Duty, 'geoIds' | 'from' | 'to'>

/** Counts the stored ranges of which some part was required by a removed duty, and is by no other. */
async function countUnselected(
  tx: Transaction<Database>,
  removed: readonly (RequiredRange & { readonly seriesId: number })[],
): Promise<number> {
  let count = 0
  for (const [seriesId, duties] of Map.groupBy(removed, (duty) => duty.seriesId)) {
    const coverage = await tx
      .selectFrom('_coverage')
      .select(['geo_id as geo', 'from_at as from', 'to_at as to'])
      .where('series_id', '=', seriesId)
      .execute()
    const rows = await tx
      .selectFrom('_duty')
      .select(['geo_ids', 'from_at as from', 'to_at as to'])
      .where('series_id', '=', seriesId)
      .execute()
    const left = rows.map(
      ({ geo_ids, ...range }): RequiredRange => ({ ...range, geoIds: parseNumbers(geo_ids || null) ?? [] }),
    )
    const isUnselected = (row: (typeof coverage)[number]): boolean =>
      duties.some((duty) => {
        const geoIds = row.geo === ALL_GEOS ? duty.geoIds : [row.geo]
        const others = left.filter((other) => includesGeos(other.geoIds, geoIds))
        return includesGeos(duty.geoIds, geoIds) && subtract(intersect([row], [duty]), others).length > 0
      })
    count += coverage.filter(isUnselected).length
  }
  return count
}
