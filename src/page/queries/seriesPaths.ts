import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { toWords } from '../../job/select.ts'
import { searchedWords, searchItems } from '../../reports/searchItems.ts'
import { InputError } from '../../util/errors.ts'
import { withoutAccents } from '../../util/text.ts'
import { NotFound, type PageRequest } from '../page.ts'
import { indicatorNames, type LocaleRequest, seriesUnits } from './names.ts'

/** The part of a request that finds series by their names. */
type SearchRequest = LocaleRequest & Pick<PageRequest, 'service'>

/** Selects every series with the one that has the number of its indicator in addresses: the native one, else the first. */
const seriesRows = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .selectAll('s')
    .select((eb) =>
      eb
        .selectFrom('series as f')
        .select('f.id')
        .where('f.kind', '=', ENTRY_ROUTES.series)
        .whereRef('f.indicator_id', '=', 's.indicator_id')
        .orderBy((by) => by('f.time_trunc', 'is not', null))
        .orderBy((by) => by('f.geo_agg', 'is not', null))
        .orderBy('f.id')
        .limit(1)
        .as('first_id'),
    )
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .orderBy((by) => by('s.time_trunc', 'is not', null))
    .orderBy((by) => by('s.geo_agg', 'is not', null))
    .orderBy('s.id')

export type SeriesRow = Awaited<ReturnType<ReturnType<typeof seriesRows>['execute']>>[number]

/** The name of a series in addresses: `600`, or `s12` if another series has the indicator's number. */
export const seriesPath = (row: Pick<SeriesRow, 'id' | 'first_id' | 'indicator_id'>): string =>
  row.id === row.first_id ? String(row.indicator_id) : `s${row.id}`

/** Finds a series by its name in addresses: `600` is the native one of the indicator, `s12` has this id. */
export async function findSeriesByPath({ store }: Pick<PageRequest, 'store'>, name = '') {
  const [, letter, number] = /^(s?)(\d{1,15})$/.exec(name) ?? []
  const series = await seriesRows(store)
    .where((eb) =>
      letter === 's'
        ? eb('s.id', '=', Number(number))
        : eb.and({ 's.kind': ENTRY_ROUTES.series, 's.indicator_id': Number(number ?? -1) }),
    )
    .executeTakeFirst()
  if (!series) throw new NotFound(`series ${name}`, name)
  return series
}

/** Reads every series, in the order of indicators, native ones first. */
export const allSeries = ({ store }: Pick<PageRequest, 'store'>): Promise<SeriesRow[]> => seriesRows(store).execute()

/** Reads names for the headings of series. */
export async function seriesHeads(request: LocaleRequest, rows: readonly SeriesRow[]) {
  const ids = rows.map(({ indicator_id }) => indicator_id)
  const names = await indicatorNames(request, ids)
  return (row: SeriesRow) => ({
    path: seriesPath(row),
    kind: row.kind,
    indicatorId: row.indicator_id,
    name: names.get(`${row.kind} ${row.indicator_id}`) ?? null,
    timeTrunc: row.time_trunc,
    geoAgg: row.geo_agg,
  })
}

export type Heading = ReturnType<Awaited<ReturnType<typeof seriesHeads>>>

/** Reads the words by which each series is found: its number, names and unit, and the names of its geos, in every language. */
async function readSeriesWords(request: SearchRequest, series: readonly SeriesRow[]) {
  const { kysely } = request.store
  const { geos = {}, aliases = {} } = request.service
  const names = await kysely.selectFrom('indicator_text').select(['kind', 'id', 'name']).execute()
  const places = await kysely.selectFrom('series_geo').select(['series_id', 'geo_id']).execute()
  const placeNames = await kysely.selectFrom('geo_text').select(['id', 'name']).execute()
  const units = await seriesUnits(
    request,
    series.map(({ id }) => id),
  )
  const nameWords = Map.groupBy(names, ({ kind, id }) => `${kind} ${id}`)
  const storedNames = Map.groupBy(placeNames, ({ id }) => id)
  const geoIds = Map.groupBy(places, ({ series_id }) => series_id)
  const geoWords = new Map(
    [...new Set(places.map(({ geo_id }) => geo_id))].map((geo) => {
      const stored = (storedNames.get(geo) ?? []).map(({ name }) => name)
      return [geo, { geo, own: toWords([geo, ...stored, ...(geos[geo] ?? [])].join(' ')) }]
    }),
  )
  return (row: SeriesRow) => {
    const { id, kind, indicator_id } = row
    const everyday = kind === ENTRY_ROUTES.series ? (aliases[indicator_id] ?? []) : []
    const stored = (nameWords.get(`${kind} ${indicator_id}`) ?? []).map(({ name }) => name)
    // A unit is one word, so that €/MWh differs from MWh.
    const unit = withoutAccents(units.get(id) ?? '')
    return {
      everyday: toWords(everyday.join(' ')),
      own: [...toWords([indicator_id, seriesPath(row), ...stored, ...everyday].join(' ')), unit],
      unit,
      geos: (geoIds.get(id) ?? []).map(({ geo_id }) => geoWords.get(geo_id)!),
    }
  }
}

const beginsOneOf = (whole: readonly string[]) => (word: string) => whole.some((each) => each.startsWith(word))

/** A series that a text finds. */
interface FoundSeries {
  readonly row: SeriesRow
  /** The geo that the text names. */
  readonly geo: number | null
  /** Whether the text has only everyday names of the series, and possibly a geo. */
  readonly isEveryday: boolean
}

/**
 * Finds the series of which the number, names, unit and geos begin with all words of a text; without any, those that the full-text
 * search finds, else those with most of the words.
 */
export async function findSeries(
  request: SearchRequest,
  series: readonly SeriesRow[],
  text: string,
): Promise<FoundSeries[]> {
  const all = series.map((row): FoundSeries => ({ row, geo: null, isEveryday: false }))
  if (text.trim() === '' || series.length === 0) return all
  const readWords = await readSeriesWords(request, series)
  const candidates = series.map((row) => ({ row, ...readWords(row) }))
  const units = [...new Set(candidates.map(({ unit }) => unit))]
  const parts = withoutAccents(text.trim()).split(/\s+/)
  const words = searchedWords(
    parts.flatMap((part) => (units.some((unit) => unit.startsWith(part)) ? part : toWords(part))),
  )
  if (words.length === 0) return all
  const found = candidates.map(({ row, own, everyday, geos }) => {
    const rest = words.filter((word) => !beginsOneOf(own)(word))
    const named = geos.map((place) => ({ ...place, hits: rest.filter(beginsOneOf(place.own)).length }))
    const best = named.reduce<(typeof named)[number] | null>((a, b) => (b.hits > (a?.hits ?? 0) ? b : a), null)
    const isEveryday = words.every((word) => rest.includes(word) || beginsOneOf(everyday)(word))
    return { row, geo: best?.geo ?? null, hits: words.length - rest.length + (best?.hits ?? 0), isEveryday }
  })
  const most = Math.max(0, ...found.map(({ hits }) => hits))
  const closest = found.filter(({ hits }) => hits === most)
  if (most === words.length) return closest
  const items = await searchItems(request.store, request.service, text, ['catalogue'])
  const hits = new Set(items.map(({ kind, id }) => `${kind} ${id}`))
  const described = found.filter(({ row }) => hits.has(`${row.kind} ${row.indicator_id}`))
  if (described.length > 0) return described
  return most * 2 >= words.length && most > 0 ? closest : []
}

/** Finds series to suggest while a text is typed: that of an exact number first, then common ones, then in their order. */
export async function suggestSeries(request: SearchRequest, text: string): Promise<FoundSeries[]> {
  const rank = ({ row, isEveryday }: FoundSeries): number => {
    if (String(row.indicator_id) === text.trim()) return 0
    return isEveryday ? 1 : 2
  }
  return (await findSeries(request, await allSeries(request), text)).sort((a, b) => rank(a) - rank(b))
}

/** The most series with similar names that are offered. */
const MAX_CANDIDATES = 20

/** Thrown if a name matches several series; they are the `cause`. */
export class AmbiguousSeries extends InputError {
  declare readonly cause: { readonly text: string; readonly candidates: readonly Heading[] }
}

/**
 * Finds the path of a series by number or name, and the geo that the text names; the native series of an indicator goes before its
 * groupings.
 */
export async function findNamedSeries(
  request: SearchRequest,
  text: string,
): Promise<{ readonly path: string; readonly geo: number | null }> {
  if (/^s?\d+$/.test(text)) return { path: text, geo: null }
  const matching = await findSeries(request, await allSeries(request), text)
  const byIndicator = Map.groupBy(matching, ({ row }) => `${row.kind} ${row.indicator_id}`)
  const head = await seriesHeads(
    request,
    matching.map(({ row }) => row),
  )
  const heads = [...byIndicator.values()].map(([first]) => ({ ...head(first!.row), geo: first!.geo }))
  const exact = heads.filter(({ name }) => withoutAccents(name ?? '') === withoutAccents(text))
  const candidates = (exact.length > 0 ? exact : heads).slice(0, MAX_CANDIDATES)
  if (candidates.length === 0) throw new NotFound(`series ${text}`, text)
  if (candidates.length === 1) return candidates[0]!
  const listed = candidates.map(({ path, name }) => `${path} ${name}`).join(', ')
  const details = { hint: 'Use a number.', code: 'ambiguous', cause: { text, candidates } }
  throw new AmbiguousSeries(`${JSON.stringify(text)} matches several series: ${listed}.`, details)
}

/** Reads the stored series of indicators, by their `kind id`. */
export async function readStoredSeries(db: Reader, indicators: readonly { kind: string; id: number }[]) {
  const rows = await seriesRows(db)
    .where('s.kind', 'in', [...new Set(indicators.map(({ kind }) => kind))])
    .where('s.indicator_id', 'in', [...new Set(indicators.map(({ id }) => id))])
    .execute()
  const groups = Map.groupBy(rows, ({ kind, indicator_id }) => `${kind} ${indicator_id}`)
  const link = (row: SeriesRow) => ({ time_trunc: row.time_trunc, geo_agg: row.geo_agg, path: seriesPath(row) })
  return new Map([...groups].map(([key, series]) => [key, series.map(link)]))
}
