import { InputError } from '../../../util/errors.ts'
import { type LocalDate, startOfDate } from '../../../util/time/zone.ts'
import { type Html, html } from '../../html.ts'
import { type PageRequest, view } from '../../page.ts'
import { EDITIONS, readArchives } from '../../queries/texts/archives.ts'
import { command, neighbours, scrolled, serviceText } from '../elements.ts'
import { countText } from '../numbers.ts'

type Data = Awaited<ReturnType<typeof readArchives>>

/** The day after one. */
const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)

/** The day of an address; null where there is none. */
export function dayIn(query: URLSearchParams, name: string): LocalDate | null {
  const day = query.get(name)
  if (!day) return null
  if (startOfDate('UTC', day) !== undefined) return day
  throw new InputError(`${name}=${JSON.stringify(day)} is not a valid date.`, {
    hint: 'Use a day such as 2025-10-01.',
    code: 'bad-time',
  })
}

/** One day, or two as a range, as text. */
export const daysText = ({ from, to }: { readonly from: string | null; readonly to: string | null }) =>
  from === null ? null : html`${serviceText(from)}${to !== from && html` … ${serviceText(to)}`}`

const row = (one: Data['editions'][number], request: PageRequest): Html => {
  const { words, link } = request
  return html`<tr><th scope="row"><a href="${link(`/archives/${one.kind}/${one.id}`)}">${serviceText(one.name, one.locale) ?? one.id}</a></th>
<td>${serviceText(one.archive_type)}</td><td>${serviceText(one.horizon)}</td><td>${daysText(one.about)}</td><td>${daysText(one.published)}</td>
<td class="number">${one.bytes === null ? words.archives.notHeld : `${countText(request, one.bytes)} B`}</td></tr>
`
}

/** `/archives`: what was published, by day. */
export const archivesView = view<Data>({
  read: ({ store, query, languages }) => readArchives(store, dayIn(query, 'date'), languages),
  show({ date, before, after, editions, more }, request) {
    const { words, link, live } = request
    const { archives: own } = words
    if (date === null)
      return html`<p>${own.none} ${own.noneHint}</p>${command('archives: [{ window: { last: 31d } }]')}`
    return html`<p>${own.about}</p>
${live && html`<form action="${link('/archives')}" class="question"><label>${own.day} <input type="date" name="date" value="${date}"></label> <button>${own.go}</button></form>`}
<h2>${own.of(date)}</h2>
${neighbours(request, '/archives', { before: before === null ? null : { date: before }, after: after === null ? null : { date: after } })}
${
  editions.length === 0
    ? html`<p>${own.noneOfDay(date)}</p>`
    : html`${scrolled(
        own.of(date),
        html`<table>
<thead><tr><th scope="col">${own.name}</th><th scope="col">${own.kind}</th><th scope="col">${own.horizon}</th><th scope="col">${own.aboutDays}</th><th scope="col">${own.publishedDays}</th><th scope="col" class="number">${own.file}</th></tr></thead>
<tbody>
${editions.map((one) => row(one, request))}</tbody></table>`,
      )}`
}
${more && html`<p>${own.more(EDITIONS)}</p>`}
${editions.some(({ bytes }) => bytes === null) && html`<p>${own.download}</p>${command(request.command(`archives download --from ${date} --to ${dayAfter(date)}`))}`}`
  },
})
