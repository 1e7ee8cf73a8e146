import { html } from '../../html.ts'
import { NotFound, view } from '../../page.ts'
import { readArchive } from '../../queries/texts/archives.ts'
import { facts, lines, neighbours, scrolled, serviceText } from '../elements.ts'
import { countText } from '../numbers.ts'
import { timeElement } from '../times.ts'
import { dayIn, daysText } from './archives.ts'

type Data = NonNullable<Awaited<ReturnType<typeof readArchive>>>

/** `/archives/archive/79`: one archive with its editions. */
export const archiveView = view<Data>({
  async read({ store, params: { kind = '', id = '' }, query, languages }) {
    const known = /^\d{1,15}$/.test(id)
    const found = known ? await readArchive(store, kind, Number(id), dayIn(query, 'before'), languages) : null
    if (!found) throw new NotFound(`archive ${kind} ${id}`)
    return found
  },
  title: ({ name, archive: { id } }, { words }) => name?.trim() || `${words.archives.name} ${id}`,
  show({ archive: one, description, locale, editions, older }, request) {
    const { words, link, query, live } = request
    const { archives: own } = words
    return html`${description !== null && lines(description, locale)}
${facts([
  [own.kind, serviceText(one.archive_type)],
  [own.horizon, serviceText(one.horizon)],
  [own.firstSeen, timeElement(request, one.first_seen_at)],
])}
<h2>${own.editions}</h2>
${scrolled(
  own.editions,
  html`<table>
<thead><tr><th scope="col">${own.day}</th><th scope="col">${own.aboutDays}</th><th scope="col">${own.publishedDays}</th><th scope="col" class="number">${own.file}</th></tr></thead>
<tbody>
${editions.map(
  (edition) =>
    html`<tr><th scope="row">${live ? html`<a href="${link('/archives', { date: edition.date })}">${edition.date}</a>` : edition.date}</th><td>${daysText(edition.about)}</td><td>${daysText(edition.published)}</td><td class="number">${
      edition.bytes === null
        ? own.notHeld
        : html`${countText(request, edition.bytes)} B <code>${serviceText(edition.path)}</code>`
    }</td></tr>\n`,
)}</tbody></table>`,
)}
${neighbours(request, `/archives/${one.kind}/${one.id}`, { before: query.has('before') ? {} : null, after: older === null ? null : { before: older } })}`
  },
})
