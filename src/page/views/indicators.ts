import { type Html, html } from '../html.ts'
import { type PageRequest, view, wholeOf } from '../page.ts'
import { readIndicators } from '../queries/indicators.ts'
import { command, kindText, neighbours, scrolled, serviceText } from './elements.ts'

type Data = Awaited<ReturnType<typeof readIndicators>>

const HELD_CHOICES = ['all', 'held', 'other'] as const

function row(one: Data['indicators'][number], request: PageRequest): Html {
  const { words, link } = request
  const { indicators: own, common } = words
  const kind = kindText(one.kind, request)
  const { first_date: first, last_date: last } = one
  return html`<tr><th scope="row">${one.id}</th>
<td>${!!one.name && html`<a href="${link(`/texts/${one.kind}/${one.id}`)}">${serviceText(one.name, one.locale)}</a>`}${kind !== null && html` (${kind})`}${one.withdrawn_at !== null && html` <span class="soft">${own.withdrawn}</span>`}</td>
<td>${serviceText(one.unit)}</td>
<td>${
    first === null || last === null
      ? html`${own.not}`
      : html`${own.days(first, last, one.geos)}<br>${one.series.map(
          ({ path, time_trunc }) =>
            html`<a href="${link(`/series/${path}`)}">${time_trunc === null ? common.native : (common.steps[time_trunc] ?? time_trunc)}</a> `,
        )}`
  }</td>
<td>${first === null && command(one.job)}</td></tr>
`
}

/** `/indicators`: the catalogue, held or not. */
export const indicatorsView = view<Data>({
  read(request) {
    const { query, locale } = request
    return readIndicators(request, {
      text: (query.get('q') ?? '').slice(0, 200),
      held: HELD_CHOICES.find((one) => one === query.get('held')) ?? 'all',
      page: Math.max(1, wholeOf(query, 'page') ?? 1),
      locale,
    })
  },
  show(data, request) {
    const { words, link } = request
    const { indicators: own } = words
    const { text, held, page: at, indicators: rows, more } = data
    const onPage = (page: number) => ({
      q: text === '' ? undefined : text,
      held: held === 'all' ? undefined : held,
      page,
    })
    return html`<p>${own.about}</p>
<form action="${link('/indicators')}" class="question">
<label>${own.words} <input type="search" name="q" value="${text}" size="30"></label>
<label>${own.which} <select name="held">${HELD_CHOICES.map((one) => html`<option value="${one}"${one === held && html` selected`}>${own.held[one]}</option>`)}</select></label>
<button>${own.find}</button></form>
${
  rows.length === 0
    ? text === '' && held === 'all'
      ? html`<p>${own.noneAtAll}</p>${command(request.command('discover --refresh'))}`
      : html`<p>${own.none}</p>`
    : html`${scrolled(
        words.common.pages.indicators,
        html`<table>
<thead><tr><th scope="col">${own.number}</th><th scope="col">${own.name}</th><th scope="col">${own.unit}</th><th scope="col">${own.what}</th><th scope="col">${own.line}</th></tr></thead>
<tbody>
${rows.map((one) => row(one, request))}</tbody></table>`,
      )}`
}
${neighbours(request, '/indicators', { before: at > 1 ? onPage(at - 1) : null, after: more ? onPage(at + 1) : null })}`
  },
})
