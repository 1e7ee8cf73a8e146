import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Recipe } from './recipe.ts'

/** Selects series by what recipes need to know of them. */
export const selectSeries = ({ kysely }: Reader) =>
  kysely.selectFrom('series as s').select(['s.id', 's.indicator_id as indicatorId', 's.time_zone as zone'])

/** Reads the ids in a parameter: a number, or several separated by commas. */
export const parseIds = (parameter: string | number | bigint): number[] => [
  ...new Set(String(parameter).split(',').map(Number)),
]

/** Selects the native series of indicators that have values. */
export const selectNativeSeries = (db: Reader, ids: readonly number[]) =>
  selectSeries(db)
    .where('s.kind', '=', ENTRY_ROUTES.series)
    .where('s.indicator_id', 'in', ids)
    .where('s.time_trunc', 'is', null)
    .where('s.geo_agg', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('series_geo as g').select('g.geo_id').whereRef('g.series_id', '=', 's.id')),
    )

/** The line of a job that fetches the native series of indicators. */
export const jobLine = (ids: readonly number[]): string =>
  `series: [{ indicators: [${ids.join(', ')}], window: { last: 30d } }]`

/** Finds the indicators that a recipe needs and that are not stored, in order. A parameter that is not a list of ids needs none. */
export async function findLacking(
  db: Reader,
  { needs }: Pick<Recipe, 'needs'>,
  parameters: Readonly<Record<string, string | number | null | undefined>>,
): Promise<number[]> {
  const needed = needs
    .filter(({ series }) => series === undefined || !parameters[series])
    .map(({ indicator }) => String(parameters[indicator] ?? ''))
    .filter((text) => /^\d+(\s*,\s*\d+)*$/.test(text))
  const ids = [...new Set(needed.flatMap(parseIds))]
  if (ids.length === 0) return []
  const stored = new Set((await selectNativeSeries(db, ids).execute()).map(({ indicatorId }) => indicatorId))
  return ids.filter((id) => !stored.has(id))
}
