import { storedKinds } from '../../../db/queries/catalogueNames.ts'
import { contentKinds } from '../../../service/routes.ts'
import type { PageRequest } from '../../page.ts'
import { inLanguage } from '../locale.ts'

/** Texts that one page lists. */
const TEXTS_A_PAGE = 50

/** Letters of a summary in a list. */
const SUMMARY = 200

/** The kinds of content that the page shows, each with its route: those of the service, the last declared first, and others that are held. */
async function kindsOf({ store, service: { routes } }: Pick<PageRequest, 'store' | 'service'>) {
  const known = new Map([...contentKinds(routes)].reverse())
  for (const kind of await storedKinds(store, 'content')) if (!known.has(kind)) known.set(kind, kind)
  return known
}

/** One page of the items of a kind, the latest first where they have a date; from 1. Without such a kind: the first one. */
export async function readTexts(
  request: Pick<PageRequest, 'store' | 'service' | 'languages'>,
  wanted: string | null,
  page: number,
) {
  const { kysely } = request.store
  const kinds = await kindsOf(request)
  const kind = wanted !== null && kinds.has(wanted) ? wanted : ([...kinds.keys()][0] ?? '')
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
    kinds: [...kinds.keys()],
    kind,
    /** By which a job names it. */
    route: kinds.get(kind) ?? null,
    page,
    texts: shown.map((item) => {
      const text = inLanguage(groups.get(item.id) ?? [], request.languages)
      return {
        ...item,
        title: text?.title ?? null,
        locale: text?.locale ?? null,
        languages: groups.get(item.id)?.length ?? 0,
        summary: text?.summary || text?.begins || null,
        superseded: changed.find(({ id }) => id === item.id)?.versions ?? 0,
      }
    }),
    more: items.length > TEXTS_A_PAGE,
  }
}
