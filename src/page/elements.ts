import type { InputError } from '../util/errors.ts'
import type { RecordedOutcome } from '../util/eventFields.ts'
import { oneLine, visible } from '../util/text.ts'
import { localText, outcomeStyle } from './formats.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { AddressError, type PageRequest, type Query } from './page.ts'
import { translation } from './words/words.ts'

/* Elements of several pages. */

/** A command to copy. The script adds the button. */
export const commandLine = (text: string): Html => html`<span class="command"><code data-copy>${text}</code></span>`

/** A command to copy, in its own paragraph. */
export const command = (line: string): Html => html`<p>${commandLine(line)}</p>`

/** A text of the service inside a line; it cannot change the writing direction around it. */
export const serviceText = (text: string | null | undefined, lang?: string | null): HtmlPart =>
  text ? html`<bdi${lang && html` lang="${lang}"`}>${oneLine(text)}</bdi>` : null

/** A text of the service, with its line breaks. */
export const lines = (text: string, lang?: string | null): Html =>
  html`<div class="lines" dir="auto"${lang && html` lang="${lang}"`}>${visible(text)}</div>`

/** A message in English; on a page of another language it is folded, below the text of its code. */
export const messageText = (
  message: string | null | undefined,
  request: PageRequest,
  code: string | null = null,
): HtmlPart => {
  if (!message) return null
  const { locale, words } = request
  const { common } = words
  const local = visible(message).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) => localText(request, moment))
  const text = html`<p class="soft" lang="en">${local}</p>`
  if (locale === 'en') return text
  const translated = translation(locale, 'failures', code)
  return html`${translated && html`<p class="soft">${translated}</p>`}<details><summary>${common.original}</summary>${text}</details>`
}

/** Why an address is wrong, in the language of the page; undefined for any other error. */
export function addressText(error: Pick<InputError, 'code'>, { common }: PageRequest['words']): string | undefined {
  if (!(error instanceof AddressError)) return (common.errors as Readonly<Record<string, string>>)[error.code]
  const { name, text, legal } = error.cause
  return common.illegal(name, oneLine(text).slice(0, 100), legal)
}

/** A text of this program in the language of the page, or in English if it is not translated. */
export function programText({ locale }: PageRequest, part: 'recipes' | 'dictionary', key: string, english = key): Html {
  const translated = translation(locale, part, key)
  return html`<span lang="${translated ? locale : 'en'}">${translated ?? english}</span>`
}

/** Content with a scrollbar of its own. */
export const scrolled = (label: string, content: Html): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`

/** A column of a table. Cells of the style `number` are aligned to the right. */
export type Column<Row> = readonly [head: HtmlPart, cell: (row: Row) => HtmlPart, style?: string]

/**
 * A table. The first column has the headings of the rows. On a phone, each row is a card with headings beside its cells, unless
 * the table has a style.
 */
export function table<Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly (Column<Row> | false)[],
  { style, caption }: { readonly style?: string; readonly caption?: HtmlPart } = {},
): Html {
  const [first, ...rest] = columns.filter((column) => column !== false)
  const classAttribute = (name: string | false | undefined): HtmlPart => name && html` class="${name}"`
  const headCell = ([head, , cells]: Column<Row>): Html => {
    const aligned = classAttribute(cells?.startsWith('number') && 'number')
    return html`<th scope="col"${aligned}>${head}</th>`
  }
  const bodyCell = ([head, cell, cells]: Column<Row>, row: Row): Html => {
    const label = !style && html` data-head="${head}"`
    return html`<td${classAttribute(cells)}${label}>${cell(row)}</td>`
  }
  const bodyRow = (row: Row): Html => {
    const [, heading, cells] = first!
    const others = rest.map((column) => bodyCell(column, row))
    return html`<tr><th scope="row"${classAttribute(cells)}>${heading(row)}</th>${others}</tr>\n`
  }
  return scrolled(
    label,
    html`<table${classAttribute(style)}>${caption}
<thead><tr>${[first!, ...rest].map(headCell)}</tr></thead>
<tbody>${rows.map(bodyRow)}</tbody></table>`,
  )
}

/** Facts with their names, except those without a value. */
export const facts = (rows: readonly (readonly [name: string, value: HtmlPart, style?: string])[]): Html =>
  html`<dl class="facts">${rows.map(
    ([name, value, style]) =>
      (value || value === 0) && html`<div class="${style}"><dt>${name}</dt><dd>${value}</dd></div>\n`,
  )}</dl>`

/** The options of a choice. */
export const options = <Value extends string | number>(
  choices: readonly (readonly [value: Value, text: string | number])[],
  chosen: Value | null,
): HtmlPart =>
  choices.map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)

/** The list behind a field with `data-pick`, which a script fills with suggested series. */
export const suggestionList = (id: string, { words: { common } }: PageRequest): Html =>
  html`<ul id="${id}" role="listbox" aria-label="${common.suggested}" hidden data-own></ul>`

/** Links to a picture: the file of the server, and a button whose script saves it as PNG. `name`: that of the file. */
export function pictureLinks({ words: { charts } }: PageRequest, address: string, name: string): Html {
  const svg = html`<a href="${address}" download="${name}.svg">${charts.svg}</a>`
  const png = html`<button type="button" class="png" data-png="${charts.noPng}">${charts.png}</button>`
  return html`${svg}\n${png}`
}

/** Links to the previous and the next page, if any, around the name of this one; `fragment`: the place in them, as `#id`. */
export function pager(
  { words: { common }, link, path }: PageRequest,
  { before, after, at }: { readonly before: Query | null; readonly after: Query | null; readonly at?: string },
  fragment = '',
): HtmlPart {
  if (before === null && after === null) return null
  return html`<nav class="pager" aria-label="${at ?? common.otherParts}">
${before !== null && html`<a href="${link(path, before)}${fragment}" rel="prev">‹ ${common.previous}</a>`}
${at !== undefined && html`<span>${at}</span>`}
${after !== null && html`<a href="${link(path, after)}${fragment}" rel="next">${common.next} ›</a>`}
</nav>`
}

/** Links between pages with numbers. `pages` is their count, or whether there is a next one. */
export function numberedPager(request: PageRequest, page: number, pages: number | boolean, fragment = ''): HtmlPart {
  const rest = Object.fromEntries([...request.query].filter(([name]) => name !== 'page'))
  const to = (number: number): Query => ({ ...rest, page: number === 1 ? undefined : number })
  const around = {
    before: page > 1 ? to(page - 1) : null,
    after: pages === true || page < Number(pages) ? to(page + 1) : null,
    ...(typeof pages === 'number' ? { at: request.words.common.page(page, pages) } : {}),
  }
  return pager(request, around, fragment)
}

/** Links between the pages of a list that goes back in time. The next page begins at `older`. */
export const olderPager = (request: PageRequest, older: string | number | null): HtmlPart =>
  pager(request, { before: request.query.has('before') ? {} : null, after: older === null ? null : { before: older } })

/** Links to the series of an indicator, named by their steps. */
export const seriesLinks = (
  { link, words: { common } }: PageRequest,
  series: readonly { readonly path: string; readonly time_trunc: string | null; readonly geo_agg: string | null }[],
): HtmlPart =>
  series.map(({ path, time_trunc, geo_agg }) => {
    const step = time_trunc === null ? common.native : (common.steps[time_trunc] ?? time_trunc)
    return html`<a href="${link(`/series/${path}`)}">${step}${geo_agg !== null && ` (${geo_agg})`}</a> `
  })

/** The outcome of a run: a sign and a word. */
export const outcomeMark = (outcome: RecordedOutcome, { words }: PageRequest): Html =>
  html`<span class="${outcomeStyle(outcome)}">${words.runs.outcomes[outcome]}</span>`

/** A moment (UTC, ISO 8601) in the zone of the service, as an element; nothing for null. */
export const timeElement = (request: Pick<PageRequest, 'service'>, moment: string | null | undefined): HtmlPart =>
  moment ? html`<time datetime="${moment}">${localText(request, moment)}</time>` : null
