import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
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

/** The series whose number or name has a text in it, without accents and capitals. */
export async function matchingSeries(request: LocaleRequest, all: readonly SeriesRow[], text: string) {
  const wanted = withoutAccents(text.trim())
  if (wanted === '') return all
  const head = await seriesHeads(request, all)
  return all.filter((row) => withoutAccents(`${row.indicator_id} ${head(row).name ?? ''}`).includes(wanted))
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
