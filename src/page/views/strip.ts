import { SIGNS } from '../client/signs.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { COVERAGE_STATES, type CoverageState, type Shares } from '../queries/intervals.ts'

/** What the signs and colours mean. */
export const stateLegend = ({ words }: PageRequest): Html =>
  html`<ul class="legend">${COVERAGE_STATES.map(
    (state) =>
      html`<li><span class="cell ${state}" aria-hidden="true">${SIGNS[state]}</span> ${words.common.states[state]}${state === 'provisional' && html`, ${words.common.mayChange}`}</li>`,
  )}</ul>`

const percent = (share: number): string =>
  share > 0 && share < 0.01 ? '<1' : share < 1 && share > 0.99 ? '>99' : String(Math.round(share * 100))

/** Shares in words, the largest first: `final 98 %, requested without success 2 %`. */
export const sharesText = ({ words }: PageRequest, shares: Shares): string =>
  Object.entries(shares)
    .filter(([, share]) => share > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([state, share]) =>
      share >= 1
        ? words.common.states[state as CoverageState]
        : `${words.common.states[state as CoverageState]} ${percent(share)} %`,
    )
    .join(', ')

/** The shares of several equally long periods together. */
function mergeShares(days: readonly Shares[]): Shares {
  const sums = new Map<CoverageState, number>()
  for (const shares of days)
    for (const [state, share] of Object.entries(shares))
      sums.set(state as CoverageState, (sums.get(state as CoverageState) ?? 0) + share)
  return Object.fromEntries([...sums].map(([state, sum]) => [state, sum / days.length]))
}

/** The height of each state: states differ in height and colour. */
const STATE_HEIGHTS: Readonly<Record<CoverageState, number>> = {
  final: 12,
  provisional: 8,
  empty: 3,
  none: 0,
  unverified: 12,
  failed: 12,
}

interface Block {
  readonly from: number
  readonly to: number
  readonly shares: Shares
}

const areSameShares = (a: Shares, b: Shares): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Consecutive days with the same shares, as one. */
function blocks(days: readonly Shares[]): Block[] {
  const found: Block[] = []
  for (const [i, shares] of days.entries()) {
    const last = found.at(-1)
    if (last && areSameShares(last.shares, shares)) found[found.length - 1] = { ...last, to: i + 1 }
    else found.push({ from: i, to: i + 1, shares })
  }
  return found
}

/** The rectangles of a block: each of several states has its share of the height. */
function rectangles({ from, to, shares }: Block): Html[] {
  const present = COVERAGE_STATES.filter((state) => state !== 'none' && (shares[state] ?? 0) > 0)
  if (present.length === 1 && shares[present[0]!]! >= 1) {
    const height = STATE_HEIGHTS[present[0]!]
    return [html`<rect class="${present[0]}" x="${from}" y="${12 - height}" width="${to - from}" height="${height}"/>`]
  }
  let top = 12
  return present.map((state) => {
    // What is missing stays visible, however little it is.
    const height = Math.max(shares[state]! * 12, state === 'unverified' || state === 'failed' ? 2 : 0)
    top -= height
    return html`<rect class="${state}" x="${from}" y="${Math.max(0, Math.round(top * 10) / 10)}" width="${to - from}" height="${Math.round(height * 10) / 10}"/>`
  })
}

/** A strip of days as a picture, with an alternative text. */
export function stripPicture(request: PageRequest, days: readonly Shares[]): Html {
  const text = sharesText(request, mergeShares(days))
  return html`<svg class="strip" viewBox="0 0 ${days.length} 12" preserveAspectRatio="none" role="img" aria-label="${text}"><title>${text}</title>${blocks(days).map(rectangles)}</svg>`
}
