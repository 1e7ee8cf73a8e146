import type { Blocks, ValueVersion } from '../db/engine.ts'
import { indicatorNameColumn } from '../db/queries/catalogueNames.ts'
import { readChangedVersions } from '../db/queries/values.ts'
import type { Reader } from '../db/store.ts'
import { formatUtc } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'

/** The two timestamps (UTC, to the millisecond) whose states are compared. */
export interface DiffQuestion {
  readonly from: string
  readonly to: string
  /** Empty for all. */
  readonly indicators: readonly number[]
}

/** A difference between the two states. */
export interface Difference {
  readonly what: 'value' | 'text' | 'catalogue'
  readonly change: 'new' | 'revised' | 'withdrawn'
  readonly kind: string
  /** The indicator or the item of content. */
  readonly id: number
  readonly name: string | null
  /** For values: the series, geo and instant. */
  readonly series_id: number | null
  readonly geo_id: number | null
  readonly at_utc: string | null
  readonly at_local: string | null
  /** For texts: the field and its language. */
  readonly field: string | null
  readonly locale: string | null
  readonly before: number | string | null
  readonly after: number | string | null
  /** The time of the last change (UTC to the millisecond). */
  readonly changed_at: string
}

const NO_PLACE = { series_id: null, geo_id: null, at_utc: null, at_local: null, field: null, locale: null } as const

/** Classifies the change between two states; undefined if there is none. */
function classifyChange<T>(before: T | undefined, after: T | undefined, isEqual: (a: T, b: T) => boolean) {
  if (before === undefined) return after === undefined ? undefined : 'new'
  if (after === undefined) return 'withdrawn'
  return isEqual(before, after) ? undefined : 'revised'
}

/** Finds the version that was valid at the first timestamp, and the one that replaced it until the second. */
function pairVersions<V extends { readonly valid_from: string; readonly valid_to: string | null }>(
  versions: readonly V[],
  { from, to }: DiffQuestion,
): { before: V | undefined; after: V | undefined; changed_at: string } {
  const times = versions.flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? ''])
  return {
    before: versions.find(({ valid_from }) => valid_from <= from),
    after: versions.findLast(({ valid_from, valid_to }) => valid_from > from && (valid_to === null || valid_to > to)),
    changed_at: times.filter((time) => time > from && time <= to).reduce((a, b) => (a > b ? a : b), ''),
  }
}

/** Groups adjacent rows with the same key. */
async function* groupAdjacent<T>(blocks: Blocks<T>, makeKey: (row: T) => string): AsyncGenerator<readonly T[]> {
  let group: T[] = []
  let groupKey = ''
  for await (const block of blocks)
    for (const row of block) {
      const key = makeKey(row)
      if (group.length > 0 && key !== groupKey) {
        yield group
        group = []
      }
      groupKey = key
      group.push(row)
    }
  if (group.length > 0) yield group
}

/** Finds the series that requests between the two timestamps changed, with the windows of these requests. */
const findChangedSeries = ({ kysely }: Reader, { from, to }: DiffQuestion) =>
  kysely
    .selectFrom('_fetch as f')
    .innerJoin('series', 'series.id', 'f.series_id')
    .select(['series.id as series_id', 'series.kind', 'series.indicator_id as id', 'series.time_zone as zone'])
    .select(({ fn }) => [fn.min('f.from_at').as('from'), fn.max('f.to_at').as('to')])
    .select(indicatorNameColumn('series.kind', 'series.indicator_id'))
    .where('f.finished_at', '>', from)
    .where('f.finished_at', '<=', to)
    .where((eb) => eb.or([eb('f.rows_new', '>', 0), eb('f.rows_revised', '>', 0), eb('f.rows_withdrawn', '>', 0)]))
    .groupBy('series.id')
    .orderBy('series.kind')
    .orderBy('series.indicator_id')
    .orderBy('series.id')
    .execute()

async function* findValueDifferences(
  { kysely }: Reader,
  changedSeries: Awaited<ReturnType<typeof findChangedSeries>>,
  question: DiffQuestion,
): AsyncGenerator<Difference> {
  const { from, to, indicators } = question
  for (const { series_id, kind, id, name, zone, ...range } of changedSeries) {
    if (indicators.length > 0 && !indicators.includes(id)) continue
    const window = { from: range.from ?? Number.MIN_SAFE_INTEGER, to: range.to ?? Number.MAX_SAFE_INTEGER }
    const versions = readChangedVersions(kysely, series_id, window, { from, to })
    for await (const group of groupAdjacent(versions, ({ geo_id, at }) => `${geo_id} ${at}`)) {
      const { before, after, changed_at } = pairVersions(group, question)
      const change = classifyChange(before, after, (a, b) => a.value === b.value && a.step_s === b.step_s)
      if (!change) continue
      const [{ geo_id, at }] = group as [ValueVersion]
      yield {
        ...NO_PLACE,
        what: 'value',
        change,
        kind,
        id,
        name,
        series_id,
        geo_id,
        at_utc: formatUtc(at),
        at_local: formatLocal(zone, at),
        before: before?.value ?? null,
        after: after?.value ?? null,
        changed_at,
      }
    }
  }
}

/** The compared columns of the views with versions of texts. */
const COMPARED_FIELDS = {
  indicator_history: ['name', 'short_name', 'description'],
  content_history: ['title', 'summary', 'body'],
} as const

type TextVersion = Readonly<Record<string, string | null>> & {
  readonly kind: string
  readonly locale: string
  readonly valid_from: string
  readonly valid_to: string | null
}

async function findTextDifferences(db: Reader, question: DiffQuestion): Promise<Difference[]> {
  const differences: Difference[] = []
  const { from, to, indicators } = question
  for (const [view, fields] of Object.entries(COMPARED_FIELDS)) {
    if (indicators.length > 0 && view !== 'indicator_history') continue
    const versions = (await db.kysely
      .selectFrom(view as 'content_history')
      .selectAll()
      .where(({ or, and, eb }) =>
        or([
          and([eb('valid_from', '>', from), eb('valid_from', '<=', to)]),
          and([eb('valid_to', '>', from), eb('valid_to', '<=', to)]),
        ]),
      )
      .$if(indicators.length > 0, (query) => query.where('id', 'in', indicators))
      .orderBy('kind')
      .orderBy('id')
      .orderBy('locale')
      .orderBy('valid_from')
      .execute()) as unknown as (TextVersion & { id: number })[]
    for (const group of Map.groupBy(versions, ({ kind, id, locale }) => `${kind} ${id} ${locale}`).values()) {
      const { before, after, changed_at } = pairVersions(group, question)
      const { kind, id, locale } = group[0]!
      const name = (after ?? before)?.[fields[0]] ?? null
      for (const field of fields) {
        const old = before?.[field] ?? undefined
        const current = after?.[field] ?? undefined
        const change = classifyChange<string>(old, current, (a, b) => a === b)
        if (change)
          differences.push({
            ...NO_PLACE,
            what: 'text',
            change,
            kind,
            id,
            name,
            field,
            locale,
            changed_at,
            before: old ?? null,
            after: current ?? null,
          })
      }
    }
  }
  return differences
}

async function findCatalogueDifferences(
  { kysely }: Reader,
  { from, to, indicators }: DiffQuestion,
): Promise<Difference[]> {
  const rows = await kysely
    .selectFrom('indicator')
    .select(['kind', 'id', 'first_seen_at', 'withdrawn_at'])
    .select(indicatorNameColumn('indicator.kind', 'indicator.id'))
    .where('last_seen_at', 'is not', null)
    .$if(indicators.length > 0, (query) => query.where('id', 'in', indicators))
    .orderBy('kind')
    .orderBy('id')
    .execute()
  return rows.flatMap(({ kind, id, first_seen_at, withdrawn_at, name }): Difference[] => {
    const wasListed = first_seen_at <= from && (withdrawn_at === null || withdrawn_at > from)
    const isListed = first_seen_at <= to && (withdrawn_at === null || withdrawn_at > to)
    if (wasListed === isListed) return []
    const change = isListed ? 'new' : 'withdrawn'
    const changed_at = isListed ? first_seen_at : withdrawn_at!
    return [{ ...NO_PLACE, what: 'catalogue', change, kind, id, name, before: null, after: null, changed_at }]
  })
}

/** Finds the differences between two states: values, then texts, then the indicators that the catalogue lists. */
export async function findDifferences(db: Reader, question: DiffQuestion): Promise<AsyncIterable<Difference>> {
  const changedSeries = await findChangedSeries(db, question)
  return (async function* () {
    yield* findValueDifferences(db, changedSeries, question)
    yield* await findTextDifferences(db, question)
    yield* await findCatalogueDifferences(db, question)
  })()
}

/** Reads the start and the end of a run, which is `now` while it lasts; undefined if it does not exist. */
export async function readRunTimes(
  { kysely }: Reader,
  run: number,
  now: string,
): Promise<{ from: string; to: string } | undefined> {
  const row = await kysely
    .selectFrom('_run')
    .select(['started_at', 'finished_at'])
    .where('id', '=', run)
    .executeTakeFirst()
  return row && { from: row.started_at, to: row.finished_at ?? now }
}
