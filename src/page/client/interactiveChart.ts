/** The chart of a series: its cursor, zoom, keys and past states. */
import './chartForm.ts'
import { type Cursor, createCursor } from './cursor.ts'
import type { ChartData, ChartPage, EmbeddedData } from './embeddedData.ts'
import { createLoader, fetchMomentBefore, type Range } from './loader.ts'
import { createChart } from './plot.ts'
import { periodAt } from './segments.ts'
import { useSlider } from './slider.ts'

/** The shortest half of a range: one period of five minutes. */
const MIN_HALF_S = 300
/** The part of a range that a click on a summary shows. */
const SUMMARY_ZOOM = 0.2

/** A range that the form can show: at least ten minutes, and whole ones, as its fields have. */
function formRange(from: number, to: number): Range {
  const middle = (from + to) / 2
  const half = Math.max((to - from) / 2, MIN_HALF_S)
  return { from: Math.floor((middle - half) / 60) * 60, to: Math.ceil((middle + half) / 60) * 60 }
}

/** How many values changed since the moment of a chart, in words; empty without one. */
function changedText({ embedded: { words, locale }, chart: { changed } }: ChartPage): string {
  if (!changed) return ''
  const counts = [changed.revised, changed.withdrawn, changed.added]
  return words.differ!.replace(/\{(\d)\}/g, (_, i: string) => counts[Number(i)]!.toLocaleString(locale))
}

/** Explains the line and the band of summarized values in the legend. */
function explainSummary({ bucket }: ChartData): void {
  const entry = document.querySelector<HTMLElement>('#bucket')
  if (!entry) return
  entry.hidden = bucket === null
  entry.textContent = bucket
}

/** Lets keys without modifiers act on an element. */
function listenToKeys(place: HTMLElement, keys: Readonly<Record<string, () => void>>): void {
  place.addEventListener('keydown', (event) => {
    const act = keys[event.key]
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  })
}

/** Calls a function with the embedded data if the chart itself, or a sync, has updated the page. */
function watchData(text: string, changed: (embedded: EmbeddedData) => void): void {
  let lastText = text
  document.addEventListener('page:changed', () => {
    const newText = document.querySelector('#data')?.textContent ?? lastText
    if (newText === lastText) return
    lastText = newText
    changed(JSON.parse(newText) as EmbeddedData)
  })
}

/** Creates the actions that show another range, or the origin of a value. */
function createRangeActions(page: ChartPage, cursor: Cursor, show: (range: Range) => void) {
  const zoom = (from: number, to: number): void => show(formRange(from, to))
  /** Scales the range about an instant. */
  const scale = (factor: number, middle: number): void => {
    const { from, to } = page.chart
    zoom(middle - (middle - from) * factor, middle + (to - middle) * factor)
  }
  /** Shows the origin of a value, or zooms into a summary. */
  const explain = (at: number): void => {
    const period = periodAt(page.chart.now, at)
    if (!period) return
    // The page of the value leads back to this one.
    if (page.chart.now.kind === 'values') location.href = page.embedded.explain.replace('?', `${period.from}?`)
    else scale(SUMMARY_ZOOM, at)
  }
  return {
    zoom,
    explain,
    scaleAtCursor: (factor: number): void => scale(factor, cursor.at() ?? (page.chart.from + page.chart.to) / 2),
    explainAtCursor(): void {
      const at = cursor.at()
      if (at !== null) explain(at)
    },
  }
}

/** Goes to the moment before the last change of the value at an instant; says if there is none. */
async function goBefore(
  page: ChartPage,
  at: number | null,
  goTo: (moment: string) => void,
  say: (message: string) => void,
): Promise<void> {
  const { now, before } = page.chart
  const { words } = page.embedded
  const period = at === null ? undefined : (periodAt(now, at) ?? (before && periodAt(before, at)))
  if (!period) return
  try {
    const moment = await fetchMomentBefore(page, period)
    if (moment === undefined) say(words.neverChanged!)
    else goTo(moment)
  } catch {
    say(words.failed!)
  }
}

/** Replaces the pictures of the server by a chart, and connects it with its page. */
function startChart(place: HTMLElement, status: Element, text: string): void {
  const embedded = JSON.parse(text) as EmbeddedData
  const page: ChartPage = { embedded, chart: embedded.chart }
  const { words, locale } = embedded
  const whole: Range = { from: page.chart.from, to: page.chart.to }
  const cursor = createCursor(place, status, page)
  const [explainButton, earlierButton] = place.querySelectorAll('.card button') as unknown as [
    HTMLButtonElement,
    HTMLButtonElement,
  ]
  /** Names what a click, or the button after a tap, does with a value. */
  const showTexts = (): void => {
    explainButton.textContent = (page.chart.now.kind === 'values' ? words.explainValue : words.zoomIn)!
    explainSummary(page.chart)
    slider?.say(changedText(page))
  }
  const say = (message: string): void => {
    status.textContent = message
  }

  const loader = createLoader(page, {
    columns: () => view.columns(),
    fail: say,
    show(chart) {
      page.chart = chart
      view.show(chart)
      cursor.refresh()
      showTexts()
      place.dataset.drawn = String(Number(place.dataset.drawn) + 1)
    },
  })
  const reload = (): unknown => loader.load(page.chart, page.chart.asOf, false)
  const { zoom, scaleAtCursor, explain, explainAtCursor } = createRangeActions(page, cursor, (range) => {
    view.preview(range.from, range.to)
    void loader.load(range, page.chart.asOf, true)
  })

  const view = createChart(place, page.chart, {
    locale,
    names: { ...words.states, now: words.now!, unfinished: words.unfinished! },
    cursor: cursor.move,
    zoom,
    open: explain,
  })
  for (const picture of place.querySelectorAll('svg.figure')) picture.remove()
  Object.assign(place, { tabIndex: 0, role: 'group', ariaLabel: embedded.label })
  place.setAttribute('aria-describedby', 'keys')
  place.dataset.drawn = '1'
  performance.mark('chart drawn')

  const makeSlider = () =>
    useSlider(page.embedded.changes, page.chart.asOf, words.now ?? '', (asOf, isDone) =>
      loader.load(page.chart, asOf, isDone),
    )
  let slider = makeSlider()
  showTexts()
  explainButton.onclick = explainAtCursor
  earlierButton.onclick = () => void goBefore(page, cursor.at(), (moment) => slider?.goTo(moment), say)
  earlierButton.hidden = !slider

  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => view.move(-1),
    ArrowRight: () => view.move(1),
    PageUp: () => view.move(-24),
    PageDown: () => view.move(24),
    '+': () => scaleAtCursor(0.5),
    '-': () => scaleAtCursor(2),
    Home: () => zoom(whole.from, whole.to),
    '[': () => slider?.step(-1),
    ']': () => slider?.step(1),
    e: () => (cursor.at() === null ? view.move(1) : explainAtCursor()),
  }
  listenToKeys(place, keys)
  // The chart may have room for finer data than the page.
  const lines = [page.chart.now, page.chart.before, ...page.chart.compared.map(({ drawn }) => drawn)]
  if (lines.some((drawn) => drawn?.kind === 'extremes')) reload()
  watchData(text, (embedded) => {
    const hasChanges = JSON.stringify(embedded.changes) !== JSON.stringify(page.embedded.changes)
    page.embedded = embedded
    if (hasChanges) slider = makeSlider()
    if (!loader.isRefreshing()) reload()
  })
}

const place = document.querySelector<HTMLElement>('#chart')
const status = document.querySelector('#cursor')
const text = document.querySelector('#data')?.textContent
if (place && status && text) startChart(place, status, text)
// The address determines the whole page.
addEventListener('popstate', () => location.reload())
