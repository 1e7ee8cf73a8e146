/** Days from left to right, hours from top to bottom: how a series goes through the day, and the year. */
import { padTwo, valueText, writtenLocale } from './format.ts'

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
const COLOURS = '440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725'
  .split(' ')
  .map((hex) => `#${hex}`)

/** The height of an hour, and the width of the labels of hours. */
const [ROW, LABELS] = [12, 48]
const slotText = ({ hour, again }: Carpet['slots'][number]): string => `${padTwo(hour)}:00${again ? ' (2)' : ''}`

/** Adds an element with a class and a text to another one. */
function add<Name extends 'canvas' | 'div' | 'p' | 'span'>(
  parent: Element,
  name: Name,
  className = '',
  textContent = '',
): HTMLElementTagNameMap[Name] {
  return parent.appendChild(Object.assign(document.createElement(name), { className, textContent }))
}

/** The places of the slots that a day has in an hour: two on a day on which the clocks go back. */
const slotsOf = ({ slots, days }: Carpet, day: number, hour: number): number[] =>
  [...slots.keys()].filter((y) => slots[y]!.hour === hour && (!slots[y]!.again || days[day]!.hours[y] !== false))

/** Draws the cells, each as wide as the element allows. An hour that comes twice has two in its place. */
function drawCells(canvas: HTMLCanvasElement, carpet: Carpet, colour: (value: number) => string): void {
  const { days } = carpet
  const width = Math.max(1, Math.floor((canvas.parentElement!.clientWidth - LABELS) / days.length))
  canvas.width = width * days.length
  canvas.height = ROW * 24
  const context = canvas.getContext('2d')!
  for (const [x, { hours }] of days.entries())
    for (let hour = 0; hour < 24; hour++) {
      const own = slotsOf(carpet, x, hour)
      for (const [i, y] of own.entries()) {
        const value = hours[y]
        if (typeof value !== 'number') continue
        context.fillStyle = colour(value)
        context.fillRect(x * width, hour * ROW + (i * ROW) / own.length, width, ROW / own.length)
      }
    }
}

/** Lets the arrow keys and the mouse move from cell to cell, and says what each holds. */
function followCursor(canvas: HTMLCanvasElement, carpet: Carpet, given: CarpetOptions, status: Element): void {
  const { slots, days } = carpet
  const { chart, locale, words } = given
  const last = { x: days.length - 1, y: slots.length - 1 }
  let [x, y] = [0, 0]
  const say = (): void => {
    const value = days[x]!.hours[y]
    const text = value === false ? words.noHour : value == null ? '–' : valueText(value, locale)
    status.textContent = `${days[x]!.date} ${slotText(slots[y]!)} · ${text}${typeof value === 'number' && chart.unit ? ` ${chart.unit}` : ''}`
  }
  const MOVES: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
    Home: [Number.NEGATIVE_INFINITY, 0],
    End: [Number.POSITIVE_INFINITY, 0],
  }
  const within = (place: number, most: number): number => Math.min(most, Math.max(0, place))
  canvas.addEventListener('keydown', (event) => {
    const [right, down] = MOVES[event.key] ?? []
    if (right === undefined || down === undefined) return
    event.preventDefault()
    x = within(x + right, last.x)
    y = within(y + down, last.y)
    // Most days have no hour twice.
    while (slots[y]!.again && days[x]!.hours[y] === false) y += down || -1
    say()
  })
  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
    x = within(Math.floor((offsetX / canvas.clientWidth) * days.length), last.x)
    const hour = within((offsetY / canvas.clientHeight) * 24, 23.99)
    const own = slotsOf(carpet, x, Math.floor(hour))
    y = own[Math.floor((hour % 1) * own.length)]!
    say()
  })
}

/** Names hours, days and colours beside a picture. */
function addAxes(place: Element, box: Element, canvas: HTMLCanvasElement, { days }: Carpet, locale: string): void {
  const hours = add(box, 'div', 'hours')
  hours.ariaHidden = 'true'
  for (let hour = 0; hour < 24; hour++) add(hours, 'span', '', hour % 6 === 0 ? padTwo(hour) : '')
  box.prepend(hours)
  const axis = add(place, 'div', 'days-axis')
  axis.ariaHidden = 'true'
  const format = new Intl.DateTimeFormat(writtenLocale(locale), { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const step = Math.ceil(days.length / Math.max(1, Math.floor(canvas.width / 70)))
  for (let i = 0; i < days.length; i += step)
    add(axis, 'span', '', format.format(Date.parse(days[i]!.date))).style.left =
      `${LABELS + (i * canvas.width) / days.length}px`
}

/** Requests and shows the hours of the range of the page. */
async function showCarpet(place: HTMLElement, given: CarpetOptions): Promise<void> {
  const { words, locale, chart } = given
  const answer = await fetch(`${given.carpet}${location.search}`)
  const carpet = answer.ok ? ((await answer.json()) as Carpet | null) : null
  place.replaceChildren()
  if (!carpet || carpet.days.length === 0) {
    add(place, 'p', '', answer.ok ? words.carpetMuch : words.failed).role = 'status'
    return
  }
  const numbers = carpet.days.flatMap(({ hours }) => hours.filter((value) => typeof value === 'number'))
  const low = numbers.reduce((a, b) => Math.min(a, b), numbers[0] ?? 0)
  const high = numbers.reduce((a, b) => Math.max(a, b), numbers[0] ?? 0)
  const colour = (value: number): string =>
    COLOURS[high > low ? Math.round(((value - low) / (high - low)) * (COLOURS.length - 1)) : 0]!
  const box = add(place, 'div', 'cells')
  const canvas = add(box, 'canvas')
  canvas.tabIndex = 0
  canvas.role = 'img'
  canvas.ariaLabel = `${words.carpet}. ${words.carpetHint}`
  canvas.dataset.days = String(carpet.days.length)
  drawCells(canvas, carpet, colour)
  addAxes(place, box, canvas, carpet, locale)
  const scale = add(place, 'p', 'soft scale')
  scale.append(valueText(low, locale), ' ')
  for (const one of COLOURS) add(scale, 'span').style.background = one
  scale.append(` ${valueText(high, locale)} ${chart.unit ?? ''}`)
  const status = add(place, 'p')
  status.role = 'status'
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
