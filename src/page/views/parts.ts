import { type Html, html, type Part } from '../html.ts'
import type { PageRequest } from '../page.ts'

/* Pieces that several pages show. */

/** A duration as text: minutes, hours, days. */
export function lengthText({ words: { common } }: PageRequest, seconds: number): string {
  const size = Math.abs(seconds)
  if (size < 5_400) return common.minutes(Math.round(size / 60))
  return size < 96 * 3_600 ? common.hours(Math.round(size / 3_600)) : common.days(Math.round(size / 86_400))
}

/** A moment to the minute, for a reader and for a program. */
export const moment = (text: string | null): Part =>
  text && html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')}</time>`

/** A command to be copied; the button comes with the script, and without it the text is there all the same. */
export const commandLine = (text: string): Html => html`<span class="command"><code data-copy>${text}</code></span>`

/** A text of the service, isolated so that its writing direction does not affect the page. */
export const bdi = (text: string | null | undefined): Part => text && html`<bdi>${text}</bdi>`

/** Commands that are given a job. */
const OF_JOB = ['plan', 'sync', 'validate', 'backfill', 'restate']

/** The command that a hint names, with the job that it is about; another try where it names none. */
export function commandIn(hint: string | null, job: string | null): string {
  const [, command] = /(?<![\w-])indicator-sync ((?:[a-z]+)(?: --?[\w-]+)*)/.exec(hint ?? '') ?? []
  if (command === undefined) return 'retry'
  const [name = ''] = command.split(' ')
  if (!OF_JOB.includes(name)) return command
  return `${name} jobs/${job ?? 'nightly'}.yaml${command.slice(name.length)}`
}

/** A table that is scrolled in its own place where the window is narrow. */
export const scrolled = (label: string, table: Html): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`

/** The path of a series: its number and its aggregation. */
export const stepText = (
  { words: { common } }: PageRequest,
  { timeTrunc, geoAgg }: { readonly timeTrunc: string | null; readonly geoAgg: string | null },
): string =>
  [timeTrunc === null ? null : (common.steps[timeTrunc] ?? timeTrunc), geoAgg]
    .filter((part) => part !== null)
    .join(', ')

/** Links to the page before and the one after, of a list that has several. */
export function pager(request: PageRequest, page: number, pages: number): Part {
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
