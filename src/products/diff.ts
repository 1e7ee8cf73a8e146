import { formatUtc, type Instant } from '../base/instant.ts'
import { formatLocal } from '../base/zone.ts'
import type { Reader } from '../db/open.ts'
import { byLocale } from '../tables/sql.ts'

/** Two instants between which something may have changed, UTC to the millisecond; what was known at either is compared. */
export interface DiffQuestion {
  readonly from: string
  readonly to: string
  /** Empty for all. */
  readonly indicators: readonly number[]
}

/** One thing that is not the same at both instants. */
export interface Difference {
  readonly what: 'value' | 'text' | 'catalogue'
  readonly change: 'new' | 'revised' | 'withdrawn'
  readonly kind: string
  /** The indicator or the item of content. */
  readonly id: number
  readonly name: string | null
  /** For values: the series and the place of the value in it. */
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

const NOWHERE = { series_id: null, geo_id: null, at_utc: null, at_local: null, field: null, locale: null } as const

interface Touched {
  readonly series_id: number
  readonly kind: string
  readonly id: number
  readonly name: string | null
  readonly zone: string
  readonly from: Instant | null
  readonly to: Instant | null
}

interface Version {
  readonly geo_id: number
  readonly at: Instant
  readonly value: number | null
  readonly step_s: number
  readonly valid_from: string
  readonly valid_to: string | null
}

/** The series to which requests between two instants brought something else, with the windows that these were about. */
const TOUCHED = `select s.id as series_id, s.kind, s.indicator_id as id, s.time_zone as zone, min(f.from_at) as "from", max(f.to_at) as "to",
    (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by ${byLocale('t.locale')} limit 1) as name
  from _fetch f join series s on s.id = f.series_id
  where f.finished_at > :from and f.finished_at <= :to and f.rows_new + f.rows_revised + f.rows_withdrawn > 0
  group by s.id order by s.kind, s.indicator_id, s.id`

/** Versions that began or ended between two instants: all that is needed to know both sides of what changed. */
const VERSIONS = `select v.geo_id, v.at, v.value, v.step_s, f.finished_at as valid_from, n.finished_at as valid_to
  from (
    select o.geo_id, o.at, o.value, o.step_s, o.fetch_id, null as superseded_by
    from series_geo g cross join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
    where g.series_id = :series and o.at >= :first and o.at < :last
    union all
    select o.geo_id, o.at, o.value, o.step_s, o.fetch_id, o.superseded_by
    from series_geo g cross join observation_revision o on o.series_id = g.series_id and o.geo_id = g.geo_id
    where g.series_id = :series and o.at >= :first and o.at < :last
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where (f.finished_at > :from and f.finished_at <= :to) or (n.finished_at > :from and n.finished_at <= :to)
  order by v.geo_id, v.at, f.finished_at`

/** What two sides are to each other; undefined where nothing changed. */
function changeOf<T>(before: T | undefined, after: T | undefined, same: (a: T, b: T) => boolean) {
  if (before === undefined) return after === undefined ? undefined : 'new'
  if (after === undefined) return 'withdrawn'
  return same(before, after) ? undefined : 'revised'
}

/** The version that was valid before and the one that is valid after, of all versions of one thing that changed between. */
function sidesOf<V extends { readonly valid_from: string; readonly valid_to: string | null }>(
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

/** Rows that follow each other and have the same key, together. */
function* groups<T>(rows: Iterable<T>, keyOf: (row: T) => string): Generator<readonly T[]> {
  let group: T[] = []
  let last: string | undefined
  for (const row of rows) {
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

function* valueDifferences(db: Reader, question: DiffQuestion): Generator<Difference> {
  const { from, to, indicators } = question
  const touched = db.all(TOUCHED, { from, to }) as Touched[]
  for (const series of touched) {
    const { series_id, kind, id, name, zone } = series
    if (indicators.length > 0 && !indicators.includes(id)) continue
    const first = series.from ?? Number.MIN_SAFE_INTEGER
    const last = series.to ?? Number.MAX_SAFE_INTEGER
    const versions = db.all(VERSIONS, { series: series_id, first, last, from, to }) as Version[]
    for (const group of groups(versions, ({ geo_id, at }) => `${geo_id} ${at}`)) {
      const { before, after, changed } = sidesOf(group, question)
      const change = changeOf(before, after, (a, b) => a.value === b.value && a.step_s === b.step_s)
      const [{ geo_id, at }] = group as [Version]
      if (change)
        yield {
          ...{ what: 'value', change, kind, id, name, series_id, geo_id, field: null, locale: null },
          at_utc: formatUtc(at),
          at_local: formatLocal(zone, at),
          before: before?.value ?? null,
          after: after?.value ?? null,
          changed_at: changed,
        }
    }
  }
}

/** Where texts have versions: the view, and those of its columns that are compared. */
const TEXTS = [
  { view: 'indicator_history', fields: ['name', 'short_name', 'description'] },
  { view: 'content_history', fields: ['title', 'summary', 'body'] },
] as const

type TextVersion = Readonly<Record<string, string | null>> & {
  readonly kind: string
  readonly locale: string
  readonly valid_from: string
  readonly valid_to: string | null
}

function* textDifferences(db: Reader, question: DiffQuestion): Generator<Difference> {
  const { from, to, indicators } = question
  for (const { view, fields } of TEXTS) {
    if (indicators.length > 0 && view !== 'indicator_history') continue
    const versions = db.all(
      `select * from ${view} where (valid_from > :from and valid_from <= :to) or (valid_to > :from and valid_to <= :to)
       order by kind, id, locale, valid_from`,
      { from, to },
    ) as (TextVersion & { id: number })[]
    for (const group of groups(versions, ({ kind, id, locale }) => `${kind} ${id} ${locale}`)) {
      const { before, after, changed } = sidesOf(group, question)
      const [{ kind, id, locale }] = group as [TextVersion & { id: number }]
      if (indicators.length > 0 && !indicators.includes(id)) continue
      for (const field of fields) {
        const [old, now] = [before?.[field] ?? undefined, after?.[field] ?? undefined]
        const change = changeOf<string>(old, now, (a, b) => a === b)
        const name = (after ?? before)?.[fields[0]] ?? null
        if (change)
          yield {
            ...NOWHERE,
            ...{ what: 'text', change, kind, id, name, field, locale, changed_at: changed },
            before: old ?? null,
            after: now ?? null,
          }
      }
    }
  }
}

function* catalogueDifferences(db: Reader, { from, to, indicators }: DiffQuestion): Generator<Difference> {
  const rows = db.all(
    `select kind, id, first_seen_at, withdrawn_at,
       (select t.name from indicator_text t where t.kind = i.kind and t.id = i.id order by ${byLocale('t.locale')} limit 1) as name
     from indicator i
     where i.last_seen_at is not null and ((first_seen_at > :from and first_seen_at <= :to) or (withdrawn_at > :from and withdrawn_at <= :to))
     order by kind, id`,
    { from, to },
  ) as { kind: string; id: number; first_seen_at: string; withdrawn_at: string | null; name: string | null }[]
  for (const { kind, id, first_seen_at, withdrawn_at, name } of rows) {
    if (indicators.length > 0 && !indicators.includes(id)) continue
    const listedBefore = first_seen_at <= from
    const listedAfter = withdrawn_at === null || withdrawn_at > to
    if (listedBefore === listedAfter) continue
    const change = listedAfter ? 'new' : 'withdrawn'
    const changed_at = listedAfter ? first_seen_at : withdrawn_at!
    yield { ...NOWHERE, what: 'catalogue', change, kind, id, name, before: null, after: null, changed_at }
  }
}

/** What changed between two instants, one by one: values, texts, and which indicators the catalogue lists. */
export function* differences(db: Reader, question: DiffQuestion): Generator<Difference> {
  yield* catalogueDifferences(db, question)
  yield* textDifferences(db, question)
  yield* valueDifferences(db, question)
}

/** The instants between which a run worked; undefined where there is no such run. */
export function spanOfRun(db: Reader, run: number): { from: string; to: string } | undefined {
  const [row] = db.all(
    'select started_at as "from", coalesce(finished_at, strftime(\'%Y-%m-%dT%H:%M:%fZ\')) as "to" from _run where id = ?',
    [run],
  ) as { from: string; to: string }[]
  return row
}
