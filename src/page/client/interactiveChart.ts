import { createChart, type ShownChart } from './chart.ts'
import { addressText, timeText } from './clock.ts'
import { refreshPage } from './live.ts'
import { type Drawn, eachPeriod, periodAt } from './segments.ts'
import { createSlider } from './slider.ts'

/** The data that the page has embedded for this script. */
interface EmbeddedData {
  readonly chart: ShownChart & { readonly asOf: string | null; readonly second: { readonly name: string } | null }
  readonly label: string
  readonly changes: readonly { readonly at: string; readonly run: number; readonly text: string }[]
  readonly locale: string
  readonly api: string
  readonly explain: string
  readonly words: Readonly<Record<string, string>> & { readonly states: Readonly<Record<string, string>> }
}

/** A sentence with its placeholders filled. */
const filled = (sentence: string | undefined, what: string | number): string =>
  (sentence ?? '').replace('{}', String(what))

/** How many periods have a different value now than they had then. */
function differing(now: Drawn, then: Drawn | null): number {
  if (!then) return 0
  const before = new Map([...eachPeriod(then)].map(({ from, mean }) => [from, mean]))
  let count = 0
  for (const { from, mean } of eachPeriod(now)) {
    if ((before.get(from) ?? null) !== mean) count++
    before.delete(from)
  }
  for (const mean of before.values()) if (mean !== null) count++
  return count
}

/** The length of a period: `6 h`. */
function lengthText(seconds: number): string {
  const [size, unit] = (
    [
      [86_400, 'd'],
      [3_600, 'h'],
      [60, 'min'],
    ] as const
  ).find(([length]) => seconds % length === 0) ?? [1, 's']
  return `${seconds / size} ${unit}`
}

/** Makes the chart of a page interactive. */
function beginChart(): void {
  const source = document.querySelector('#data')
  const place = document.querySelector<HTMLElement>('#chart')
  const cursorText = document.querySelector('#cursor')
  if (!source || !place || !cursorText) return
  let text = source.textContent ?? ''
  let given = JSON.parse(text) as EmbeddedData
  const { words } = given
  let chart = given.chart
  let at: number | null = null
  const main = document.querySelector('main')!

  const number = new Intl.NumberFormat(given.locale, { maximumFractionDigits: 3 })
  const valueText = (drawn: Drawn, when: number): string | undefined => {
    const held = periodAt(drawn, when)
    if (held?.mean === null || held?.mean === undefined) return undefined
    if (drawn.kind === 'values') return number.format(held.mean)
    return `${number.format(held.mean)} (${number.format(held.min!)} – ${number.format(held.max!)})`
  }

  /** The sentence about an instant. */
  function sentence(when: number): string {
    const held = periodAt(chart.now, when) ?? (chart.before ? periodAt(chart.before, when) : undefined)
    const state = chart.states.find(([from, to]) => when >= from && when < to)?.[2]
    return [
      timeText(chart.offsets, held?.from ?? Math.floor(when)),
      `${valueText(chart.now, when) ?? '–'}${chart.unit ? ` ${chart.unit}` : ''}`,
      chart.before && filled(words.thenValue, valueText(chart.before, when) ?? '–'),
      chart.second && `${chart.second.name}: ${valueText(chart.second.drawn, when) ?? '–'}`,
      state && words.states[state],
    ]
      .filter(Boolean)
      .join(' · ')
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  const announce = (text: string): void => {
    clearTimeout(timer)
    // A screen reader hears where the cursor stops, not everything that it passes.
    timer = setTimeout(() => {
      cursorText.textContent = text
    }, 60)
  }

  let loading = new AbortController()
  let shownFor = ''
  let isOwnRefresh = false
  /** Requests what the chart is to show; a later request cancels an earlier one. */
  async function load(from: number, to: number, asOf: string | null, isDone: boolean): Promise<void> {
    loading.abort()
    loading = new AbortController()
    const { signal } = loading
    const address = new URL(location.href)
    const range = { from: addressText(chart.offsets, from), to: addressText(chart.offsets, to) }
    for (const [name, value] of Object.entries({ ...range, asof: asOf }))
      if (value === null) address.searchParams.delete(name)
      else address.searchParams.set(name, value)
    // The browser's history keeps only ranges that the user has finished choosing.
    if (isDone) history.pushState(null, '', address)
    main.dataset.still = ''
    try {
      const query = new URLSearchParams(address.search)
      query.set('px', String(view.columns()))
      const isThenOnly = asOf !== null && chart.before !== null && `${from} ${to}` === shownFor
      if (isThenOnly) query.set('only', 'before')
      const answer = await fetch(`${given.api}?${query}`, { signal })
      if (!answer.ok) throw new Error(String(answer.status))
      const came = (await answer.json()) as Partial<EmbeddedData['chart']>
      chart = { ...chart, ...came }
      shownFor = `${from} ${to}`
      view.show(chart)
      showLegend()
      place!.dataset.drawn = String(Number(place!.dataset.drawn ?? 0) + 1)
      slider?.say(chart.asOf === null ? '' : filled(words.differ, differing(chart.now, chart.before)))
      if (isDone) {
        isOwnRefresh = true
        await refreshPage(signal)
      }
    } catch (error) {
      if (!signal.aborted) cursorText!.textContent = words.failed ?? String(error)
    } finally {
      if (!signal.aborted) {
        isOwnRefresh = false
        delete main.dataset.still
      }
    }
  }

  /** Names the line and the band of a picture that summarizes values. */
  function showLegend(): void {
    const legend = document.querySelector<HTMLElement>('#bucket')
    const [segment] = chart.now.kind === 'extremes' ? chart.now.segments : []
    if (!legend) return
    legend.hidden = segment === undefined
    if (segment) legend.textContent = filled(words.bucket, lengthText(segment.step))
  }

  const zoom = (from: number, to: number): void => {
    const least = 2 * 300
    const middle = (from + to) / 2
    const half = Math.max(to - from, least) / 2
    const [first, last] = [Math.floor(middle - half), Math.ceil(middle + half)]
    view.preview(first, last)
    void load(first, last, chart.asOf, true)
  }

  const view = createChart(place, chart, given.locale, {
    cursor: (when) => {
      at = when
      if (when !== null) announce(sentence(when))
    },
    zoom,
  })
  place.querySelector('svg.figure')?.remove()
  place.tabIndex = 0
  place.setAttribute('role', 'group')
  place.setAttribute('aria-label', given.label)
  place.setAttribute('aria-describedby', 'keys')
  place.dataset.drawn = '1'
  performance.mark('chart drawn')

  const makeSlider = () =>
    createSlider(document.querySelector('#slider'), given.changes, chart.asOf, words, (asOf, isDone) =>
      load(chart.from, chart.to, asOf, isDone),
    )
  let slider = makeSlider()
  slider?.say(chart.asOf === null ? '' : filled(words.differ, differing(chart.now, chart.before)))

  const whole = { from: chart.from, to: chart.to }
  const about = (factor: number): void => {
    const middle = at ?? (chart.from + chart.to) / 2
    zoom(middle - (middle - chart.from) * factor, middle + (chart.to - middle) * factor)
  }
  const KEYS: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => view.move(-1),
    ArrowRight: () => view.move(1),
    PageUp: () => view.move(-24),
    PageDown: () => view.move(24),
    '+': () => about(0.5),
    '-': () => about(2),
    Home: () => zoom(whole.from, whole.to),
    '[': () => slider?.step(-1),
    ']': () => slider?.step(1),
    e: () => {
      const held = at === null ? undefined : periodAt(chart.now, at)
      if (!held) return
      // A summary of several values is looked into first.
      if (chart.now.kind === 'values') location.href = `${given.explain}${held.from}`
      else zoom(held.from, held.to)
    },
  }
  place.addEventListener('keydown', (event) => {
    const act = KEYS[event.key]
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  })
  // The embedded data is replaced by finer data where the picture has room for it.
  const isCoarse = [chart.now, chart.before, chart.second?.drawn].some((drawn) => drawn?.kind === 'extremes')
  if (isCoarse) void load(chart.from, chart.to, chart.asOf, false)
  else shownFor = `${chart.from} ${chart.to}`
  showLegend()
  // The page was updated: by the chart itself, or because a sync has written.
  document.addEventListener('page:changed', () => {
    const fresh = document.querySelector('#data')?.textContent ?? text
    if (fresh === text) return
    const changes = JSON.stringify(given.changes)
    text = fresh
    given = JSON.parse(text) as EmbeddedData
    if (JSON.stringify(given.changes) !== changes) slider = makeSlider()
    if (isOwnRefresh) return
    shownFor = ''
    void load(chart.from, chart.to, chart.asOf, false)
  })
}

beginChart()
// Back and forward: the address determines the whole page, so the page is loaded again.
addEventListener('popstate', () => location.reload())
