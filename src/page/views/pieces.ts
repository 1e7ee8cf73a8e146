import { oneLine, visible } from '../../base/visible.ts'
import { type Html, html, type Part } from '../html.ts'
import type { PageRequest, Query } from '../page.ts'
import { commandLine } from './parts.ts'

/** A moment (UTC, ISO 8601) to the second. */
export const moment = (text: string | null | undefined): Part =>
  text ? html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')} UTC</time>` : null

/** A text of the service inside a line, isolated so that it cannot change the writing direction around it. */
export const serviceText = (text: string | null | undefined, lang?: string | null): Part =>
  text ? html`<bdi${lang && html` lang="${lang}"`}>${oneLine(text)}</bdi>` : null

/** A text of the service with its lines. */
export const lines = (text: string, lang?: string | null): Html =>
  html`<div class="lines" dir="auto"${lang && html` lang="${lang}"`}>${visible(text)}</div>`

/** A number as a language writes it. */
export const number = ({ locale }: Pick<PageRequest, 'locale'>, value: number): string => value.toLocaleString(locale)

/** How long something took. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  const whole = Math.round(seconds)
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** A line to be copied, in a paragraph of its own. */
export const command = (line: string): Html => html`<p>${commandLine(line)}</p>`

/** Words of a command line as a shell takes them. */
export const quoted = (text: string): string =>
  /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** Facts with their names; those without a value are left out. */
export const facts = (rows: readonly (readonly [name: string, value: Part])[]): Html =>
  html`<dl class="facts">${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`

/** Links to the pages of a list before and after this one. */
export function pager(
  { words, link }: PageRequest,
  path: string,
  { before, after }: { readonly before: Query | null; readonly after: Query | null },
): Part {
  if (before === null && after === null) return null
  return html`<p class="pager">${before !== null && html`<a href="${link(path, before)}" rel="prev">← ${words.common.previous}</a> `}${
    after !== null && html`<a href="${link(path, after)}" rel="next">${words.common.next} →</a>`
  }</p>`
}

/** A whole number from the address; null where there is none. */
export function wholeOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}
