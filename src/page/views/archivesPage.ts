import type { Reader } from '../../db/store.ts'
import { InputError } from '../../util/errors.ts'
import { type LocalDate, startOfDate } from '../../util/time/zone.ts'
import { command, countText, facts, lines, olderPager, pager, serviceText, table, timeElement } from '../elements.ts'
import { html } from '../html.ts'
import { type PageRequest, view, wholeNumber } from '../page.ts'
import { inLanguage } from '../queries/names.ts'

/** Editions that one page shows. */
const EDITIONS = 100
/** How many letters of a widget's JSON a page shows. */
const PAYLOAD = 20_000

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

/** The texts of some archives in the first of some languages that they have. */
async function textsOf({ store, languages }: PageRequest, of: readonly { kind: string; id: number }[]) {
  const texts = await store.kysely
    .selectFrom('archive_text')
    .select(['kind', 'id', 'locale', 'name', 'description'])
    .where('kind', 'in', [...new Set(of.map(({ kind }) => kind))])
    .where('id', 'in', [...new Set(of.map(({ id }) => id))])
    .orderBy('locale')
    .execute()
  const groups = Map.groupBy(texts, ({ kind, id }) => `${kind} ${id}`)
  const none = { name: null, locale: null, description: null }
  return (one: { kind: string; id: number }) => {
    const { name, locale, description } = inLanguage(groups.get(`${one.kind} ${one.id}`) ?? [], languages) ?? none
    return { name, locale, description }
  }
}

const COLUMNS = ['e.kind', 'e.id', 'e.date', 'e.date_times', 'e.publication_dates', 'f.path', 'f.bytes'] as const

/** An edition with the first and last day that it is about, and on which it was published: JSON arrays of none, one or two. */
function edition<Row extends { date_times: string; publication_dates: string }>(row: Row) {
  const { date_times, publication_dates, ...rest } = row
  const [about, published] = [date_times, publication_dates].map((json) => {
    const days = JSON.parse(json) as string[]
    return { from: days[0] ?? null, to: days.at(-1) ?? null }
  })
  return { ...rest, about: about!, published: published! }
}

/** The editions of a day, else of the last day that has any; with the nearest days before and after. */
async function readArchives(request: PageRequest) {
  const { store } = request
  const date = dayIn(request.query, 'date') ?? (await dayBeside(store, '9999-12-31', '<='))
  if (date === null) return { date, before: null, after: null, editions: [], more: false }
  const rows = await archives(store)
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
  const textOf = await textsOf(request, shown)
  return {
    date,
    before: await dayBeside(store, date, '<'),
    after: await dayBeside(store, date, '>'),
    editions: shown.map((row) => {
      const { name, locale } = textOf(row)
      return { ...edition(row), name, locale }
    }),
    more: rows.length > EDITIONS,
  }
}

/** One archive with its texts and its latest editions, or those before a day; null when there is none. */
async function readArchive(request: PageRequest) {
  const { store, params } = request
  const [{ kind = '' }, id, before] = [params, wholeNumber(params.id), dayIn(request.query, 'before')]
  if (id === null) return null
  const archive = await archives(store)
    .selectAll()
    .where('archive.kind', '=', kind)
    .where('archive.id', '=', id)
    .executeTakeFirst()
  if (!archive) return null
  const rows = await store.kysely
    .selectFrom('archive_edition as e')
    .leftJoin('archive_file as f', 'f.url', 'e.url')
    .where('e.kind', '=', kind)
    .where('e.id', '=', id)
    .$if(before !== null, (of) => of.where('e.date', '<', before!))
    .select(COLUMNS)
    .orderBy('e.date', 'desc')
    .limit(EDITIONS + 1)
    .execute()
  return {
    archive,
    ...(await textsOf(request, [archive]))(archive),
    editions: rows.slice(0, EDITIONS).map(edition),
    older: rows.length > EDITIONS ? rows[EDITIONS - 1]!.date : null,
  }
}

/** The day after one. */
const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)

/** The day of an address; null where there is none. */
function dayIn(query: URLSearchParams, name: string): LocalDate | null {
  const day = query.get(name)
  if (!day) return null
  if (startOfDate('UTC', day) !== undefined) return day
  throw new InputError(`${name}=${JSON.stringify(day)} is not a valid date.`, {
    hint: 'Use a day such as 2025-10-01.',
    code: 'bad-time',
  })
}

/** One day, or two as a range, as text. */
const daysText = ({ from, to }: { readonly from: string | null; readonly to: string | null }) =>
  from === null ? null : html`${serviceText(from)}${to !== from && html` … ${serviceText(to)}`}`

/** `/archives`: what was published, by day. */
export const archivesView = view({
  read: readArchives,
  show({ date, before, after, editions, more }, request) {
    const { words, link, live } = request
    const { archives: own, common } = words
    if (date === null)
      return html`<p>${own.none} ${common.noneHint}</p>${command('archives: [{ window: { last: 31d } }]')}`
    return html`<p>${own.about}</p>
${live && html`<form action="${link('/archives')}" class="question"><label>${common.day} <input type="date" name="date" value="${date}"></label> <button>${common.show}</button></form>`}
<h2>${own.of(date)}</h2>
${pager(request, { before: before === null ? null : { date: before }, after: after === null ? null : { date: after } })}
${
  editions.length === 0
    ? html`<p>${own.noneOfDay(date)}</p>`
    : table(own.of(date), editions, [
        [
          common.pages.archive,
          ({ kind, id, name, locale }) =>
            html`<a href="${link(`/archives/${kind}/${id}`)}">${serviceText(name, locale) ?? id}</a>`,
        ],
        [own.kind, ({ archive_type }) => serviceText(archive_type)],
        [own.horizon, ({ horizon }) => serviceText(horizon)],
        [own.aboutDays, ({ about }) => daysText(about)],
        [common.published, ({ published }) => daysText(published)],
        [own.file, ({ bytes }) => (bytes === null ? own.notHeld : `${countText(request, bytes)} B`), 'number'],
      ])
}
${more && html`<p>${own.more(EDITIONS)}</p>`}
${editions.some(({ bytes }) => bytes === null) && html`<p>${own.download}</p>${command(request.command(`archives download --from ${date} --to ${dayAfter(date)}`))}`}`
  },
})

/** `/archives/archive/79`: one archive with its editions. */
export const archiveView = view({
  read: readArchive,
  title: ({ name, archive: { id } }, { words }) => name?.trim() || `${words.common.pages.archive} ${id}`,
  show({ archive: one, description, locale, editions, older }, request) {
    const { words, link, live } = request
    const { archives: own, common } = words
    return html`${description !== null && lines(description, locale)}
${facts([
  [own.kind, serviceText(one.archive_type)],
  [own.horizon, serviceText(one.horizon)],
  [common.firstSeen, timeElement(request, one.first_seen_at)],
])}
<h2>${own.editions}</h2>
${table(own.editions, editions, [
  [common.day, ({ date }) => (live ? html`<a href="${link('/archives', { date })}">${date}</a>` : date)],
  [own.aboutDays, ({ about }) => daysText(about)],
  [common.published, ({ published }) => daysText(published)],
  [
    own.file,
    ({ bytes, path }) =>
      bytes === null ? own.notHeld : html`${countText(request, bytes)} B <code>${serviceText(path)}</code>`,
    'number',
  ],
])}
${olderPager(request, older)}`
  },
})

/** Every widget with its name in the language of a request: a service has some hundred. */
async function readWidgets({ store: { kysely }, languages }: PageRequest) {
  const widgets = await kysely
    .selectFrom('widget')
    .select(['id', 'slug', 'type', 'withdrawn_at'])
    .orderBy('id')
    .execute()
  const texts = await kysely
    .selectFrom('widget_text')
    .select(['id', 'locale', 'name', 'subtitle'])
    .orderBy('id')
    .orderBy('locale')
    .execute()
  const groups = Map.groupBy(texts, ({ id }) => id)
  const none = { name: null, subtitle: null, locale: null }
  return {
    widgets: widgets.map((widget) => ({ ...none, ...inLanguage(groups.get(widget.id) ?? [], languages), ...widget })),
  }
}

/** JSON with line breaks, shortened where it is long. */
const readable = (json: string | null) => {
  if (json === null) return null
  const text = JSON.stringify(JSON.parse(json), null, 2)
  return { text: text.slice(0, PAYLOAD), letters: text.length, cut: text.length > PAYLOAD }
}

/** One widget with all its fields; null when there is none. */
async function readWidget({ store: { kysely }, languages, params }: PageRequest) {
  const id = wholeNumber(params.id)
  if (id === null) return null
  const widget = await kysely.selectFrom('widget').selectAll().where('id', '=', id).executeTakeFirst()
  if (!widget) return null
  const texts = await kysely.selectFrom('widget_text').selectAll().where('id', '=', id).orderBy('locale').execute()
  const none = { name: null, subtitle: null, locale: null, payload_v1: null, payload_v2: null }
  const { name, subtitle, locale, payload_v1, payload_v2 } = inLanguage(texts, languages) ?? none
  return { widget, name, subtitle, locale, list: readable(payload_v1), single: readable(payload_v2) }
}

/** `/widgets`: what the operator's own site shows. */
export const widgetsView = view({
  read: readWidgets,
  show({ widgets: rows }, request) {
    const { archives: own, common } = request.words
    if (rows.length === 0) return html`<p>${own.noWidgets} ${common.noneHint}</p>${command('widgets: [{}]')}`
    return html`<p>${own.widgetsAbout}</p>
${table(common.pages.widgets, rows, [
  [
    common.pages.widget,
    ({ id, name, locale, subtitle }) =>
      html`<a href="${request.link(`/widgets/${id}`)}">${serviceText(name, locale) ?? id}</a> ${serviceText(subtitle, locale)}`,
  ],
  [own.slug, ({ slug }) => serviceText(slug)],
  [
    common.type,
    ({ type, withdrawn_at }) =>
      html`${serviceText(type)} ${withdrawn_at !== null && html`${common.withdrawn} ${timeElement(request, withdrawn_at)}`}`,
  ],
])}`
  },
})

type Widget = NonNullable<Awaited<ReturnType<typeof readWidget>>>

/** `/widgets/7`: one widget with all its fields. */
export const widgetView = view({
  read: readWidget,
  title: ({ name, widget: { id } }, { words }) => name?.trim() || `${words.common.pages.widget} ${id}`,
  show({ widget: one, subtitle, locale, list, single }, request) {
    const { archives: own, common } = request.words
    const payload = (title: string, part: Widget['list']) =>
      part !== null &&
      html`<h2>${title}</h2>${part.cut && html`<p>${own.cut(part.letters)}</p>`}<pre dir="ltr" tabindex="0">${part.text}</pre>`
    return html`${subtitle && html`<p>${serviceText(subtitle, locale)}</p>`}
${facts([
  [own.slug, serviceText(one.slug)],
  [common.type, serviceText(one.type)],
  [common.firstSeen, timeElement(request, one.first_seen_at)],
  [common.withdrawn, timeElement(request, one.withdrawn_at)],
  ['ID', one.id],
])}
${payload(own.single, single)}
${payload(own.list, list)}`
  },
})
