import { type Html, html } from '../../html.ts'
import { type PageRequest, view, wholeOf } from '../../page.ts'
import { readTexts } from '../../queries/texts/texts.ts'
import { command, neighbours, serviceText } from '../elements.ts'
import { timeElement } from '../times.ts'

type Data = Awaited<ReturnType<typeof readTexts>>

/** A day as it came. */
const day = (text: string | null): Html | null =>
  text === null ? null : html`<span class="soft">${text.slice(0, 10)}</span>`

function item(one: Data['texts'][number], kind: string, request: PageRequest): Html {
  const { words, link } = request
  const { texts: own } = words
  return html`<li><p><a href="${link(`/texts/${kind}/${one.id}`)}">${serviceText(one.title, one.locale) ?? `${own.untitled} (${one.id})`}</a> ${day(one.published_at)} ${
    one.superseded > 0 && html`<span class="soft">${own.changes(one.superseded)}</span>`
  } ${one.withdrawn_at !== null && html`<span class="soft">${own.withdrawn} ${timeElement(request, one.withdrawn_at)}</span>`}</p>${
    one.summary !== null && html`<p>${serviceText(one.summary, one.locale)}</p>`
  }</li>
`
}

/** `/texts`: texts of the service, by kind. */
export const textsView = view<Data>({
  read(request) {
    const { query } = request
    return readTexts(request, query.get('kind'), Math.max(1, wholeOf(query, 'page') ?? 1))
  },
  show({ kinds, kind, route, page: at, texts: rows, more }, request) {
    const { words, link } = request
    const { texts: own } = words
    return html`<p>${own.about}</p>
<nav aria-label="${own.which}"><ul>${kinds.map(
      (one) =>
        html`<li><a href="${link('/texts', { kind: one })}"${one === kind && html` aria-current="page"`}>${own.kinds[one] ?? one}</a></li>`,
    )}</ul></nav>
<h2>${own.kinds[kind] ?? kind}</h2>
${rows.length === 0 && html`<p>${own.none} ${own.noneHint}</p>${route !== null && command(`content: [{ kinds: [${route}] }]`)}`}
${rows.length > 0 && html`<ul class="found">\n${rows.map((one) => item(one, kind, request))}</ul>`}
${neighbours(request, '/texts', { before: at > 1 ? { kind, page: at - 1 } : null, after: more ? { kind, page: at + 1 } : null })}`
  },
})
