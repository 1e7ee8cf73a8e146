import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import type { RecordedOutcome } from '../util/eventFields.ts'
import { oneLine, shellWord, visible } from '../util/text.ts'
import { floorToSecond, type Instant } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'
import { writtenLocale } from './client/format.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import type { PageRequest, Query } from './page.ts'
import { isOddDay } from './timeTicks.ts'
import { translation } from './words/words.ts'

/* Elements that several pages use, and how numbers and times are written. */

/** A command to copy. The script adds the button; without it, the text is there all the same. */
export const commandLine = (text: string): Html => html`<span class="command"><code data-copy>${text}</code></span>`

/** A command to copy, in its own paragraph. */
export const command = (line: string): Html => html`<p>${commandLine(line)}</p>`

/** A text of the service inside a line, isolated so that it cannot change the writing direction around it. */
export const serviceText = (text: string | null | undefined, lang?: string | null): HtmlPart =>
  text ? html`<bdi${lang && html` lang="${lang}"`}>${oneLine(text)}</bdi>` : null

/** A text of the service, with its line breaks. */
export const lines = (text: string, lang?: string | null): Html =>
  html`<div class="lines" dir="auto"${lang && html` lang="${lang}"`}>${visible(text)}</div>`

/** A kind of indicators in words, where it is not the one that needs none. */
export const kindText = (kind: string, { words: { common } }: PageRequest): string | null =>
  kind === ENTRY_ROUTES.series ? null : kind === ENTRY_ROUTES.offers ? common.offer : kind.replaceAll('_', ' ')

/** How a series is grouped, in words: its step, how its values and its geos are combined. */
export const groupingText = (
  { words: { common } }: PageRequest,
  step: string | null,
  ...others: readonly (string | null)[]
): string => [step, ...others].flatMap((part) => (part === null ? [] : (common.steps[part] ?? part))).join(', ')

/** A message in English; on a page of another language it is folded, below the text of its code. */
export const messageText = (
  message: string | null | undefined,
  { locale, words: { common } }: PageRequest,
  code: string | null = null,
): HtmlPart => {
  if (!message) return null
  const text = html`<p class="soft" lang="en">${visible(message)}</p>`
  if (locale === 'en') return text
  const translated = translation(locale, 'failures', code)
  return html`${translated && html`<p class="soft">${translated}</p>`}<details><summary>${common.original}</summary>${text}</details>`
}

/** A text of this program in the language of the page, or in English if it is not translated. */
export function programText({ locale }: PageRequest, part: 'recipes' | 'dictionary', key: string, english = key): Html {
  const translated = translation(locale, part, key)
  return html`<span lang="${translated ? locale : 'en'}">${translated ?? english}</span>`
}

/** Something that scrolls by itself where the window is narrow. */
export const scrolled = (label: string, content: Html): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`

/** A column of a table: its heading, its cells, and their class: `number` is aligned to the right. */
export type Column<Row> = readonly [head: HtmlPart, cell: (row: Row) => HtmlPart, style?: string]

/**
 * A table with a row for each thing. The first column has the headings of the rows; columns that are false are left out. On a phone
 * each row is a card with the headings beside its cells; a table with a `style` has a layout of its own there.
 */
export function table<Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly (Column<Row> | false)[],
  { style, caption }: { readonly style?: string; readonly caption?: HtmlPart } = {},
): Html {
  const [first, ...others] = columns.filter((column) => column !== false)
  const classOf = (style: string | undefined): HtmlPart => style && html` class="${style}"`
  const isNumber = (style = ''): boolean => style.startsWith('number')
  return scrolled(
    label,
    html`<table${classOf(style)}>${caption}
<thead><tr>${[first!, ...others].map(([head, , style]) => html`<th scope="col"${isNumber(style) && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody>${rows.map(
      (row) =>
        html`<tr><th scope="row">${first![1](row)}</th>${others.map(([head, cell, cellStyle]) => html`<td${classOf(cellStyle)}${!style && html` data-head="${head}"`}>${cell(row)}</td>`)}</tr>\n`,
    )}</tbody></table>`,
  )
}

/** Facts with their names; those without a value are left out. */
export const facts = (rows: readonly (readonly [name: string, value: HtmlPart, style?: string])[]): Html =>
  html`<dl class="facts">${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
    .map(([name, value, style]) => html`<div class="${style}"><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`

/** The options of a choice. */
export const options = <Value extends string | number>(
  all: readonly (readonly [value: Value, text: string | number])[],
  chosen: Value | null,
): HtmlPart =>
  all.map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)

/** Links to the page before and the one after; `at` says which one this is. Null: there is no such page. */
export function pager(
  { words: { common }, link, path }: PageRequest,
  { before, after, at }: { readonly before: Query | null; readonly after: Query | null; readonly at?: string },
): HtmlPart {
  if (before === null && after === null) return null
  return html`<nav class="pager" aria-label="${at ?? common.otherParts}">
${before !== null && html`<a href="${link(path, before)}" rel="prev">‹ ${common.previous}</a>`}
${at !== undefined && html`<span>${at}</span>`}
${after !== null && html`<a href="${link(path, after)}" rel="next">${common.next} ›</a>`}
</nav>`
}

/** The same for a list whose pages have numbers; whether there are more is enough if their count is not known. */
export function numberedPager(request: PageRequest, page: number, pages: number | boolean): HtmlPart {
  const rest = Object.fromEntries([...request.query].filter(([name]) => name !== 'page'))
  const to = (number: number): Query => ({ ...rest, page: number === 1 ? undefined : number })
  return pager(request, {
    before: page > 1 ? to(page - 1) : null,
    after: pages === true || page < Number(pages) ? to(page + 1) : null,
    ...(typeof pages === 'number' ? { at: request.words.common.page(page, pages) } : {}),
  })
}

/** The same for a list that goes back in time: `older` is where its next page begins. */
export const olderPager = (request: PageRequest, older: string | number | null): HtmlPart =>
  pager(request, { before: request.query.has('before') ? {} : null, after: older === null ? null : { before: older } })

/** Links to the values of an indicator: its series by their steps. */
export const seriesLinks = (
  { link, words: { common } }: PageRequest,
  series: readonly { readonly path: string; readonly time_trunc: string | null; readonly geo_agg: string | null }[],
): HtmlPart =>
  series.map(
    ({ path, time_trunc, geo_agg }) =>
      html`<a href="${link(`/series/${path}`)}">${time_trunc === null ? common.native : (common.steps[time_trunc] ?? time_trunc)}${geo_agg !== null && html` (${geo_agg})`}</a> `,
  )

/** The outcome of a run: a word and a sign. */
export const outcomeMark = (outcome: RecordedOutcome, { words }: PageRequest): Html =>
  html`<span class="${outcome === 'done' ? 'good' : outcome === 'running' ? 'running' : 'bad'}">${words.runs.outcomes[outcome]}</span>`

/** The file of a job as a word of a command; a guess if the job was never run from a file. */
export const jobFile = (files: Readonly<Record<string, string>>, job: string): string =>
  shellWord(files[job] ?? `jobs/${job}.yaml`)

/** A number as a language writes it, with at most three decimals; empty where there is none. */
export const numberText = (value: number | null | undefined, locale: string, minimumFractionDigits = 0): string =>
  // A value that rounds to zero is written without a sign.
  value?.toLocaleString(locale, { minimumFractionDigits, maximumFractionDigits: 3, signDisplay: 'negative' }) ?? ''

/** A count as people of the request's language write it. */
export const countText = ({ locale }: { readonly locale: string }, count: number) => count.toLocaleString(locale)

/** Local time to the minute; with its offset on a day that is not 24 hours long, because an hour may come twice. */
export function timeText(zone: string, at: Instant): string {
  const local = formatLocal(zone, at)
  return `${local.slice(0, 10)} ${local.slice(11, local.slice(17, 19) === '00' ? 16 : 19)}${isOddDay(zone, at) ? ` ${local.slice(19)}` : ''}`
}

/** When something happened here, in local time to the minute. */
export const momentText = (zone: string, moment: string): string => timeText(zone, floorToSecond(moment))

/** A moment (UTC, ISO 8601) in the time of the service, as every time of the page. */
export const localText = ({ service }: Pick<PageRequest, 'service'>, moment: string): string =>
  Number.isNaN(Date.parse(moment)) ? moment : momentText(service.timeZone, moment)

/** The same for a reader and for a program; nothing without a moment. */
export const timeElement = (request: Pick<PageRequest, 'service'>, moment: string | null | undefined): HtmlPart =>
  moment ? html`<time datetime="${moment}">${localText(request, moment)}</time>` : null

/** A range of time in the days that it touches: `14–16 Nov`. */
export function daysText({ locale, service, now }: PageRequest, from: number, to: number): string {
  const year = to > now - 300 * 86_400 ? undefined : 'numeric'
  const { timeZone } = service
  const format = new Intl.DateTimeFormat(writtenLocale(locale), { timeZone, day: 'numeric', month: 'short', year })
  return format.formatRange(from * 1000, Math.max(from, to - 1) * 1000)
}

/** A length of time in words, rounded: minutes, hours or days. */
export function roughLength({ words: { common } }: PageRequest, seconds: number): string {
  const size = Math.abs(seconds)
  if (size < 5_400) return common.minutes(Math.round(size / 60))
  return size < 96 * 3_600 ? common.hours(Math.round(size / 3_600)) : common.days(Math.round(size / 86_400))
}

/** How long something took. */
export function duration({ locale }: Pick<PageRequest, 'locale'>, seconds: number): string {
  if (seconds < 60) return `${seconds.toLocaleString(locale, { maximumFractionDigits: 1 })} s`
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`
}
