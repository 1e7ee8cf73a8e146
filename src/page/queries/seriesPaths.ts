import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { hasWords, toWords } from '../../job/select.ts'
import { searchItems } from '../../reports/searchItems.ts'
import { InputError } from '../../util/errors.ts'
import { withoutAccents } from '../../util/text.ts'
import { NotFound, type PageRequest } from '../page.ts'
import { indicatorNames, type LocaleRequest } from './names.ts'

/** Every series with its name in addresses: the native series of an indicator (else its first one) has the indicator's number. */
const seriesRows = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .selectAll('s')
    .select((of) =>
      of
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

/** The name of a series in addresses: `600`, or `s12` where another series has the indicator's number. */
export const seriesPath = (row: Pick<SeriesRow, 'id' | 'first_id' | 'indicator_id'>): string =>
  row.id === row.first_id ? String(row.indicator_id) : `s${row.id}`

/** The series that an address names: `600` is the native one of the indicator, `s12` the one with this number. */
export async function findSeriesByPath({ store }: Pick<PageRequest, 'store'>, name: string | undefined) {
  const [, own, number] = /^(s?)(\d{1,15})$/.exec(name ?? '') ?? []
  const rows = seriesRows(store)
  const found = !number
    ? []
    : own === 's'
      ? await rows.where('s.id', '=', Number(number)).execute()
      : await rows.where('s.kind', '=', ENTRY_ROUTES.series).where('s.indicator_id', '=', Number(number)).execute()
  const series = found.find(({ id, first_id }) => own === 's' || id === first_id)
  if (!series) throw new NotFound(`series ${name}`)
  return series
}

/** Every series, in the order of their indicators, of each the native one first: numbers are given as the first answers come. */
export const allSeries = ({ store }: Pick<PageRequest, 'store'>): Promise<SeriesRow[]> => seriesRows(store).execute()

/** The headings of some series in lists, with the names of their indicators. */
export async function seriesHeads(request: LocaleRequest, rows: readonly SeriesRow[]) {
  const names = await indicatorNames(
    request,
    rows.map(({ indicator_id }) => indicator_id),
  )
  return (row: SeriesRow) => ({
    path: seriesPath(row),
    kind: row.kind,
    indicatorId: row.indicator_id,
    name: names.get(`${row.kind} ${row.indicator_id}`) ?? null,
    timeTrunc: row.time_trunc,
    geoAgg: row.geo_agg,
  })
}

/** The heading of a series in a list. */
export type SeriesHead = ReturnType<Awaited<ReturnType<typeof seriesHeads>>>

/** The series whose number and name have words that begin with those of a text; if there are none, those that the search finds. */
export async function matchingSeries(request: LocaleRequest, all: readonly SeriesRow[], text: string) {
  const words = toWords(text)
  const head = await seriesHeads(request, all)
  const named = all.filter((row) => hasWords([`${row.indicator_id} ${head(row).name ?? ''}`], words))
  if (named.length > 0 || words.length === 0) return named
  const found = new Set((await searchItems(request.store, text, ['catalogue'])).map(({ kind, id }) => `${kind} ${id}`))
  return all.filter(({ kind, indicator_id }) => found.has(`${kind} ${indicator_id}`))
}

/** How many series with similar names are offered. */
const MOST_CANDIDATES = 20

/** Thrown if a name matches several series; they are the `cause`. */
export class AmbiguousSeries extends InputError {
  declare readonly cause: { readonly text: string; readonly candidates: readonly SeriesHead[] }
}

/** The path of the series that a number or name means; the native series of an indicator goes before its groupings. */
export async function findSeriesPath(request: LocaleRequest, text: string): Promise<string> {
  if (/^s?\d+$/.test(text)) return text
  const all = await allSeries(request)
  const matching = (await matchingSeries(request, all, text)).map(await seriesHeads(request, all))
  const byIndicator = Map.groupBy(matching, ({ kind, indicatorId }) => `${kind} ${indicatorId}`)
  const heads = [...byIndicator.values()].map(([one]) => one!)
  const exact = heads.filter(({ name }) => withoutAccents(name ?? '') === withoutAccents(text))
  const candidates = (exact.length > 0 ? exact : heads).slice(0, MOST_CANDIDATES)
  if (candidates.length === 0) throw new NotFound(`series ${text}`)
  if (candidates.length === 1) return candidates[0]!.path
  const listed = candidates.map(({ path, name }) => `${path} ${name}`).join(', ')
  const details = { hint: 'Use a number.', code: 'ambiguous', cause: { text, candidates } }
  throw new AmbiguousSeries(`${JSON.stringify(text)} matches several series: ${listed}.`, details)
}

/** The held series of some indicators, by kind and number of the indicator, each with its name in addresses. */
export async function heldSeriesOf(db: Reader, of: readonly { kind: string; id: number }[]) {
  const rows = await seriesRows(db)
    .where('s.kind', 'in', [...new Set(of.map(({ kind }) => kind))])
    .where('s.indicator_id', 'in', [...new Set(of.map(({ id }) => id))])
    .execute()
  const groups = Map.groupBy(rows, ({ kind, indicator_id }) => `${kind} ${indicator_id}`)
  const held = (row: SeriesRow) => ({ time_trunc: row.time_trunc, geo_agg: row.geo_agg, path: seriesPath(row) })
  return new Map([...groups].map(([key, series]) => [key, series.map(held)]))
}
