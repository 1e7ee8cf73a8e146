import { storedKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { floorToSecond } from '../../util/time/instant.ts'
import { localDate } from '../../util/time/zone.ts'
import type { PageRequest } from '../page.ts'
import { inLanguage } from './locale.ts'
import { heldSeriesOf } from './search.ts'

/** Indicators that one page shows. */
const INDICATORS_A_PAGE = 40

/** A query of the catalogue. */
export interface CatalogueQuestion {
  /** Words to look for; all indicators when empty. */
  readonly text: string
  /** Only those of which values are held, or only the others. */
  readonly held: 'all' | 'held' | 'other'
  /** From 1. */
  readonly page: number
  readonly locale: string
}

interface Key {
  readonly kind: string
  readonly id: number
}

/** The indicators of a question in order: by number, or as the search ranks them. */
async function readKeys(db: Reader, { text, held, page }: CatalogueQuestion): Promise<Key[]> {
  const { kysely, engine } = db
  const from = (page - 1) * INDICATORS_A_PAGE
  if (/[\p{L}\p{N}]/u.test(text)) {
    const found = await engine.search(text, await storedKinds(db, 'indicator'))
    if (held === 'all') return found.slice(from, from + INDICATORS_A_PAGE + 1)
    const rows = await kysely
      .selectFrom('series as s')
      .innerJoin('series_geo as g', 'g.series_id', 's.id')
      .select(['s.kind', 's.indicator_id'])
      .distinct()
      .execute()
    const ours = new Set(rows.map(({ kind, indicator_id }) => `${kind} ${indicator_id}`))
    return found
      .filter(({ kind, id }) => ours.has(`${kind} ${id}`) === (held === 'held'))
      .slice(from, from + INDICATORS_A_PAGE + 1)
  }
  return kysely
    .selectFrom('indicator as i')
    .select(['i.kind', 'i.id'])
    .$if(held !== 'all', (of) =>
      of.where(({ exists, not, selectFrom }) => {
        const any = exists(
          selectFrom('series as s')
            .innerJoin('series_geo as g', 'g.series_id', 's.id')
            .select('s.id')
            .whereRef('s.kind', '=', 'i.kind')
            .whereRef('s.indicator_id', '=', 'i.id'),
        )
        return held === 'held' ? any : not(any)
      }),
    )
    .orderBy('i.kind')
    .orderBy('i.id')
    .limit(INDICATORS_A_PAGE + 1)
    .offset(from)
    .execute()
}

/** One page of the catalogue: each indicator with its texts in a language, and what is held of it. */
export async function readIndicators(
  { store: db, languages }: Pick<PageRequest, 'store' | 'languages'>,
  question: CatalogueQuestion,
) {
  const keys = await readKeys(db, question)
  const shown = keys.slice(0, INDICATORS_A_PAGE)
  const kinds = [...new Set(shown.map(({ kind }) => kind))]
  const ids = [...new Set(shown.map(({ id }) => id))]
  const facts = await db.kysely
    .selectFrom('indicator')
    .select(['kind', 'id', 'magnitude', 'withdrawn_at'])
    .where('kind', 'in', kinds)
    .where('id', 'in', ids)
    .execute()
  const texts = await db.kysely
    .selectFrom('indicator_text')
    .select(['kind', 'id', 'locale', 'name', 'short_name'])
    .where('kind', 'in', kinds)
    .where('id', 'in', ids)
    .orderBy('locale')
    .execute()
  const held = await db.kysely
    .selectFrom('freshness as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select(['f.kind', 'f.indicator_id', 'f.geo_id', 'f.first_utc', 'f.last_utc', 's.time_zone'])
    .where('f.kind', 'in', kinds)
    .where('f.indicator_id', 'in', ids)
    .execute()
  const series = await heldSeriesOf(db, shown)
  const indicators = shown.map(({ kind, id }) => {
    const text = inLanguage(
      texts.filter((row) => row.kind === kind && row.id === id),
      languages,
    )
    const own = held.filter((row) => row.kind === kind && row.indicator_id === id)
    const fact = facts.find((row) => row.kind === kind && row.id === id)
    return {
      kind,
      id,
      name: text?.name ?? null,
      short_name: text?.short_name ?? null,
      locale: text?.locale ?? null,
      unit: fact?.magnitude ?? null,
      withdrawn_at: fact?.withdrawn_at ?? null,
      series: series.get(`${kind} ${id}`) ?? [],
      geos: new Set(own.map(({ geo_id }) => geo_id)).size,
      // Local days, as everywhere on the page.
      first_date: own.map(({ time_zone, first_utc }) => dateIn(time_zone, first_utc)).sort()[0] ?? null,
      last_date:
        own
          .map(({ time_zone, last_utc }) => dateIn(time_zone, last_utc))
          .sort()
          .at(-1) ?? null,
      job: jobLine(kind, id),
    }
  })
  return { ...question, indicators, more: keys.length > INDICATORS_A_PAGE }
}

/** The local day of a moment (UTC, ISO 8601). */
const dateIn = (zone: string, moment: string): string => localDate(zone, floorToSecond(moment))

/** The line of a job that fetches an indicator from now on. */
function jobLine(kind: string, id: number): string {
  const isOffer = kind === ENTRY_ROUTES.offers
  const route = isOffer || kind === ENTRY_ROUTES.series ? '' : `route: ${kind}, `
  return `${isOffer ? 'offers' : 'series'}: [{ ${route}indicators: [${id}], window: { last: 30d } }]`
}
