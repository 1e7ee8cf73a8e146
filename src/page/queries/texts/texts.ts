import { heldKinds } from '../../../db/queries/kinds.ts'
import type { Reader } from '../../../db/store.ts'
import { CONTENT_KINDS } from '../../../services/routes.ts'
import { inLanguage } from '../locale.ts'

/** Texts that one page lists. */
const TEXTS_A_PAGE = 50

/** Letters of a summary in a list. */
const SUMMARY = 200

/** The kinds of content that the page shows: those of the specification, news first, and others that are held. */
async function kindsOf(db: Reader): Promise<string[]> {
  return [...new Set([...[...CONTENT_KINDS.keys()].reverse(), ...(await heldKinds(db, 'content'))])]
}

/** One page of the items of a kind, the latest first where they have a date; from 1. Without such a kind: the first one. */
export async function readTexts(db: Reader, wanted: string | null, page: number, locale: string) {
  const { kysely } = db
  const kinds = await kindsOf(db)
  const kind = kinds.find((one) => one === wanted) ?? kinds[0]!
  const items = await kysely
    .selectFrom('content as c')
    .select(['c.id', 'c.published_at', 'c.updated_at', 'c.withdrawn_at', 'c.sticky'])
    .where('c.kind', '=', kind)
    .orderBy('c.published_at', (order) => order.desc().nullsLast())
    .orderBy('c.id')
    .limit(TEXTS_A_PAGE + 1)
    .offset((page - 1) * TEXTS_A_PAGE)
    .execute()
  const shown = items.slice(0, TEXTS_A_PAGE)
  const ids = shown.map(({ id }) => id)
  const texts = await kysely
    .selectFrom('content_text as t')
    .select(['t.id', 't.locale', 't.title', 't.summary'])
    .select(({ fn, val }) => fn<string | null>('substr', ['t.body_text', val(1), val(SUMMARY)]).as('begins'))
    .where('t.kind', '=', kind)
    .where('t.id', 'in', ids)
    .orderBy('t.locale')
    .execute()
  const changed = await kysely
    .selectFrom('content_revision')
    .select('id')
    .select(({ fn }) => fn.countAll<number>().as('versions'))
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .groupBy('id')
    .execute()
  const groups = Map.groupBy(texts, ({ id }) => id)
  return {
    kinds,
    kind,
    page,
    texts: shown.map((item) => {
      const text = inLanguage(groups.get(item.id) ?? [], locale)
      return {
        ...item,
        ...{ title: text?.title ?? null, locale: text?.locale ?? null, languages: groups.get(item.id)?.length ?? 0 },
        summary: text?.summary || text?.begins || null,
        superseded: changed.find(({ id }) => id === item.id)?.versions ?? 0,
      }
    }),
    more: items.length > TEXTS_A_PAGE,
  }
}
