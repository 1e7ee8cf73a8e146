import { SIGNS } from './client/format.ts'
import { type Html, html } from './html.ts'
import type { PageRequest } from './page.ts'
import { COVERAGE_STATES, type CoverageState, type Shares } from './queries/intervals.ts'

/** The signs and colours of all states, with their names. */
export function stateLegend({ words: { common } }: PageRequest): Html {
  const entries = COVERAGE_STATES.map((state) => {
    const sign = html`<span class="cell ${state}" aria-hidden="true">${SIGNS[state]}</span>`
    return html`<li>${sign} ${common.states[state]}${state === 'provisional' && `, ${common.mayChange}`}</li>`
  })
  return html`<ul class="legend">${entries}</ul>`
}

function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1'
  if (share < 1 && share > 0.99) return '>99'
  return String(Math.round(share * 100))
}

const shareEntries = (shares: Shares) => Object.entries(shares) as [CoverageState, number][]

/** Shares in words, the largest first: `final 98 %, request failed 2 %`. */
export const sharesText = ({ words }: PageRequest, shares: Shares): string =>
  shareEntries(shares)
    .filter(([, share]) => share > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([state, share]) => `${words.common.states[state]}${share >= 1 ? '' : ` ${percent(share)} %`}`)
    .join(', ')

/** Merges the shares of equally long periods. */
function mergeShares(days: readonly Shares[]): Shares {
  const sums: Partial<Record<CoverageState, number>> = {}
  for (const [state, share] of days.flatMap(shareEntries)) sums[state] = (sums[state] ?? 0) + share / days.length
  return sums
}

/** The height of a whole day in each state. */
const STATE_HEIGHTS = {
  final: 12,
  provisional: 8,
  empty: 3,
  withdrawn: 8,
  none: 0,
  unverified: 12,
  failed: 12,
} as const

/** Draws days with the same shares; each state has its share of the height. */
function rectangles(shares: Shares, from: number, width: number): Html[] {
  const present = COVERAGE_STATES.filter((state) => state !== 'none' && (shares[state] ?? 0) > 0)
  let top = 12
  return present.map((state) => {
    const isWhole = shares[state]! >= 1
    // Even the smallest part stays visible.
    const height = isWhole ? STATE_HEIGHTS[state] : Math.max(shares[state]! * 12, 2)
    top -= height
    const place = html`x="${from}" y="${Math.max(0, Math.round(top * 10) / 10)}"`
    const size = html`width="${width}" height="${Math.round(height * 10) / 10}"`
    return html`<rect class="${state}" ${place} ${size}/>`
  })
}

/** Draws consecutive periods from left to right. Those with the same shares are drawn as one. */
function picture(periods: readonly Shares[], attributes: Html, title?: Html): Html {
  const keys = periods.map((shares) => JSON.stringify(shares))
  const begins = [...keys.keys()].filter((i) => keys[i] !== keys[i - 1])
  return html`<svg ${attributes} viewBox="0 0 ${periods.length} 12" preserveAspectRatio="none">${title}${begins.map(
    (from, i) => rectangles(periods[from]!, from, (begins[i + 1] ?? periods.length) - from),
  )}</svg>`
}

/** Draws the parts of a cell, whose link says the shares in words. */
export const cellPicture = (parts: readonly Shares[]): Html => picture(parts, html`aria-hidden="true"`)

/** Draws a strip of days. */
export function stripPicture(request: PageRequest, days: readonly Shares[]): Html {
  const text = sharesText(request, mergeShares(days))
  return picture(days, html`class="strip" role="img" aria-label="${text}"`, html`<title>${text}</title>`)
}
