/** A heat map: days from left to right, hours from top to bottom. */
import type { EmbeddedData } from './embeddedData.ts'
import { ARROWS, padTwo, valueText, writtenLocale } from './format.ts'

interface Carpet {
  readonly slots: readonly { readonly hour: number; readonly again: boolean }[]
  readonly days: readonly { readonly date: string; readonly hours: readonly (number | null | false)[] }[]
}

/** Viridis: its colours differ in brightness too. */
const RISING = '440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725'
/** For values of both signs: blue below zero, yellow at zero, red above. */
const SIGNED = '313695 4575b4 74add1 abd9e9 ffffbf fdae61 f46d43 d73027 a50026'

/** The colours between two limits, and the place of a value among them; for both signs, the limits are equally far from zero. */
function colourScale(low: number, high: number) {
  const isSigned = low < 0 && high > 0
  const colours = (isSigned ? SIGNED : RISING).split(' ').map((hex) => `#${hex}`)
  const last = colours.length - 1
  const zero = isSigned ? last / 2 : -1
  const farthest = Math.max(-low, high)
  const place = (value: number): number => {
    if (!isSigned) return high > low ? Math.round(((value - low) / (high - low)) * last) : 0
    // Equal distances from zero have equal strength, and the least value has the colour of its sign.
    return zero + Math.sign(value) * Math.ceil((Math.abs(value) / farthest) * zero)
  }
  const ends = isSigned ? [-farthest, farthest] : [low, high]
  return { colours, zero, ends, isSigned, colour: (value: number): string => colours[place(value)]! }
}

/** The height of an hour, and the width of the labels of hours. */
const ROW = 12
const LABELS = 48
const MOVES: typeof ARROWS = { ...ARROWS, Home: [-Infinity, 0], End: [Infinity, 0] }

const details = document.querySelector<HTMLDetailsElement>('#carpet')
const canvas = details?.querySelector('canvas')
const [message, status] = details?.querySelectorAll('[role=status]') ?? []
let options: EmbeddedData | undefined
let shown: Carpet = { slots: [], days: [] }
let x = 0
let y = 0

const clamp = (place: number, most: number): number => Math.min(most, Math.max(0, place))

/** The slots of an hour: two when the clocks go back. */
const hourSlots = ({ slots, days }: Carpet, day: number, hour: number): number[] =>
  [...slots.keys()].filter((at) => slots[at]!.hour === hour && (!slots[at]!.again || days[day]!.hours[at] !== false))

/** Draws the cells. A repeated hour has two in its place. */
function drawCells(element: HTMLCanvasElement, carpet: Carpet, colour: (value: number) => string): void {
  const { days } = carpet
  const width = Math.max(1, Math.floor((element.closest('details')!.clientWidth - LABELS) / days.length))
  element.width = width * days.length
  element.height = ROW * 24
  const context = element.getContext('2d')!
  for (const [day, { hours }] of days.entries())
    for (let hour = 0; hour < 24; hour++) {
      const places = hourSlots(carpet, day, hour)
      for (const [i, slot] of places.entries()) {
        const value = hours[slot]
        if (typeof value !== 'number') continue
        context.fillStyle = colour(value)
        context.fillRect(day * width, hour * ROW + (i * ROW) / places.length, width, ROW / places.length)
      }
    }
}

/** Announces the value at the cursor. */
function say(): void {
  const day = shown.days[x]
  const slot = shown.slots[y]
  if (!options || !day || !slot || !status) return
  const { chart, locale, words } = options
  const value = day.hours[y]
  const number = typeof value === 'number' ? `${valueText(value, locale)} ${chart.unit ?? ''}` : '–'
  const text = value === false ? words.noHour : number
  status.textContent = `${day.date} ${padTwo(slot.hour)}:00${slot.again ? ' (2)' : ''} · ${text}`.trim()
}

canvas?.addEventListener('keydown', (event) => {
  const [right, down] = MOVES[event.key] ?? []
  if (right === undefined || down === undefined) return
  event.preventDefault()
  x = clamp(x + right, shown.days.length - 1)
  y = clamp(y + down, shown.slots.length - 1)
  // Most days have no repeated hour.
  while (shown.slots[y]!.again && shown.days[x]!.hours[y] === false) y += down || -1
  say()
})
canvas?.addEventListener('pointermove', ({ offsetX, offsetY }) => {
  x = clamp(Math.floor((offsetX / canvas.clientWidth) * shown.days.length), shown.days.length - 1)
  const hour = clamp((offsetY / canvas.clientHeight) * 24, 23.99)
  const places = hourSlots(shown, x, Math.floor(hour))
  y = places[Math.floor((hour % 1) * places.length)]!
  say()
})

/** From this number of days on, the axis has months. */
const MANY_DAYS = 62

/** Labels days or months. */
function nameDays(place: Element, { days }: Carpet, locale: string): void {
  const width = canvas!.width / days.length
  const step = Math.ceil(70 / width)
  const isMonths = days.length > MANY_DAYS
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(writtenLocale(locale), { timeZone: 'UTC', ...options })
  const month = width * 30 < 32 ? 'narrow' : 'short'
  const usual = format(isMonths ? { month } : { month, day: 'numeric' })
  const january = isMonths && width * 30 > 64 ? format({ month, year: 'numeric' }) : usual
  const labels = days.flatMap(({ date }, i) => {
    if (isMonths ? !date.endsWith('-01') : i % step !== 0) return []
    const textContent = (date.slice(5, 7) === '01' ? january : usual).format(Date.parse(date))
    const label = Object.assign(document.createElement('span'), { textContent })
    label.style.left = `${LABELS + i * width}px`
    return [label]
  })
  place.querySelector('.days-axis')!.replaceChildren(...labels)
}

/** Shows the colours between the limits and which one is zero; `note`: what a scale of both signs is. */
function nameColours(
  place: Element,
  { colours, zero, ends, isSigned }: ReturnType<typeof colourScale>,
  { chart, locale }: EmbeddedData,
  note: string,
): void {
  for (const [i, swatch] of place.querySelectorAll<HTMLElement>('.scale span').entries()) {
    swatch.hidden = i >= colours.length
    swatch.style.background = colours[i] ?? ''
    swatch.textContent = i === zero ? '0' : ''
  }
  for (const [i, end] of place.querySelectorAll('.scale b').entries())
    end.textContent = `${valueText(ends[i]!, locale)} ${(i && chart.unit) || ''}`.trim()
  place.querySelector('.scale small')!.textContent = isSigned ? note : ''
}

/** Requests and shows the hours of the range, if the heat map is open. */
async function showCarpet(): Promise<void> {
  if (!details?.open || !canvas || !message) return
  options = JSON.parse(document.querySelector('#data')?.textContent ?? '') as EmbeddedData
  const { words, locale, carpet: address } = options
  const response = await fetch(`${address}${location.search}`)
  const carpet = response.ok ? ((await response.json()) as Carpet | null) : null
  const isShown = carpet !== null && carpet.days.length > 0
  details.querySelector<HTMLElement>('figure')!.hidden = !isShown
  message.textContent = isShown ? '' : ((response.ok ? words.carpetMuch : words.failed) ?? '')
  if (!isShown) return
  shown = carpet
  const numbers = carpet.days.flatMap(({ hours }) => hours.filter((value) => typeof value === 'number'))
  const [low, high] = numbers.length === 0 ? [0, 0] : [Math.min(...numbers), Math.max(...numbers)]
  const scale = colourScale(low, high)
  canvas.dataset.days = String(carpet.days.length)
  drawCells(canvas, carpet, scale.colour)
  nameDays(details, carpet, locale)
  const limits = [low, high].map((value) => valueText(value, locale))
  const note = words.carpetSigned!.replace(/\{(\d)\}/g, (_, i: string) => limits[Number(i)]!)
  nameColours(details, scale, options, note)
}

/** The fragment of addresses with an open heat map. No element has this id, so that the browser does not scroll. */
const OPEN = '#heat-map'
if (details && location.hash === OPEN) details.open = true
details?.addEventListener('toggle', () => {
  history.replaceState(null, '', `${location.pathname}${location.search}${details.open ? OPEN : ''}`)
  void showCarpet()
})

/** Keeps an open heat map in the address of another range. */
const keepOpen = (address: string): string => Object.assign(new URL(address), { hash: details?.open ? OPEN : '' }).href
document.addEventListener('click', ({ target }) => {
  const link = target instanceof Element && target.closest<HTMLAnchorElement>('.spans a:not([download])')
  if (link) link.href = keepOpen(link.href)
})
document.querySelector<HTMLFormElement>('form.choose')?.addEventListener('submit', ({ target }) => {
  const form = target as HTMLFormElement
  form.action = keepOpen(form.action)
})
document.addEventListener('page:changed', () => void showCarpet())
