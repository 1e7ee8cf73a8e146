import type { Reader } from '../../../db/store.ts'
import { inLanguage } from '../locale.ts'

/** Texts that one page lists. */
export const TEXTS = 50

/** Kinds of editorial content, in the order in which they are read. */
export const CONTENT_KINDS = ['news', 'glossary', 'documentation', 'static_page'] as const
export type ContentKind = (typeof CONTENT_KINDS)[number]

/** Letters of a summary in a list. */
const SUMMARY = 200

/** One page of the items of a kind, the latest first where they have a date; from 1. */
export async function readTexts({ kysely }: Reader, kind: ContentKind, page: number, locale: string) {
  const items = await kysely
    .selectFrom('content as c')
    .select(['c.id', 'c.published_at', 'c.updated_at', 'c.withdrawn_at', 'c.sticky'])
    .where('c.kind', '=', kind)
    .orderBy('c.published_at', (order) => order.desc().nullsLast())
    .orderBy('c.id')
    .limit(TEXTS + 1)
    .offset((page - 1) * TEXTS)
    .execute()
  const shown = items.slice(0, TEXTS)
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
    more: items.length > TEXTS,
  }
}
