import type { Reader } from '../db/store.ts'
import { DAY, daysFromCivil, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/** The state of the database when a snapshot was made of it. */
export interface SnapshotSource {
  /** When its first run began, which identifies the database; null while it has none. */
  readonly began: string | null
  /** The last fetch, and when it was recorded. */
  readonly fetch: number
  readonly fetched_at: string | null
  /** The number of fetches and of their rows. It differs after a replay. */
  readonly counted?: Counted
  /**
   * A checksum of the daily totals of every local month. Values do not change without changing it, except by exchanging places
   * within a day.
   */
  readonly months: Readonly<Record<Month, string>>
}

/** Fetches up to one of them, and their rows. */
interface Counted {
  readonly fetches: number
  readonly rows: number
}

const ROW_COLUMNS = ['rows_new', 'rows_revised', 'rows_withdrawn'] as const

/** When the first run of a database began, by which a lake recognizes it; null while there is none. */
export async function beganAt({ kysely }: Reader): Promise<string | null> {
  const first = await kysely.selectFrom('_run').select('started_at').orderBy('id').limit(1).executeTakeFirst()
  return first?.started_at ?? null
}

/** The state of the database now. */
export async function sourceOf(db: Reader): Promise<SnapshotSource> {
  const { kysely } = db
  const last = await kysely
    .selectFrom('_fetch')
    .select(['id', 'finished_at'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return {
    began: await beganAt(db),
    fetch: last?.id ?? 0,
    fetched_at: last?.finished_at ?? null,
    counted: await countedUpTo(db, last?.id ?? 0),
    months: Object.fromEntries(await db.engine.dayTotalsChecksums()),
  }
}

/** Counts the rows of the fetches up to one. Each kind of row is weighted differently, so that one cannot stand in for another. */
async function countedUpTo({ kysely }: Reader, fetch: number): Promise<Counted> {
  const { fetches, fresh, revised, withdrawn } = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => [
      fn.countAll<number>().as('fetches'),
      fn.sum<number | null>('rows_new').as('fresh'),
      fn.sum<number | null>('rows_revised').as('revised'),
      fn.sum<number | null>('rows_withdrawn').as('withdrawn'),
    ])
    .where('id', '<=', fetch)
    .executeTakeFirstOrThrow()
  return { fetches, rows: (fresh ?? 0) + 3 * (revised ?? 0) + 7 * (withdrawn ?? 0) }
}

/** Whether a database continues from an earlier state: the fetches up to its last one are still there as they were. */
async function isContinuation(db: Reader, { fetch, fetched_at, counted }: SnapshotSource): Promise<boolean> {
  if (fetch === 0) return true
  const row = await db.kysely.selectFrom('_fetch').select('finished_at').where('id', '=', fetch).executeTakeFirst()
  if (row?.finished_at !== fetched_at) return false
  const now = await countedUpTo(db, fetch)
  return counted?.fetches === now.fetches && counted.rows === now.rows
}

/**
 * The months (UTC) in which something may have changed since a snapshot; null for all of them. Fetches have recorded their
 * windows; whatever else writes values, such as a replay, changes the totals of its days.
 */
export async function changedMonths(
  db: Reader,
  before: SnapshotSource,
  now: SnapshotSource,
): Promise<ReadonlySet<Month> | null> {
  if (!(await isContinuation(db, before))) return null
  const fetches = await db.kysely
    .selectFrom('_fetch')
    .select(['from_at', 'to_at'])
    .select((of) => of.case().when('from_at', 'is', null).then(of.ref('params')).end().as('params'))
    .distinct()
    .where('id', '>', before.fetch)
    .where('series_id', 'is not', null)
    .where((of) => of.or(ROW_COLUMNS.map((rows) => of(rows, '>', 0))))
    .execute()
  const changed = new Set<Month>()
  for (const { from_at, to_at, params } of fetches) {
    // A request for an instant has the day of that instant as its window.
    const { datetime: at } = JSON.parse(params ?? '{}') as { datetime?: unknown }
    const from = from_at ?? (typeof at === 'number' ? at - DAY : null)
    const to = to_at ?? (typeof at === 'number' ? at + DAY : null)
    if (from === null || to === null) return null
    for (const month of monthsBetween(monthOf(from), monthOf(to - 1))) changed.add(month)
  }
  const months = new Set([...Object.keys(before.months), ...Object.keys(now.months)].map(Number))
  const others = [...months].filter((month) => before.months[month] !== now.months[month] && !changed.has(month))
  // A local month may begin in the UTC month before, or end in the next one.
  for (const month of others) for (const near of [month - 1, month, month + 1]) changed.add(near)
  return changed
}

/** A month: twelve times the year, plus 0 for January to 11 for December. In UTC, unless another zone is named. */
export type Month = number

/** The month in which an instant lies. */
export function monthOf(at: Instant): Month {
  const date = new Date(at * 1000)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

export const yearOf = (month: Month): number => Math.floor(month / 12)

/** The instants of a month. */
export const monthInterval = (month: Month): Interval => ({ from: firstOfMonth(month), to: firstOfMonth(month + 1) })

const firstOfMonth = (month: Month): Instant => daysFromCivil(yearOf(month), (month % 12) + 1, 1) * 86_400

/** `2025-11`. */
export const monthText = (month: Month): string =>
  `${yearText(yearOf(month))}-${String((month % 12) + 1).padStart(2, '0')}`
export const yearText = (year: number): string => String(year).padStart(4, '0')

/** The months from one to another, both included. */
export const monthsBetween = (first: Month, last: Month): Month[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
