import type { Reader } from '../db/store.ts'
import { DAY, daysFromCivil, formatUtc, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { toCivil } from '../util/time/localDay.ts'

/** The state of the database at a snapshot. */
export interface SnapshotSource {
  /** The start of its first run, which identifies the database; null without runs. */
  readonly began: string | null
  /** The last fetch, and its time. */
  readonly fetch: number
  readonly fetched_at: string | null
  /** The number of fetches and their rows, which differs after a replay. */
  readonly counted?: ReplyCounts
  /**
   * A checksum of the daily totals of every local month. It changes with the values, unless values exchange places within a
   * day.
   */
  readonly months: Readonly<Record<Month, string>>
}

interface ReplyCounts {
  readonly fetches: number
  readonly rows: number
}

export const ROW_COLUMNS = ['rows_new', 'rows_revised', 'rows_withdrawn'] as const

/** The start of the first run, by which a lake recognizes its database; null without runs. */
export async function readBeginning({ kysely }: Reader): Promise<string | null> {
  const first = await kysely.selectFrom('_run').select('started_at').orderBy('id').limit(1).executeTakeFirst()
  return first?.started_at ?? null
}

/** Reads the state of the database. */
export async function readSource(db: Reader): Promise<SnapshotSource> {
  const { kysely } = db
  const last = await kysely
    .selectFrom('_fetch')
    .select(['id', 'finished_at'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return {
    began: await readBeginning(db),
    fetch: last?.id ?? 0,
    fetched_at: last?.finished_at ?? null,
    counted: await countUpTo(db, last?.id ?? 0),
    months: Object.fromEntries(await db.engine.computeDayChecksums()),
  }
}

/**
 * Counts the fetches with changes up to one, and their rows. Each kind of row has its own weight, so that changes do not cancel out.
 * `prune` deletes fetches without changes.
 */
async function countUpTo({ kysely }: Reader, fetch: number): Promise<ReplyCounts> {
  const { fetches, fresh, revised, withdrawn } = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => [
      fn.countAll<number>().as('fetches'),
      fn.sum<number | null>('rows_new').as('fresh'),
      fn.sum<number | null>('rows_revised').as('revised'),
      fn.sum<number | null>('rows_withdrawn').as('withdrawn'),
    ])
    .where('id', '<=', fetch)
    .where(({ eb, or }) => or(ROW_COLUMNS.map((column) => eb(column, '>', 0))))
    .executeTakeFirstOrThrow()
  return { fetches, rows: (fresh ?? 0) + 3 * (revised ?? 0) + 7 * (withdrawn ?? 0) }
}

/** Whether a database continues an earlier state: its fetches are unchanged. */
async function isContinuation(db: Reader, { fetch, fetched_at, counted }: SnapshotSource): Promise<boolean> {
  if (fetch === 0) return true
  const row = await db.kysely.selectFrom('_fetch').select('finished_at').where('id', '=', fetch).executeTakeFirst()
  if (row?.finished_at !== fetched_at) return false
  const now = await countUpTo(db, fetch)
  return counted?.fetches === now.fetches && counted.rows === now.rows
}

/**
 * The months (UTC) that may have changed since a snapshot; null for all. Fetches record their windows. Other writers of
 * values, such as a replay, change daily totals.
 */
export async function findChangedMonths(
  db: Reader,
  before: SnapshotSource,
  now: SnapshotSource,
): Promise<ReadonlySet<Month> | null> {
  if (!(await isContinuation(db, before))) return null
  const fetches = await db.kysely
    .selectFrom('_fetch')
    .select(['from_at', 'to_at'])
    .select((eb) => eb.case().when('from_at', 'is', null).then(eb.ref('params')).end().as('params'))
    .distinct()
    .where('id', '>', before.fetch)
    .where('series_id', 'is not', null)
    .where(({ eb, or }) => or(ROW_COLUMNS.map((column) => eb(column, '>', 0))))
    .execute()
  const changed = new Set<Month>()
  for (const { from_at, to_at, params } of fetches) {
    // A request for an instant covers its day.
    const { datetime: at } = JSON.parse(params ?? '{}') as { datetime?: unknown }
    const from = from_at ?? (typeof at === 'number' ? at - DAY : null)
    const to = to_at ?? (typeof at === 'number' ? at + DAY : null)
    if (from === null || to === null) return null
    for (const month of monthsBetween(monthAt(from), monthAt(to - 1))) changed.add(month)
  }
  const months = new Set([...Object.keys(before.months), ...Object.keys(now.months)].map(Number))
  const unrecorded = [...months].filter((month) => before.months[month] !== now.months[month] && !changed.has(month))
  // A local month may start in the UTC month before, or end in the next one.
  for (const month of unrecorded) for (const near of [month - 1, month, month + 1]) changed.add(near)
  return changed
}

/** A month in UTC: twelve times the year, plus 0 for January to 11 for December. */
export type Month = number

/** The month of an instant. */
export const monthAt = (at: Instant): Month => toCivil(Math.floor(at / DAY)).month

export const yearOf = (month: Month): number => Math.floor(month / 12)

/** The instants of a month. */
export const monthInterval = (month: Month): Interval => ({ from: firstOfMonth(month), to: firstOfMonth(month + 1) })

const firstOfMonth = (month: Month): Instant => daysFromCivil(0, month + 1, 1) * DAY

/** `2025-11`. */
export const monthText = (month: Month): string => formatUtc(firstOfMonth(month)).slice(0, 7)
export const yearText = (year: number): string => String(year).padStart(4, '0')

/** The months from the first to the last. */
export const monthsBetween = (first: Month, last: Month): Month[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
