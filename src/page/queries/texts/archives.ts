import type { Reader } from '../../../db/store.ts'
import { inLanguage } from '../locale.ts'

/** Editions that one page shows. */
export const EDITIONS = 100

/**
 * Every archive with its editions. There are few archives, and the key of editions begins with them, so that a day of all
 * archives is found without reading the other days.
 */
const archives = ({ kysely }: Reader) => kysely.selectFrom('archive')

/** The nearest day with an edition: the last before a day, or the first after it. */
async function dayBeside(db: Reader, date: string, order: '<' | '<=' | '>'): Promise<string | null> {
  const days = await archives(db)
    .select(({ selectFrom }) =>
      selectFrom('archive_edition as e')
        .whereRef('e.kind', '=', 'archive.kind')
        .whereRef('e.id', '=', 'archive.id')
        .where('e.date', order, date)
        .select('e.date')
        .orderBy('e.date', order === '>' ? 'asc' : 'desc')
        .limit(1)
        .as('date'),
    )
    .execute()
  const sorted = days.flatMap((row) => row.date ?? []).sort()
  return (order === '>' ? sorted[0] : sorted.at(-1)) ?? null
}

/** The names of some archives in the first of some languages that they have. */
async function namesOf({ kysely }: Reader, of: readonly { kind: string; id: number }[], languages: readonly string[]) {
  const texts = await kysely
    .selectFrom('archive_text')
    .select(['kind', 'id', 'locale', 'name', 'description'])
    .where('kind', 'in', [...new Set(of.map(({ kind }) => kind))])
    .where('id', 'in', [...new Set(of.map(({ id }) => id))])
    .orderBy('locale')
    .execute()
  const groups = Map.groupBy(texts, ({ kind, id }) => `${kind} ${id}`)
  return (kind: string, id: number) => inLanguage(groups.get(`${kind} ${id}`) ?? [], languages)
}

const COLUMNS = ['e.kind', 'e.id', 'e.date', 'e.date_times', 'e.publication_dates', 'f.path', 'f.bytes'] as const

/** The first and last day, from a JSON array of none, one or two. */
function firstAndLast(json: string): { from: string | null; to: string | null } {
  const days = JSON.parse(json) as string[]
  return { from: days[0] ?? null, to: days.at(-1) ?? null }
}

/** The editions of a day, else of the last day that has any; with the nearest days before and after. */
export async function readArchives(db: Reader, asked: string | null, languages: readonly string[]) {
  const date = asked ?? (await dayBeside(db, '9999-12-31', '<='))
  if (date === null) return { date, before: null, after: null, editions: [], more: false }
  const rows = await archives(db)
    .innerJoin('archive_edition as e', (on) => on.onRef('e.kind', '=', 'archive.kind').onRef('e.id', '=', 'archive.id'))
    .leftJoin('archive_file as f', 'f.url', 'e.url')
    .where('e.date', '=', date)
    .select(COLUMNS)
    .select(['archive.archive_type', 'archive.horizon'])
    .orderBy('archive.kind')
    .orderBy('archive.id')
    .limit(EDITIONS + 1)
    .execute()
  const shown = rows.slice(0, EDITIONS)
  const nameOf = await namesOf(db, shown, languages)
  return {
    date,
    before: await dayBeside(db, date, '<'),
    after: await dayBeside(db, date, '>'),
    editions: shown.map(({ date_times, publication_dates, ...row }) => {
      const text = nameOf(row.kind, row.id)
      return {
        ...row,
        name: text?.name ?? null,
        locale: text?.locale ?? null,
        about: firstAndLast(date_times),
        published: firstAndLast(publication_dates),
      }
    }),
    more: rows.length > EDITIONS,
  }
}

/** One archive with its texts and its latest editions, or those before a day; null when there is none. */
export async function readArchive(
  db: Reader,
  kind: string,
  id: number,
  before: string | null,
  languages: readonly string[],
) {
  const archive = await archives(db)
    .selectAll()
    .where('archive.kind', '=', kind)
    .where('archive.id', '=', id)
    .executeTakeFirst()
  if (!archive) return null
  const rows = await db.kysely
    .selectFrom('archive_edition as e')
    .leftJoin('archive_file as f', 'f.url', 'e.url')
    .where('e.kind', '=', kind)
    .where('e.id', '=', id)
    .$if(before !== null, (of) => of.where('e.date', '<', before!))
    .select(COLUMNS)
    .orderBy('e.date', 'desc')
    .limit(EDITIONS + 1)
    .execute()
  const text = (await namesOf(db, [archive], languages))(kind, id)
  return {
    archive,
    name: text?.name ?? null,
    description: text?.description ?? null,
    locale: text?.locale ?? null,
    editions: rows.slice(0, EDITIONS).map(({ date_times, publication_dates, ...row }) => ({
      ...row,
      about: firstAndLast(date_times),
      published: firstAndLast(publication_dates),
    })),
    older: rows.length > EDITIONS ? rows[EDITIONS - 1]!.date : null,
  }
}
