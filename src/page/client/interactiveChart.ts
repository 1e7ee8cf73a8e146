import { addressText, timeText, valueText } from './format.ts'
import { refreshPage } from './live.ts'
import { createChart, type ShownChart, withUnit } from './plot.ts'
import { type Drawn, periodAt } from './segments.ts'
import { type PastState, useSlider } from './slider.ts'

/** The data that the page embeds for this script. */
export interface EmbeddedData {
  readonly chart: ShownChart & {
    readonly asOf: string | null
    readonly changed: Readonly<Record<'revised' | 'withdrawn' | 'added', number>> | null
  }
  readonly label: string
  readonly name: string
  readonly changes: readonly PastState[]
  readonly locale: string
  readonly api: string
  readonly geo: string
  readonly carpet: string
  /** The series that are compared, as an address names them. */
  readonly with: string
  readonly explain: string
  readonly words: Readonly<Record<string, string>> & { readonly states: Readonly<Record<string, string>> }
}

/** Fills the placeholder of a sentence. */
const fill = (sentence: string | undefined, value: string | number): string =>
  (sentence ?? '').replace(/\{0?\}/, String(value))

function beginChart(): void {
  const source = document.querySelector('#data')
  const place = document.querySelector<HTMLElement>('#chart')
  const cursorText = document.querySelector('#cursor')
  if (!source || !place || !cursorText) return
  let text = source.textContent ?? ''
  let embedded = JSON.parse(text) as EmbeddedData
  const { words, locale } = embedded
  let { chart } = embedded
  let at: number | null = null
  const main = document.querySelector('main')!

  const valueAt = (drawn: Drawn, when: number, unit: string | null): string => {
    const { mean = null, min, max } = periodAt(drawn, when) ?? {}
    if (mean === null) return '–'
    const value = withUnit(mean, unit, locale)
    return min === max ? value : `${value} (${valueText(min!, locale)} – ${valueText(max!, locale)})`
  }

  /** The values at an instant, each with the class of its line. */
  function reading(when: number) {
    const period = periodAt(chart.now, when) ?? (chart.before ? periodAt(chart.before, when) : undefined)
    const stateIn = (states: ShownChart['states']): string =>
      words.states[states.find(([from, to]) => when >= from && when < to)?.[2] ?? ''] ?? ''
    const { difference } = chart
    const then = chart.before && fill(words.thenValue, valueAt(chart.before, when, chart.unit))
    const parts = [
      ['', timeText(chart.offsets, period?.from ?? Math.floor(when))],
      ['now', `${chart.compared.length > 0 ? `${embedded.name}: ` : ''}${valueAt(chart.now, when, chart.unit)}`],
      ['then', then],
      ...chart.compared.map(({ name, drawn, unit, states }, i) => [
        `with-${i}`,
        `${name}: ${valueAt(drawn, when, unit)} ${stateIn(states)}`.trim(),
      ]),
      ['difference', difference && `${words.difference}: ${valueAt(difference.drawn, when, chart.unit)}`],
      ['', stateIn(chart.states)],
    ].map(([className, textContent]) => ({ className: className ?? '', textContent: textContent ?? '' }))
    return parts.filter(({ textContent }) => textContent !== '')
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  const announce = (parts: readonly string[]): void => {
    clearTimeout(timer)
    // A screen reader hears only where the cursor stops.
    timer = setTimeout(() => {
      cursorText.textContent = parts.join(' · ')
    }, 60)
  }
  const tip = place.querySelector<HTMLElement>('.tip')!
  const [explainButton, earlierButton] = place.querySelectorAll<HTMLButtonElement>('.card button')
  const readOut = (when: number | null): void => {
    const parts = when === null ? [] : reading(when)
    announce(parts.map(({ textContent }) => textContent))
    tip.replaceChildren(...parts.map((part) => Object.assign(document.createElement('div'), part)))
  }
  /** Reads the data anew at the cursor, if it is still in the range. */
  const readAgain = (): void => {
    if (at !== null && (at < chart.from || at >= chart.to)) at = null
    // After a tap, it is a card below the chart.
    tip.hidden ||= at === null || !place!.classList.contains('touch')
    readOut(at)
  }

  let loading = new AbortController()
  let isOwnRefresh = false
  const sayDifference = (): void => {
    const { changed } = chart
    const counts = changed && [changed.revised, changed.withdrawn, changed.added]
    slider?.say(
      counts ? words.differ!.replace(/\{(\d)\}/g, (_, i: string) => counts[Number(i)]!.toLocaleString(locale)) : '',
    )
  }
  /** Requests the data of a range; a later request cancels an earlier one. */
  async function load(from: number, to: number, asOf: string | null, isDone: boolean): Promise<void> {
    loading.abort()
    loading = new AbortController()
    const { signal } = loading
    const address = new URL(location.href)
    const range = { from: addressText(chart.offsets, from), to: addressText(chart.offsets, to), last: null, day: null }
    // The last days stay relative until the range changes.
    const isRelative = address.searchParams.has('last') && from === chart.from && to === chart.to
    for (const [name, value] of Object.entries({ ...(isRelative ? {} : range), asof: asOf }))
      if (value === null) address.searchParams.delete(name)
      else address.searchParams.set(name, value)
    // The history has only finished choices.
    if (isDone) history.pushState(null, '', address)
    main.dataset.still = ''
    try {
      const query = new URLSearchParams(address.search)
      query.set('px', String(view.columns()))
      query.set('with', embedded.with)
      const response = await fetch(`${embedded.api}?${query}`, { signal })
      const data = (await response.json()) as EmbeddedData['chart'] & { readonly error?: string }
      if (!response.ok) throw new Error(data.error)
      chart = data
      view.show(chart)
      readAgain()
      showLegend()
      place!.dataset.drawn = String(Number(place!.dataset.drawn ?? 0) + 1)
      sayDifference()
      if (isDone) {
        isOwnRefresh = true
        await refreshPage(signal)
      }
    } catch (error) {
      // Only a failed connection is a TypeError.
      if (!signal.aborted)
        cursorText!.textContent = error instanceof TypeError ? words.failed! : (error as Error).message
    } finally {
      if (!signal.aborted) {
        isOwnRefresh = false
        delete main.dataset.still
      }
    }
  }

  /** Explains the line and the band of summarized values, and names what the card of a tap does with them. */
  function showLegend(): void {
    explainButton!.textContent = (chart.now.kind === 'values' ? words.explainValue : words.zoomIn)!
    const legend = document.querySelector<HTMLElement>('#bucket')
    if (!legend) return
    legend.hidden = chart.bucket === null
    legend.textContent = chart.bucket
  }

  const zoom = (from: number, to: number): void => {
    const middle = (from + to) / 2
    // At least two periods of five minutes.
    const half = Math.max((to - from) / 2, 300)
    // Fields of a form have whole minutes.
    const first = Math.floor((middle - half) / 60) * 60
    const last = Math.ceil((middle + half) / 60) * 60
    view.preview(first, last)
    void load(first, last, chart.asOf, true)
  }
  /** Scales the range about an instant. */
  const scale = (factor: number, middle = at ?? (chart.from + chart.to) / 2): void =>
    zoom(middle - (middle - chart.from) * factor, middle + (chart.to - middle) * factor)
  /** Shows the origin of a value, or zooms into a summary. */
  const explain = (when: number | null): void => {
    const period = when === null ? undefined : periodAt(chart.now, when)
    if (!period) return
    // The page of the value leads back to this one.
    if (chart.now.kind === 'values') location.href = embedded.explain.replace('?', `${period.from}?`)
    else scale(0.2, when!)
  }

  /** Goes to the moment before the last run that changed the values at an instant, as far as they are shown. */
  const goBefore = async (when: number | null): Promise<void> => {
    const period =
      when === null ? undefined : (periodAt(chart.now, when) ?? (chart.before && periodAt(chart.before, when)))
    if (!period) return
    const from = addressText(chart.offsets, period.from)
    const to = addressText(chart.offsets, period.to)
    const query = new URLSearchParams({ geo: embedded.geo, from, to })
    const { asOf } = chart
    try {
      const response = await fetch(`${location.pathname}.json?${query}`)
      const { changes } = (await response.json()) as { readonly changes: readonly { readonly before: string }[] }
      // Before the first one, nothing was stored.
      const change = changes.slice(1).findLast(({ before }) => asOf === null || before < asOf)
      if (change) slider?.goTo(change.before)
      else cursorText.textContent = words.neverChanged!
    } catch {
      cursorText.textContent = words.failed!
    }
  }

  const view = createChart(place, chart, {
    locale,
    names: { ...words.states, now: words.now!, unfinished: words.unfinished! },
    cursor(when, left) {
      at = when
      if (when !== null) readOut(when)
      tip.hidden = left === null
      if (left === null) return
      tip.classList.toggle('start', left > place.clientWidth / 2)
      tip.style.left = `${left}px`
    },
    zoom,
    open: explain,
  })
  for (const picture of place.querySelectorAll('svg.figure')) picture.remove()
  Object.assign(place, { tabIndex: 0, role: 'group', ariaLabel: embedded.label })
  place.setAttribute('aria-describedby', 'keys')
  place.dataset.drawn = '1'
  performance.mark('chart drawn')

  const makeSlider = () =>
    useSlider(embedded.changes, chart.asOf, words.now ?? '', (asOf, isDone) => load(chart.from, chart.to, asOf, isDone))
  let slider = makeSlider()
  sayDifference()

  explainButton!.onclick = () => explain(at)
  earlierButton!.onclick = () => void goBefore(at)
  earlierButton!.hidden = !slider

  const whole = { from: chart.from, to: chart.to }
  const KEYS: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => view.move(-1),
    ArrowRight: () => view.move(1),
    PageUp: () => view.move(-24),
    PageDown: () => view.move(24),
    '+': () => scale(0.5),
    '-': () => scale(2),
    Home: () => zoom(whole.from, whole.to),
    '[': () => slider?.step(-1),
    ']': () => slider?.step(1),
    e: () => (at === null ? view.move(1) : explain(at)),
  }
  place.addEventListener('keydown', (event) => {
    const act = KEYS[event.key]
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  })
  // The chart may have room for finer data than the page.
  const lines = [chart.now, chart.before, ...chart.compared.map(({ drawn }) => drawn)]
  if (lines.some((drawn) => drawn?.kind === 'extremes')) void load(chart.from, chart.to, chart.asOf, false)
  showLegend()
  // The chart itself or a sync has updated the page.
  document.addEventListener('page:changed', () => {
    const fresh = document.querySelector('#data')?.textContent ?? text
    if (fresh === text) return
    const changes = JSON.stringify(embedded.changes)
    text = fresh
    embedded = JSON.parse(text) as EmbeddedData
    if (JSON.stringify(embedded.changes) !== changes) slider = makeSlider()
    if (isOwnRefresh) return
    void load(chart.from, chart.to, chart.asOf, false)
  })
}

/** Omits empty fields from the address of the form, and dates that only display the last days. */
const form = document.querySelector<HTMLFormElement>('form.choose')
form?.addEventListener('formdata', ({ formData }) => {
  const filled = [...formData].filter(([, value]) => value !== '')
  for (const name of [...formData.keys()]) formData.delete(name)
  for (const [name, value] of filled) formData.append(name, value)
  if (!formData.has('last')) return
  const dates = [...form.querySelectorAll<HTMLInputElement>('[name=from], [name=to], [name=day]')]
  const isChanged = dates.some(({ value, defaultValue }) => value !== defaultValue)
  for (const name of isChanged ? ['last'] : ['from', 'to', 'day']) formData.delete(name)
})

/** Milliseconds without another change after which one by keys applies: they pass choices, and type a date in parts. */
const SETTLED_MS = 700
let settled: ReturnType<typeof setTimeout> | undefined
form?.addEventListener('change', ({ target }) => {
  const field = target as HTMLInputElement
  clearTimeout(settled)
  // The text for a line applies with Enter, or by a suggestion.
  if (field.dataset.pick || (field.value === '' && field.type.startsWith('date'))) return
  settled = setTimeout(() => form.requestSubmit(), field.matches(':focus-visible') ? SETTLED_MS : 0)
})

/** Returns to the field from which a key changed the page. */
const FIELD = 'indicator-sync field'
form?.addEventListener('submit', () => {
  const field = form.querySelector<HTMLInputElement>(':focus-visible')
  if (field) sessionStorage.setItem(FIELD, field.name)
})
const left = sessionStorage.getItem(FIELD)
sessionStorage.removeItem(FIELD)
if (left) form?.querySelector<HTMLElement>(`[name="${left}"]:not([type=hidden])`)?.focus()

beginChart()
// The address determines the whole page.
addEventListener('popstate', () => location.reload())
