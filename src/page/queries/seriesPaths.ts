import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { hasWords, toWords } from '../../job/select.ts'
import { searchItems } from '../../reports/searchItems.ts'
import { InputError } from '../../util/errors.ts'
import { withoutAccents } from '../../util/text.ts'
import { NotFound, type PageRequest } from '../page.ts'
import { indicatorNames, type LocaleRequest } from './names.ts'

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
  if (!series) throw new NotFound(`series ${name}`)
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

export type SeriesHead = ReturnType<Awaited<ReturnType<typeof seriesHeads>>>

/** Filters series by the beginnings of words of their number and name; without a match, by the full-text search. */
export async function matchingSeries(request: LocaleRequest, series: readonly SeriesRow[], text: string) {
  const words = toWords(text)
  const head = await seriesHeads(request, series)
  const named = series.filter((row) => hasWords([`${row.indicator_id} ${head(row).name ?? ''}`], words))
  if (named.length > 0 || words.length === 0) return named
  const hits = new Set((await searchItems(request.store, text, ['catalogue'])).map(({ kind, id }) => `${kind} ${id}`))
  return series.filter(({ kind, indicator_id }) => hits.has(`${kind} ${indicator_id}`))
}

/** The most series with similar names that are offered. */
const MAX_CANDIDATES = 20

/** Thrown if a name matches several series; they are the `cause`. */
export class AmbiguousSeries extends InputError {
  declare readonly cause: { readonly text: string; readonly candidates: readonly SeriesHead[] }
}

/** Finds the path of a series by number or name; the native series of an indicator goes before its groupings. */
export async function findSeriesPath(request: LocaleRequest, text: string): Promise<string> {
  if (/^s?\d+$/.test(text)) return text
  const matching = await matchingSeries(request, await allSeries(request), text)
  const byIndicator = Map.groupBy(matching, ({ kind, indicator_id }) => `${kind} ${indicator_id}`)
  const heads = [...byIndicator.values()].map(([first]) => first!).map(await seriesHeads(request, matching))
  const exact = heads.filter(({ name }) => withoutAccents(name ?? '') === withoutAccents(text))
  const candidates = (exact.length > 0 ? exact : heads).slice(0, MAX_CANDIDATES)
  if (candidates.length === 0) throw new NotFound(`series ${text}`)
  if (candidates.length === 1) return candidates[0]!.path
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
