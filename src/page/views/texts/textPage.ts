import { visible } from '../../../util/text.ts'
import type { Piece } from '../../difference.ts'
import { type Html, html } from '../../html.ts'
import { NotFound, type PageRequest, view, wholeOf } from '../../page.ts'
import { readTextPage } from '../../queries/texts/text.ts'
import { command, facts, lines, serviceText } from '../elements.ts'
import { localText, timeElement } from '../times.ts'

type Data = NonNullable<Awaited<ReturnType<typeof readTextPage>>>

/** Letters of what stayed the same that are shown on each side of a change. */
const CONTEXT_LETTERS = 160

/** Unchanged text, cut to the context of a change. */
function unchangedText(text: string, first: boolean, last: boolean): string {
  const [head, tail] = [first ? '' : text.slice(0, CONTEXT_LETTERS), last ? '' : text.slice(-CONTEXT_LETTERS)]
  return text.length <= head.length + tail.length ? text : `${head} … ${tail}`
}

/** A difference: removed text in `del`, added text in `ins`. */
const changed = (pieces: readonly Piece[], lang: string): Html =>
  html`<div class="lines" dir="auto" lang="${lang}">${pieces.map(({ what, text }, i) => {
    if (what === 'same') return visible(unchangedText(text, i === 0, i === pieces.length - 1))
    return what === 'removed' ? html`<del>${visible(text)}</del>` : html`<ins>${visible(text)}</ins>`
  })}</div>`

function changeHtml(data: Data, request: PageRequest): Html | null {
  const { texts: own } = request.words
  if (!data.change) return null
  const { title, summary, text } = data.change
  const parts = [
    [own.title, title],
    [own.summary, summary],
    [own.text, text],
  ] as const
  const shown = parts.flatMap(([name, pieces]) => (pieces ? [{ name, pieces }] : []))
  const other = data.versions.find(({ fetch }) => fetch === data.against)
  return html`<h2 id="change">${own.change}</h2>
${
  shown.length === 0
    ? html`<p>${own.same}</p>`
    : html`<p>${own.changeOf(localText(request, other?.from ?? ''))}</p>${shown.map(({ name, pieces }) => html`<h3>${name}</h3>${changed(pieces, data.locale)}`)}`
}`
}

function versionList(data: Data, request: PageRequest): Html | null {
  const { words, link, live } = request
  const { texts: own } = words
  if (data.versions.length < 2) return null
  const path = `/texts/${data.kind}/${data.id}`
  const address = (version: number, against?: number) => link(path, { locale: data.locale, version, against })
  return html`<h2>${own.versions}</h2>
<ol class="found">${data.versions.map(
    ({ fetch, from, to, title }, i) =>
      html`<li>${timeElement(request, from)}${to !== null && html` ${own.until} ${timeElement(request, to)}`} ${i === 0 && html`(${own.current})`} ${serviceText(title, data.locale)} ${
        live &&
        fetch !== data.fetch &&
        html`<a href="${address(fetch)}">${own.show}</a> <a href="${address(data.fetch, fetch)}#change">${own.compare}</a>`
      }</li>\n`,
  )}</ol>`
}

/** `/texts/news/7`: a text in one language, with its versions and what changed between them. */
export const textView = view<Data>({
  async read({ store, params, query, languages }) {
    const { kind = '' } = params
    const id = /^\d{1,15}$/.test(params.id ?? '') ? Number(params.id) : null
    const wanted = {
      languages: [query.get('locale') ?? [], languages].flat(),
      version: wholeOf(query, 'version'),
      against: wholeOf(query, 'against'),
    }
    const found = /^\w+$/.test(kind) && id !== null ? await readTextPage(store, kind, id, wanted) : null
    if (!found) throw new NotFound(`text ${kind} ${params.id}`)
    return found
  },
  title: ({ title, kind, id }, { words }) => title?.trim() || `${words.texts.kinds[kind] ?? kind} ${id}`,
  show(data, request) {
    const { words, link } = request
    const { texts: own, common } = words
    const path = `/texts/${data.kind}/${data.id}`
    const { published_at, updated_at, expires_at, first_seen_at, withdrawn_at, unit, series } = data.facts
    return html`<p class="soft">${own.kinds[data.kind] ?? data.kind} ${data.id}</p>
${!data.current && html`<p class="bad">${own.earlier} <a href="${link(path, { locale: data.locale })}">${own.showCurrent}</a></p>`}
${data.summary && html`<p><strong>${serviceText(data.summary, data.locale)}</strong></p>`}
${data.text === '' ? html`<p>${own.empty}</p>` : lines(data.text, data.locale)}
${data.cut && html`<p>${own.cut}</p>${command(request.command(data.whole))}`}
${facts([
  [own.published, serviceText(published_at)],
  [own.updated, serviceText(updated_at)],
  [own.expires, serviceText(expires_at)],
  [own.since, timeElement(request, data.from)],
  [own.first, timeElement(request, first_seen_at)],
  [own.withdrawn, timeElement(request, withdrawn_at)],
  [own.unit, serviceText(unit)],
  [
    own.values,
    series.length > 0 &&
      series.map(
        (one) =>
          html`<a href="${link(`/series/${one.path}`)}">${one.time_trunc === null ? common.native : (common.steps[one.time_trunc] ?? one.time_trunc)}</a> `,
      ),
  ],
  [
    own.languages,
    data.locales.length > 1 &&
      data.locales.map((locale) =>
        locale === data.locale
          ? html`<span>${locale}</span> `
          : html`<a href="${link(path, { locale })}" hreflang="${locale}">${locale}</a> `,
      ),
  ],
])}
${changeHtml(data, request)}
${versionList(data, request)}`
  },
})
