import type { Reader } from '../../db/store.ts'
import { command, commandLine, facts, lines, olderPager, pager, serviceText, table, timeElement } from '../elements.ts'
import { countText } from '../formats.ts'
import { type Html, html } from '../html.ts'
import { dayAfter, dayIn, type PageRequest, view, wholeNumber } from '../page.ts'
import { inLanguage } from '../queries/names.ts'

/** Editions on one page. */
const EDITIONS = 100

/** Finds the nearest day with an edition, by the key of editions, which begins with the archive. */
async function findDay({ kysely }: Reader, date: string, order: '<' | '<=' | '>'): Promise<string | null> {
  const days = await kysely
    .selectFrom('archive')
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

/** Reads the texts of archives in one language each. */
async function readArchiveTexts({ store, languages }: PageRequest, archives: readonly { kind: string; id: number }[]) {
  const texts = await store.kysely
    .selectFrom('archive_text')
    .select(['kind', 'id', 'locale', 'name', 'description'])
    .where('kind', 'in', [...new Set(archives.map(({ kind }) => kind))])
    .where('id', 'in', [...new Set(archives.map(({ id }) => id))])
    .orderBy('locale')
    .execute()
  return (archive: { kind: string; id: number }) => {
    const versions = texts.filter(({ kind, id }) => kind === archive.kind && id === archive.id)
    const { name = null, locale = null, description = null } = inLanguage(versions, languages) ?? {}
    return { name, locale, description }
  }
}

const COLUMNS = ['e.kind', 'e.id', 'e.date', 'e.date_times', 'e.publication_dates', 'f.path', 'f.bytes'] as const

/** An edition with the first and last day that it covers and on which it was published: JSON arrays of none, one or two. */
function edition<Row extends { date_times: string; publication_dates: string }>(row: Row) {
  const { date_times, publication_dates, ...rest } = row
  const ends = (json: string) => {
    const days = JSON.parse(json) as string[]
    return { from: days[0] ?? null, to: days.at(-1) ?? null }
  }
  return { ...rest, about: ends(date_times), published: ends(publication_dates) }
}

/** Reads the editions of a day, by default the last one, and the nearest days with editions. */
async function readArchives(request: PageRequest) {
  const { store } = request
  const date = dayIn(request.query, 'date') ?? (await findDay(store, '9999-12-31', '<='))
  if (date === null) return { date, before: null, after: null, editions: [], more: false }
  const rows = await store.kysely
    .selectFrom('archive')
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
  const findTexts = await readArchiveTexts(request, shown)
  return {
    date,
    before: await findDay(store, date, '<'),
    after: await findDay(store, date, '>'),
    editions: shown.map((row) => {
      const { name, locale } = findTexts(row)
      return { ...edition(row), name, locale }
    }),
    more: rows.length > EDITIONS,
  }
}

/** Reads an archive with its texts and its latest editions, or those before a day. */
async function readArchive(request: PageRequest) {
  const { store, params } = request
  const { kind = '' } = params
  const id = wholeNumber(params.id)
  const before = dayIn(request.query, 'before')
  if (id === null) return null
  const archive = await store.kysely
    .selectFrom('archive')
    .selectAll()
    .where((eb) => eb.and({ kind, id }))
    .executeTakeFirst()
  if (!archive) return null
  const rows = await store.kysely
    .selectFrom('archive_edition as e')
    .leftJoin('archive_file as f', 'f.url', 'e.url')
    .where((eb) => eb.and({ 'e.kind': kind, 'e.id': id }))
    .$if(before !== null, (eb) => eb.where('e.date', '<', before!))
    .select(COLUMNS)
    .orderBy('e.date', 'desc')
    .limit(EDITIONS + 1)
    .execute()
  return {
    archive,
    ...(await readArchiveTexts(request, [archive]))(archive),
    editions: rows.slice(0, EDITIONS).map(edition),
    older: rows.length > EDITIONS ? rows[EDITIONS - 1]!.date : null,
  }
}

/** The fields of an edition that find its file. */
interface Downloadable {
  readonly kind: string
  readonly id: number
  readonly date: string
  readonly bytes: number | null
  readonly path: string | null
}

/** The downloaded file of an edition, or the command that downloads it. */
function fileCell({ kind, id, date, bytes, path }: Downloadable, request: PageRequest): Html {
  if (bytes !== null) return html`${countText(request, bytes)} B <code>${serviceText(path)}</code>`
  const download = request.command(`archives download ${id} --kind ${kind} --from ${date} --to ${dayAfter(date)}`)
  return html`<details><summary>${request.words.archives.notDownloaded}</summary>${commandLine(download)}</details>`
}

/** A day, or a range of days. */
const daysText = ({ from, to }: { readonly from: string | null; readonly to: string | null }) =>
  from === null ? null : html`${serviceText(from)}${to !== from && html` … ${serviceText(to)}`}`

/** `/archives`: published files by day. */
export const archivesView = view({
  read: readArchives,
  show({ date, before, after, editions, more }, request) {
    const { words, link, isLive } = request
    const { archives: labels, common } = words
    if (date === null)
      return html`<p>${labels.none} ${common.noneHint}</p>${command('archives: [{ window: { last: 31d } }]')}`
    const dayField = html`<label>${common.day} <input type="date" name="date" value="${date}"></label>`
    const fields = html`${dayField} <button>${common.show}</button>`
    const download = request.command(`archives download --from ${date} --to ${dayAfter(date)}`)
    return html`<p>${labels.about}</p>
${isLive && html`<form action="${link('/archives')}" class="question">${fields}</form>`}
<h2>${labels.of(date)}</h2>
${pager(request, { before: before === null ? null : { date: before }, after: after === null ? null : { date: after } })}
${
  editions.length === 0
    ? html`<p>${labels.noneOfDay(date)}</p>`
    : table(labels.of(date), editions, [
        [
          common.pages.archive,
          ({ kind, id, name, locale }) =>
            html`<a href="${link(`/archives/${kind}/${id}`)}">${serviceText(name, locale) ?? id}</a>`,
        ],
        [labels.kind, ({ archive_type }) => serviceText(archive_type)],
        [labels.horizon, ({ horizon }) => serviceText(horizon)],
        [labels.aboutDays, ({ about }) => daysText(about)],
        [common.published, ({ published }) => daysText(published)],
        [labels.file, (row) => fileCell(row, request)],
      ])
}
${more && html`<p>${labels.more(EDITIONS)}</p>`}
${editions.some(({ bytes }) => bytes === null) && html`<p>${labels.download}</p>${command(download)}`}`
  },
})

/** `/archives/archive/79`: an archive with its editions. */
export const archiveView = view({
  read: readArchive,
  title: ({ name, archive: { id } }, { words }) => name?.trim() || `${words.common.pages.archive} ${id}`,
  show({ archive, description, locale, editions, older }, request) {
    const { words, link, isLive } = request
    const { archives: labels, common } = words
    return html`${description !== null && lines(description, locale)}
${facts([
  [labels.kind, serviceText(archive.archive_type)],
  [labels.horizon, serviceText(archive.horizon)],
  [common.firstSeen, timeElement(request, archive.first_seen_at)],
])}
<h2>${labels.editions}</h2>
${table(labels.editions, editions, [
  [common.day, ({ date }) => (isLive ? html`<a href="${link('/archives', { date })}">${date}</a>` : date)],
  [labels.aboutDays, ({ about }) => daysText(about)],
  [common.published, ({ published }) => daysText(published)],
  [labels.file, (row) => fileCell(row, request)],
])}
${olderPager(request, older)}`
  },
})
