import { readUnjudged } from '../../db/queries/seriesLookup.ts'
import type { Reader } from '../../db/store.ts'
import { JUDGEMENT } from '../../judge/version.ts'
import { quantity } from '../../util/text.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'

/** Reads the series with coverage that this version has not judged. */
async function readCovered({ kysely }: Reader): Promise<number[]> {
  const rows = await kysely.selectFrom('_coverage').select('series_id').distinct().execute()
  return rows.map(({ series_id }) => series_id)
}

/** Finds series that this version has not judged: an earlier one loaded them, so nothing is known to be missing of them. */
async function findUnjudged(db: Reader): Promise<Trouble[]> {
  const judged = await db.kysely.selectFrom('_judged').select('rules').executeTakeFirst()
  const seriesIds = judged?.rules === JUDGEMENT ? await readUnjudged(db) : await readCovered(db)
  if (seriesIds.length === 0) return []
  return [{ kind: 'not judged', series: seriesIds.length, sinceAt: null, jobIds: [], seriesIds, cause: null }]
}

/** An earlier version judged series, so what they lack is not known. */
export const notJudged: KindRules<'not judged'> = {
  find: findUnjudged,
  subject: () => 'database',
  geoIds: null,
  message: ({ series }) =>
    `${quantity(series, 'series is', 'series are')} not judged by this version: what they lack is not known. The next sync judges them`,
  command: () => 'migrate',
}
