import { storedKinds } from '../../../db/queries/catalogueNames.ts'
import type { Reader } from '../../../db/store.ts'
import { difference, type Piece } from '../../difference.ts'
import { inLanguage } from '../locale.ts'
import { heldSeriesOf } from '../search.ts'

/** Versions that one page lists. */
const MOST_VERSIONS = 100
/** Letters of a text that one page shows. */
const LETTERS_SHOWN = 20_000

/** One version of a text: its title, its summary and its body as HTML. */
interface ShownVersion {
  /** The fetch that brought it. */
  readonly fetch: number
  /** UTC, to the millisecond; null when the fetch is not known any more. */
  readonly from: string | null
  readonly to: string | null
  readonly title: string | null
  readonly summary: string | null
  readonly html: string | null
}

/** What has texts with versions: content of any kind, and indicators. */
type About = 'content' | 'indicator'

const aboutOf = async (db: Reader, kind: string): Promise<About> =>
  (await storedKinds(db, 'indicator')).includes(kind) ? 'indicator' : 'content'

/** The languages in which something has texts. */
async function localesOf({ kysely }: Reader, about: About, kind: string, id: number): Promise<{ locale: string }[]> {
  return kysely
    .selectFrom(`${about}_text` as const)
    .select('locale')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .orderBy('locale')
    .execute()
}

/** The versions of a text, the latest first. */
async function versionsOf(
  { kysely }: Reader,
  about: About,
  kind: string,
  id: number,
  locale: string,
): Promise<ShownVersion[]> {
  const select = (table: 'content_text' | 'content_revision') =>
    kysely.selectFrom(table).where('kind', '=', kind).where('id', '=', id).where('locale', '=', locale)
  const selectNames = (table: 'indicator_text' | 'indicator_revision') =>
    kysely.selectFrom(table).where('kind', '=', kind).where('id', '=', id).where('locale', '=', locale)
  const rows =
    about === 'content'
      ? [
          ...(await select('content_text').select(['fetch_id as fetch', 'title', 'summary', 'body as html']).execute()),
          ...(await select('content_revision')
            .select(['fetch_id as fetch', 'title', 'summary', 'body as html'])
            .orderBy('fetch_id', 'desc')
            .limit(MOST_VERSIONS)
            .execute()),
        ]
      : [
          ...(await selectNames('indicator_text')
            .select(['fetch_id as fetch', 'name as title', 'short_name as summary', 'description as html'])
            .execute()),
          ...(await selectNames('indicator_revision')
            .select(['fetch_id as fetch', 'name as title', 'short_name as summary', 'description as html'])
            .orderBy('fetch_id', 'desc')
            .limit(MOST_VERSIONS)
            .execute()),
        ]
  const moments = await kysely
    .selectFrom('_fetch')
    .select(['id', 'finished_at'])
    .where(
      'id',
      'in',
      rows.map(({ fetch }) => fetch),
    )
    .execute()
  const momentOf = (fetch: number | undefined) => moments.find((one) => one.id === fetch)?.finished_at ?? null
  // Each version ends where the next one begins.
  return rows.map((row, i) => ({
    ...row,
    from: momentOf(row.fetch),
    to: i === 0 ? null : momentOf(rows[i - 1]!.fetch),
  }))
}

/** What changed between two versions, part by part; parts that are equal are left out. */
interface TextChange {
  readonly title: Piece[] | null
  readonly summary: Piece[] | null
  readonly text: Piece[] | null
}

/**
 * A text in a language with all its versions: the requested version, else the current one, and how it differs from the version
 * before it, or from another one; null when there is no such text.
 */
export async function readTextPage(
  db: Reader,
  kind: string,
  id: number,
  wanted: { readonly languages: readonly string[]; readonly version: number | null; readonly against: number | null },
) {
  const about = await aboutOf(db, kind)
  const locales = await localesOf(db, about, kind, id)
  const locale = inLanguage(locales, wanted.languages)?.locale
  if (locale === undefined) return null
  const versions = await versionsOf(db, about, kind, id, locale)
  const place = wanted.version === null ? 0 : versions.findIndex(({ fetch }) => fetch === wanted.version)
  const shown = versions[place]
  if (!shown) return null
  const other = versions.find(({ fetch }) => fetch === wanted.against) ?? versions[place + 1]
  // The converter is loaded only when a text is shown.
  const { plainText } = await import('../../../transform/plain.ts')
  const plain = (html: string | null): string => (html === null ? '' : plainText(html)).slice(0, LETTERS_SHOWN + 1)
  const between = (before: string | null, after: string | null): Piece[] | null =>
    (before ?? '') === (after ?? '') ? null : difference(before ?? '', after ?? '')
  const text = plain(shown.html)
  const change: TextChange | null = other
    ? {
        title: between(other.title, shown.title),
        summary: between(other.summary, shown.summary),
        text: between(plain(other.html), text),
      }
    : null
  const { html: _, ...head } = shown
  return {
    kind,
    id,
    locale,
    locales: locales.map((one) => one.locale),
    facts: await factsOf(db, about, kind, id),
    current: place === 0,
    ...head,
    text: text.slice(0, LETTERS_SHOWN),
    cut: text.length > LETTERS_SHOWN,
    whole: wholeText(about, kind, id, locale),
    versions: versions.map(({ html: __, summary: ___, ...version }) => version),
    against: other?.fetch ?? null,
    change,
  }
}

/** The SQL question by which a terminal shows the whole text, however long. */
function wholeText(about: About, kind: string, id: number, locale: string): string {
  const [table, column] = about === 'content' ? ['content_text', 'body_text'] : ['indicator_text', 'description_text']
  return `query "select ${column} from ${table} where kind = '${kind}' and id = ${id} and locale = '${locale}'" --format csv`
}

/** Facts about an item apart from its texts; dates as they came. */
async function factsOf(db: Reader, about: About, kind: string, id: number) {
  const { kysely } = db
  const none = { published_at: null, updated_at: null, expires_at: null, unit: null, series: [] }
  if (about === 'content') {
    const item = await kysely
      .selectFrom('content')
      .select(['published_at', 'updated_at', 'expires_at', 'first_seen_at', 'withdrawn_at'])
      .where('kind', '=', kind)
      .where('id', '=', id)
      .executeTakeFirst()
    return { ...none, first_seen_at: null, withdrawn_at: null, ...item }
  }
  const item = await kysely
    .selectFrom('indicator')
    .select(['magnitude as unit', 'first_seen_at', 'withdrawn_at'])
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst()
  const series = (await heldSeriesOf(db, [{ kind, id }])).get(`${kind} ${id}`) ?? []
  return { ...none, first_seen_at: null, withdrawn_at: null, ...item, series }
}
