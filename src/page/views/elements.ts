import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { RecordedOutcome } from '../../util/eventFields.ts'
import { oneLine, shellWord, visible } from '../../util/text.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest, Query } from '../page.ts'

/* Elements that several pages use. */

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

/** How a series is grouped, in words: its step and how its geos are combined. */
export const groupingText = (
  { words: { common } }: PageRequest,
  { timeTrunc, geoAgg }: { readonly timeTrunc: string | null; readonly geoAgg: string | null },
): string =>
  [timeTrunc === null ? null : (common.steps[timeTrunc] ?? timeTrunc), geoAgg]
    .filter((part) => part !== null)
    .join(', ')

/** A table that scrolls by itself where the window is narrow. */
export const scrolled = (label: string, table: Html): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`

/** Facts with their names; those without a value are left out. */
export const facts = (rows: readonly (readonly [name: string, value: HtmlPart])[]): Html =>
  html`<dl class="facts">${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`

/** Links to the page before and the one after, of a list whose pages have numbers. */
export function pager(request: PageRequest, page: number, pages: number): HtmlPart {
  if (pages <= 1) return null
  const { words, link, path, query } = request
  const rest = Object.fromEntries([...query].filter(([name]) => name !== 'page'))
  const to = (number: number): string => link(path, { ...rest, page: number === 1 ? undefined : number })
  return html`<nav class="pager" aria-label="${words.home.page(page, pages)}">
${page > 1 && html`<a rel="prev" href="${to(page - 1)}">‹ ${words.common.previous}</a>`}
<span>${words.home.page(page, pages)}</span>
${page < pages && html`<a rel="next" href="${to(page + 1)}">${words.common.next} ›</a>`}
</nav>`
}

/** Links to the previous and next part of a list whose pages have no numbers. */
export function neighbours(
  { words, link }: PageRequest,
  path: string,
  { before, after }: { readonly before: Query | null; readonly after: Query | null },
): HtmlPart {
  if (before === null && after === null) return null
  return html`<p class="pager">${before !== null && html`<a href="${link(path, before)}" rel="prev">← ${words.common.previous}</a> `}${
    after !== null && html`<a href="${link(path, after)}" rel="next">${words.common.next} →</a>`
  }</p>`
}

/** The outcome of a run: a word and a sign. */
export const outcomeMark = (outcome: RecordedOutcome, { words }: PageRequest): Html =>
  html`<span class="${outcome === 'done' ? 'good' : outcome === 'running' ? 'running' : 'bad'}">${words.runs.outcomes[outcome]}</span>`

/** The file of a job as a word of a command; a guess if the job was never run from a file. */
export const jobFile = (files: Readonly<Record<string, string>>, job: string): string =>
  shellWord(files[job] ?? `jobs/${job}.yaml`)
