/** The values at the cursor of a chart: announced to screen readers, and shown in a box beside the cursor. */
import type { ChartPage } from './embeddedData.ts'
import { timeText, valueText } from './format.ts'
import { withUnit } from './plot.ts'
import { type LineData, periodAt } from './segments.ts'
import type { ShownChart } from './shownChart.ts'

/** Milliseconds after which a cursor has stopped: only there, a screen reader reads the values. */
const STOPPED_MS = 60

/** The value of a line at an instant, with its extremes if it is a summary. */
function lineText(drawn: LineData, at: number, unit: string | null, locale: string): string {
  const { mean = null, min, max } = periodAt(drawn, at) ?? {}
  if (mean === null) return '–'
  const value = withUnit(mean, unit, locale)
  return min === max ? value : `${value} (${valueText(min!, locale)} – ${valueText(max!, locale)})`
}

/** The values at an instant, each with the class of its line. */
function valuesAt({ embedded, chart }: ChartPage, at: number) {
  const { words, locale, name } = embedded
  const { now, before, compared, difference, unit, offsets } = chart
  const period = periodAt(now, at) ?? (before ? periodAt(before, at) : undefined)
  const stateIn = (states: ShownChart['states']): string =>
    words.states[states.find(([from, to]) => at >= from && at < to)?.[2] ?? ''] ?? ''
  const parts = [
    ['', timeText(offsets, period?.from ?? Math.floor(at))],
    ['now', `${compared.length > 0 ? `${name}: ` : ''}${lineText(now, at, unit, locale)}`],
    ['then', before && words.thenValue!.replace('{}', lineText(before, at, unit, locale))],
    ...compared.map((line, i) => [
      `with-${i}`,
      `${line.name}: ${lineText(line.drawn, at, line.unit, locale)} ${stateIn(line.states)}`.trim(),
    ]),
    ['difference', difference && `${words.difference}: ${lineText(difference.drawn, at, unit, locale)}`],
    ['', stateIn(chart.states)],
  ].map(([className, textContent]) => ({ className: className ?? '', textContent: textContent ?? '' }))
  return parts.filter(({ textContent }) => textContent !== '')
}

/** Creates the cursor of a chart; `status`: the element that screen readers read. */
export function createCursor(place: HTMLElement, status: Element, page: ChartPage) {
  const tip = place.querySelector<HTMLElement>('.tip')!
  let at: number | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const show = (): void => {
    const parts = at === null ? [] : valuesAt(page, at)
    clearTimeout(timer)
    timer = setTimeout(() => {
      status.textContent = parts.map(({ textContent }) => textContent).join(' · ')
    }, STOPPED_MS)
    tip.replaceChildren(...parts.map((part) => Object.assign(document.createElement('div'), part)))
  }
  return {
    /** The instant of the cursor; null without one. */
    at: (): number | null => at,
    /** Moves the cursor to an instant; `left`: its place in the chart if the mouse moved it. */
    move(to: number | null, left: number | null): void {
      at = to
      if (to !== null) show()
      tip.hidden = left === null
      if (left === null) return
      tip.classList.toggle('start', left > place.clientWidth / 2)
      tip.style.left = `${left}px`
    },
    /** Shows the values of new data, if the cursor is still in the range. */
    refresh(): void {
      const { from, to } = page.chart
      if (at !== null && (at < from || at >= to)) at = null
      // After a tap, the box is a card below the chart.
      tip.hidden ||= at === null || !place.classList.contains('touch')
      show()
    },
  }
}

export type Cursor = ReturnType<typeof createCursor>
