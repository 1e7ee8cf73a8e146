import { padTwo } from './clock.ts'

/** Days from left to right, hours from top to bottom: how a series goes through the day, and the year. */

interface Carpet {
  readonly slots: readonly { readonly hour: number; readonly again: boolean }[]
  readonly days: readonly { readonly date: string; readonly hours: readonly (number | null | false)[] }[]
}

interface CarpetOptions {
  readonly carpet: string
  readonly locale: string
  readonly chart: { readonly unit: string | null }
  readonly words: Readonly<Record<string, string>>
}

/** Colours of Viridis at even distances: they grow brighter all the way, which also helps readers who do not see all colours. */
const COLOURS = [
  '#440154',
  '#482878',
  '#3e4989',
  '#31688e',
  '#26828e',
  '#1f9e89',
  '#35b779',
  '#6ece58',
  '#b5de2b',
  '#fde725',
]

const ROW = 12
const slotText = ({ hour, again }: Carpet['slots'][number]): string => `${padTwo(hour)}:00${again ? ' (2)' : ''}`

/** Draws the cells, each as wide as the element allows. */
function drawCells(canvas: HTMLCanvasElement, { slots, days }: Carpet, low: number, high: number): void {
  const width = Math.max(1, Math.floor((canvas.parentElement!.clientWidth - 48) / days.length))
  canvas.width = width * days.length
  canvas.height = ROW * slots.length
  const context = canvas.getContext('2d')!
  for (const [x, { hours }] of days.entries())
    for (const [y, value] of hours.entries()) {
      if (value === null || value === false) continue
      const place = high > low ? ((value - low) / (high - low)) * (COLOURS.length - 1) : 0
      context.fillStyle = COLOURS[Math.round(place)]!
      context.fillRect(x * width, y * ROW, width, ROW)
    }
}

/** Lets the arrow keys and the mouse move from cell to cell, and says what each holds. */
function followCursor(
  canvas: HTMLCanvasElement,
  carpet: Carpet,
  { chart, locale, words }: CarpetOptions,
  status: Element,
): void {
  const { slots, days } = carpet
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
  let [x, y] = [0, 0]
  const say = (): void => {
    const value = days[x]!.hours[y]
    const what = value === false ? words.noHour : value === null ? '–' : number.format(value!)
    status.textContent = `${days[x]!.date} ${slotText(slots[y]!)} · ${what}${typeof value === 'number' && chart.unit ? ` ${chart.unit}` : ''}`
  }
  const MOVES: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
    Home: [Number.NEGATIVE_INFINITY, 0],
    End: [Number.POSITIVE_INFINITY, 0],
  }
  canvas.addEventListener('keydown', (event) => {
    const move = MOVES[event.key]
    if (!move) return
    event.preventDefault()
    x = Math.min(days.length - 1, Math.max(0, x + move[0]))
    y = Math.min(slots.length - 1, Math.max(0, y + move[1]))
    say()
  })
  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
    x = Math.min(days.length - 1, Math.max(0, Math.floor((offsetX / canvas.clientWidth) * days.length)))
    y = Math.min(slots.length - 1, Math.max(0, Math.floor((offsetY / canvas.clientHeight) * slots.length)))
    say()
  })
}

/** Requests and shows the hours of the range of the page. */
async function showCarpet(place: HTMLElement, given: CarpetOptions): Promise<void> {
  const answer = await fetch(`${given.carpet}${location.search}`)
  const carpet = answer.ok ? ((await answer.json()) as Carpet | null) : null
  place.replaceChildren()
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  if (!carpet || carpet.days.length === 0) {
    status.textContent = (answer.ok ? given.words.carpetMuch : given.words.failed) ?? ''
    place.append(status)
    return
  }
  const numbers = carpet.days.flatMap(({ hours }) => hours.filter((value) => typeof value === 'number'))
  const [low, high] = [
    numbers.reduce((a, b) => Math.min(a, b), numbers[0] ?? 0),
    numbers.reduce((a, b) => Math.max(a, b), numbers[0] ?? 0),
  ]
  const canvas = document.createElement('canvas')
  canvas.tabIndex = 0
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', `${given.words.carpet}. ${given.words.carpetHint}`)
  canvas.dataset.rows = String(carpet.slots.length)
  canvas.dataset.days = String(carpet.days.length)
  const hours = document.createElement('div')
  hours.className = 'hours'
  hours.setAttribute('aria-hidden', 'true')
  for (const slot of carpet.slots) {
    const label = hours.appendChild(document.createElement('span'))
    label.textContent = slot.hour % 6 === 0 || slot.again ? slotText(slot).replace(':00', '') : ''
  }
  const both = document.createElement('div')
  both.className = 'cells'
  both.append(hours, canvas)
  const scale = document.createElement('p')
  scale.className = 'soft'
  const number = new Intl.NumberFormat(given.locale, { maximumFractionDigits: 3 })
  scale.textContent = `${carpet.days[0]!.date} – ${carpet.days.at(-1)!.date} · ${number.format(low)} – ${number.format(high)} ${given.chart.unit ?? ''}`
  place.append(both, scale, status)
  drawCells(canvas, carpet, low, high)
  followCursor(canvas, carpet, given, status)
}

const details = document.querySelector<HTMLDetailsElement>('#carpet')

/** Shows the hours if their part of the page is open. */
function showOpenCarpet(): void {
  const source = document.querySelector('#data')
  const place = details?.querySelector('div')
  if (details?.open && source && place) void showCarpet(place, JSON.parse(source.textContent ?? '') as CarpetOptions)
}

details?.addEventListener('toggle', showOpenCarpet)
document.addEventListener('page:changed', showOpenCarpet)
