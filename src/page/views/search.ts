import { SEARCH_SCOPES } from '../../reports/search.ts'
import { visible } from '../../util/text.ts'
import { type Html, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { readSearch } from '../queries/search.ts'
import { serviceText } from './elements.ts'

type Data = Awaited<ReturnType<typeof readSearch>>
type SearchResult = Data['results'][number]

const SCOPE_CHOICES = ['all', ...SEARCH_SCOPES] as const

/** A part of a text as a single line. */
const spaced = (text: string): string => visible(text.replaceAll(/\s+/g, ' '))

/** The address of a search result. */
const pathOfResult = ({ kind, id, archive }: SearchResult): string =>
  archive ? `/archives/${kind}/${id}` : `/texts/${kind}/${id}`

function item(result: SearchResult, { words, link }: PageRequest): Html {
  const { search: own, common } = words
  return html`<li><p><a href="${link(pathOfResult(result))}">${serviceText(result.name, result.locale) ?? result.id}</a> <span class="soft">${own.kinds[result.kind] ?? result.kind} ${result.id}</span></p>
${result.more && html`<p>${serviceText(result.more, result.locale)}</p>`}
${result.excerpt.length > 0 && html`<p lang="${result.locale}"><bdi>${result.excerpt.map(({ text, hit }) => (hit ? html`<mark>${text}</mark>` : spaced(text)))}</bdi></p>`}
${
  result.series.length > 0 &&
  html`<p>${own.held} ${result.series.map(
    ({ path, time_trunc, geo_agg }) =>
      html`<a href="${link(`/series/${path}`)}">${time_trunc === null ? common.native : (common.steps[time_trunc] ?? time_trunc)}${geo_agg !== null && html` (${geo_agg})`}</a> `,
  )}</p>`
}</li>
`
}

/** `/search?q=`: where does something occur? */
export const searchView = view<Data>({
  read(request) {
    const { query } = request
    const place = SCOPE_CHOICES.find((one) => one === query.get('in')) ?? 'all'
    return readSearch(request, (query.get('q') ?? '').slice(0, 200), place)
  },
  show(data, request) {
    const { words, link } = request
    const { search: own } = words
    const { text, place, total, results } = data
    return html`<p>${own.about}</p>
<form role="search" action="${link('/search')}" class="question">
<label>${own.words} <input type="search" name="q" value="${text}" size="40"></label>
<label>${own.where} <select name="in">${SCOPE_CHOICES.map((one) => html`<option value="${one}"${one === place && html` selected`}>${own.places[one]}</option>`)}</select></label>
<button>${own.find}</button></form>
${text !== '' && html`<p role="status">${total === 0 ? own.none(text) : own.found(results.length, total, data.more)}</p>`}
${results.length > 0 && html`<ol class="found">\n${results.map((result) => item(result, request))}</ol>`}`
  },
})
