import type { Blocks, ValueVersion } from '../db/engine.ts'
import { indicatorNameColumn } from '../db/queries/catalogueNames.ts'
import type { Reader } from '../db/store.ts'
import { formatMillis, formatUtc } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'

/** The two instants (UTC, to the millisecond) whose states are compared. */
export interface DiffQuestion {
  readonly from: string
  readonly to: string
  /** Empty for all. */
  readonly indicators: readonly number[]
}

/** One difference between the two instants. */
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
  /** For texts: which one, in which language. */
  readonly field: string | null
  readonly locale: string | null
  readonly before: number | string | null
  readonly after: number | string | null
  /** When the last change came (UTC to the millisecond). */
  readonly changed_at: string
}

const NO_PLACE = { series_id: null, geo_id: null, at_utc: null, at_local: null, field: null, locale: null } as const

/** The series that requests between the two instants changed, with the windows of these requests. */
const touchedSeries = ({ kysely }: Reader, { from, to }: DiffQuestion) =>
  kysely
    .selectFrom('_fetch as f')
    .innerJoin('series', 'series.id', 'f.series_id')
    .select(['series.id as series_id', 'series.kind', 'series.indicator_id as id', 'series.time_zone as zone'])
    .select(({ fn }) => [fn.min('f.from_at').as('from'), fn.max('f.to_at').as('to')])
    .select(indicatorNameColumn('series.kind', 'series.indicator_id'))
    .where('f.finished_at', '>', from)
    .where('f.finished_at', '<=', to)
    .where((of) => of.or([of('f.rows_new', '>', 0), of('f.rows_revised', '>', 0), of('f.rows_withdrawn', '>', 0)]))
    .groupBy('series.id')
    .orderBy('series.kind')
    .orderBy('series.indicator_id')
    .orderBy('series.id')
    .execute()

type Touched = Awaited<ReturnType<typeof touchedSeries>>

/** The kind of change between two states; undefined where nothing changed. */
function classifyChange<T>(before: T | undefined, after: T | undefined, same: (a: T, b: T) => boolean) {
  if (before === undefined) return after === undefined ? undefined : 'new'
  if (after === undefined) return 'withdrawn'
  return same(before, after) ? undefined : 'revised'
}

/** Of all versions of one thing: the one that was valid at the first instant, and the one valid at the second where it is another one. */
function pairVersions<V extends { readonly valid_from: string; readonly valid_to: string | null }>(
  versions: readonly V[],
  { from, to }: DiffQuestion,
): { before: V | undefined; after: V | undefined; changed: string } {
  const moments = versions.flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? ''])
  return {
    before: versions.find(({ valid_from }) => valid_from <= from),
    after: versions.findLast(({ valid_from, valid_to }) => valid_from > from && (valid_to === null || valid_to > to)),
    changed: moments.filter((moment) => moment > from && moment <= to).reduce((a, b) => (a > b ? a : b), ''),
  }
}

/** Groups successive rows with the same key. */
async function* groups<T>(
  blocks: Blocks<T> | Iterable<readonly T[]>,
  keyOf: (row: T) => string,
): AsyncGenerator<readonly T[]> {
  let group: T[] = []
  let last: string | undefined
  for await (const block of blocks)
    for (const row of block) {
      const key = keyOf(row)
      if (key !== last && group.length > 0) {
        yield group
        group = []
      }
      last = key
      group.push(row)
    }
  if (group.length > 0) yield group
}

async function* valueDifferences({ engine }: Reader, all: Touched, question: DiffQuestion): AsyncGenerator<Difference> {
  const { from, to, indicators } = question
  for (const series of all) {
    const { series_id, kind, id, name, zone } = series
    if (indicators.length > 0 && !indicators.includes(id)) continue
    const window = { from: series.from ?? Number.MIN_SAFE_INTEGER, to: series.to ?? Number.MAX_SAFE_INTEGER }
    const versions = engine.changedVersions(series_id, window, { from, to })
    for await (const group of groups(versions, ({ geo_id, at }) => `${geo_id} ${at}`)) {
      const { before, after, changed } = pairVersions(group, question)
      const change = classifyChange(before, after, (a, b) => a.value === b.value && a.step_s === b.step_s)
      const [{ geo_id, at }] = group as [ValueVersion]
      if (change)
        yield {
          what: 'value',
          change,
          kind,
          id,
          name,
          series_id,
          geo_id,
          field: null,
          locale: null,
          at_utc: formatUtc(at),
          at_local: formatLocal(zone, at),
          before: before?.value ?? null,
          after: after?.value ?? null,
          changed_at: changed,
        }
    }
  }
}

/** The views with versions of texts, and their columns that are compared. */
const COMPARED_VIEWS = [
  { view: 'indicator_history', fields: ['name', 'short_name', 'description'] },
  { view: 'content_history', fields: ['title', 'summary', 'body'] },
] as const

type TextVersion = Readonly<Record<string, string | null>> & {
  readonly kind: string
  readonly locale: string
  readonly valid_from: string
  readonly valid_to: string | null
}

async function textDifferences(db: Reader, question: DiffQuestion): Promise<Difference[]> {
  const found: Difference[] = []
  const { from, to, indicators } = question
  for (const { view, fields } of COMPARED_VIEWS) {
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
      .orderBy('kind')
      .orderBy('id')
      .orderBy('locale')
      .orderBy('valid_from')
      .execute()) as unknown as (TextVersion & { id: number })[]
    for await (const group of groups([versions], ({ kind, id, locale }) => `${kind} ${id} ${locale}`)) {
      const { before, after, changed } = pairVersions(group, question)
      const [{ kind, id, locale }] = group as [TextVersion & { id: number }]
      if (indicators.length > 0 && !indicators.includes(id)) continue
      for (const field of fields) {
        const [old, now] = [before?.[field] ?? undefined, after?.[field] ?? undefined]
        const change = classifyChange<string>(old, now, (a, b) => a === b)
        const name = (after ?? before)?.[fields[0]] ?? null
        if (change)
          found.push({
            ...NO_PLACE,
            what: 'text',
            change,
            kind,
            id,
            name,
            field,
            locale,
            changed_at: changed,
            before: old ?? null,
            after: now ?? null,
          })
      }
    }
  }
  return found
}

async function catalogueDifferences({ kysely }: Reader, { from, to, indicators }: DiffQuestion): Promise<Difference[]> {
  const found: Difference[] = []
  const rows = await kysely
    .selectFrom('indicator')
    .select(['kind', 'id', 'first_seen_at', 'withdrawn_at'])
    .select(indicatorNameColumn('indicator.kind', 'indicator.id'))
    .where('last_seen_at', 'is not', null)
    .where(({ or, and, eb }) =>
      or([
        and([eb('first_seen_at', '>', from), eb('first_seen_at', '<=', to)]),
        and([eb('withdrawn_at', '>', from), eb('withdrawn_at', '<=', to)]),
      ]),
    )
    .orderBy('kind')
    .orderBy('id')
    .execute()
  for (const { kind, id, first_seen_at, withdrawn_at, name } of rows) {
    if (indicators.length > 0 && !indicators.includes(id)) continue
    const listedBefore = first_seen_at <= from
    const listedAfter = withdrawn_at === null || withdrawn_at > to
    if (listedBefore === listedAfter) continue
    const change = listedAfter ? 'new' : 'withdrawn'
    const changed_at = listedAfter ? first_seen_at : withdrawn_at!
    found.push({ ...NO_PLACE, what: 'catalogue', change, kind, id, name, before: null, after: null, changed_at })
  }
  return found
}

/** The differences between two instants: values, texts, and the indicators that the catalogue lists. */
export async function differences(db: Reader, question: DiffQuestion): Promise<AsyncIterable<Difference>> {
  const [catalogue, texts] = [await catalogueDifferences(db, question), await textDifferences(db, question)]
  const touched = await touchedSeries(db, question)
  return (async function* () {
    yield* catalogue
    yield* texts
    yield* valueDifferences(db, touched, question)
  })()
}

/** The start and the end of a run, which is now (epoch milliseconds) while it lasts; undefined where there is no such run. */
export async function spanOfRun(
  { kysely }: Reader,
  run: number,
  nowMs: number,
): Promise<{ from: string; to: string } | undefined> {
  const found = await kysely
    .selectFrom('_run')
    .select(['started_at', 'finished_at'])
    .where('id', '=', run)
    .executeTakeFirst()
  return found && { from: found.started_at, to: found.finished_at ?? formatMillis(nowMs) }
}
