import { isFailure } from '../../db/queries/fetchOutcomes.ts'
import { localText } from '../formats.ts'
import { type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import type { Cause } from '../queries/causes.ts'

/** The ids of rows that links lead to. */
export const requestRow = (fetch: number): string => `request-${fetch}`
export const rejectRow = (id: number): string => `reject-${id}`

/** Links to the last request for a gap, on the page of its run, and to its rows in quarantine. */
export function causeLinks(cause: Cause | null, request: PageRequest): HtmlPart {
  if (cause === null || !request.isLive) return null
  const { fetch, run, outcome, status, at, rejected, reject } = cause
  const { words, link } = request
  const { runs } = words
  const state = `${runs.results[outcome]}${isFailure(outcome) && status !== null ? ` (HTTP ${status})` : ''}`
  const fetchAddress = `${link(`/runs/${run}`, { before: fetch + 1 })}#${requestRow(fetch)}`
  const fetchLink = html`<a href="${fetchAddress}">${runs.requestAt(String(run), localText(request, at))}</a>`
  if (reject === null) return html`<small>${fetchLink}: ${state}</small>`
  const rejectAddress = `${link('/quarantine', { before: reject + 1 })}#${rejectRow(reject)}`
  const rejectLink = html`<a href="${rejectAddress}">${runs.inQuarantine(rejected)}</a>`
  return html`<small>${fetchLink}: ${state} · ${rejectLink}</small>`
}
