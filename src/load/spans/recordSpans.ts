import type { Insertable, Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../db/tables/schema.ts'
import { judge } from '../../judge/judge.ts'
import { JUDGEMENT } from '../../judge/version.ts'
import { readJudgeInput, selectAbsences } from '../../state/judgeInput.ts'
import { DAY, formatMillis, type Instant, toInstant } from '../../util/time/instant.ts'
import { hull, type Interval } from '../../util/time/interval.ts'
import { compareRows, PERIOD_REASONS, RANGE_REASONS, type SpanRow, toSpanRows } from './spanRows.ts'

/** All time: every missing period is judged. */
const ALL_TIME: Interval = { from: 0, to: Number.MAX_SAFE_INTEGER }
/** Seconds around a changed interval: the tolerance counts whole local days. */
const AROUND_S = 2 * DAY

/**
 * Judges a series and writes what changed. Called at the end of every transaction that changes coverage, missing periods or jobs of the
 * series. `reach`: the interval in which missing periods may have changed.
 */
export async function recordSpans(
  tx: Transaction<Database>,
  seriesId: number,
  now: Instant,
  reach: Interval = ALL_TIME,
): Promise<void> {
  const { requirements, stored, wasRefused } = await readJudgeInput(tx, seriesId, now)
  const { absences, before } = await readPeriods(tx, seriesId, wasRefused ? ALL_TIME : reach)
  const after = toSpanRows(seriesId, judge(requirements, { ...stored, absences }, now))
  const { removed, changed } = compareRows([...(await selectRanges.all(tx, { seriesId })), ...before], after)
  for (const row of removed) await deleteSpan.run(tx, row)
  for (const row of changed) await upsertSpan.run(tx, row)
}

/** Reads the missing periods in reach and their spans. Periods that follow each other are read as a whole. */
async function readPeriods(tx: Transaction<Database>, seriesId: number, reach: Interval) {
  for (let around = { from: reach.from - AROUND_S, to: reach.to + AROUND_S }; ; ) {
    const range = { seriesId, ...around }
    const absences = await selectAbsences.all(tx, range)
    const before = await selectPeriods.all(tx, range)
    const whole = hull([around, ...absences, ...before.map(({ from_at, to_at }) => ({ from: from_at, to: to_at! }))])
    if (whole.from === around.from && whole.to === around.to) return { absences, before }
    around = whole
  }
}

/** Judges all series, each in a transaction of its own. */
export async function judgeAll(store: Store, nowMs: number): Promise<void> {
  const series = await store.kysely.selectFrom('series').select('id').orderBy('id').execute()
  for (const { id } of series) await store.write((tx) => recordSpans(tx, id, toInstant(nowMs)))
}

/** Judges all series again, if the rules are newer than those by which the stored spans were judged. */
export async function ensureJudged(store: Store, nowMs: number): Promise<void> {
  const judged = await store.kysely.selectFrom('_judged').select('rules').executeTakeFirst()
  if (judged?.rules === JUDGEMENT) return
  await judgeAll(store, nowMs)
  const row = { id: 1, rules: JUDGEMENT, judged_at: formatMillis(nowMs) }
  await store.write(async (tx) => {
    await tx
      .insertInto('_judged')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute()
  })
}

/** The spans that do not follow from missing periods. */
const selectRanges = prepareQuery((db, { seriesId }: { readonly seriesId: number }) =>
  db
    .selectFrom('_span')
    .selectAll()
    .where('series_id', '=', seriesId)
    .where('reason', 'in', [...RANGE_REASONS]),
)

/** The spans of missing periods that overlap or touch an interval. */
const selectPeriods = prepareQuery((db, { seriesId, from, to }: Interval & { readonly seriesId: number }) =>
  db
    .selectFrom('_span')
    .selectAll()
    .where('series_id', '=', seriesId)
    .where('to_at', '>=', from)
    .where('from_at', '<=', to)
    .where('reason', 'in', [...PERIOD_REASONS]),
)

const deleteSpan = prepareQuery((db, { series_id, reason, geo_id, from_at }: SpanRow) =>
  db
    .deleteFrom('_span')
    .where('series_id', '=', series_id)
    .where('reason', '=', reason)
    .where('geo_id', '=', geo_id)
    .where('from_at', '=', from_at),
)

const upsertSpan = prepareQuery((db, row: Insertable<Database['_span']>) => {
  const { series_id, reason, geo_id, from_at, ...judged } = row
  return db
    .insertInto('_span')
    .values(row)
    .onConflict((conflict) => conflict.columns(['series_id', 'reason', 'geo_id', 'from_at']).doUpdateSet(judged))
})
