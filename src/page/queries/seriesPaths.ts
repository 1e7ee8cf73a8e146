import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { NotFound, type PageRequest } from '../page.ts'

/** Every series with its name in addresses: the native series of an indicator (else its first one) has the indicator's number. */
const seriesRows = ({ store }: Pick<PageRequest, 'store'>) =>
  store.kysely
    .selectFrom('series as s')
    .selectAll('s')
    .select((of) =>
      of
        .selectFrom('series as f')
        .select('f.id')
        .where('f.kind', '=', ENTRY_ROUTES.series)
        .whereRef('f.indicator_id', '=', 's.indicator_id')
        .orderBy((by) => by.case().when('f.time_trunc', 'is', null).then(0).else(1).end())
        .orderBy((by) => by.case().when('f.geo_agg', 'is', null).then(0).else(1).end())
        .orderBy('f.id')
        .limit(1)
        .as('first_id'),
    )

export type SeriesRow = Awaited<ReturnType<ReturnType<typeof seriesRows>['execute']>>[number]

/** The name of a series in addresses: `600`, or `s12` where another series has the indicator's number. */
export const seriesPath = ({
  id,
  first_id,
  indicator_id,
}: Pick<SeriesRow, 'id' | 'first_id' | 'indicator_id'>): string => (id === first_id ? String(indicator_id) : `s${id}`)

/** The series that an address names: `600` is the native one of the indicator, `s12` the one with this number. */
export async function findSeriesByPath(
  request: Pick<PageRequest, 'store'>,
  name: string | undefined,
): Promise<SeriesRow> {
  const [, own, number] = /^(s?)(\d{1,15})$/.exec(name ?? '') ?? []
  if (number === undefined) throw new NotFound(`series ${name}`)
  const all = seriesRows(request)
  const found =
    own === 's'
      ? await all.where('s.id', '=', Number(number)).executeTakeFirst()
      : (
          await all.where('s.kind', '=', ENTRY_ROUTES.series).where('s.indicator_id', '=', Number(number)).execute()
        ).find(({ id, first_id }) => id === first_id)
  if (!found) throw new NotFound(`series ${name}`)
  return found
}

/** Every series, in the order of their indicators, of each the native one first: numbers are given as the first answers come. */
export const allSeries = (request: Pick<PageRequest, 'store'>): Promise<SeriesRow[]> =>
  seriesRows(request)
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .orderBy((by) => by.case().when('s.time_trunc', 'is', null).then(0).else(1).end())
    .orderBy((by) => by.case().when('s.geo_agg', 'is', null).then(0).else(1).end())
    .orderBy('s.id')
    .execute()

/** The heading of a series in a list. */
export const seriesHead = (row: SeriesRow, names: ReadonlyMap<string, string>) => ({
  path: seriesPath(row),
  kind: row.kind,
  indicatorId: row.indicator_id,
  name: names.get(`${row.kind} ${row.indicator_id}`) ?? null,
  timeTrunc: row.time_trunc,
  geoAgg: row.geo_agg,
})
