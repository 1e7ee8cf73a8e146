/** Gestures on a chart: selecting an interval, one finger or two, and clicks. */
import type uPlot from 'uplot'
import type { PlotContext } from './shownChart.ts'

/** What gestures do. */
interface Gestures {
  readonly zoom: (from: number, to: number) => void
  readonly preview: (from: number, to: number) => void
  /** The chart was clicked. */
  readonly click: () => void
}

/** The shortest selection in pixels; a shorter one is a click. */
const MIN_SELECTION = 4

/** The pixels of two fingers from the left of a chart. */
type FingerPair = readonly [number, number]

/** Follows one finger (`point`) or two (`stretch`) on a chart, by their pixels from the left. A touched chart has the class `touch`. */
function followFingers(
  over: HTMLElement,
  chart: HTMLElement,
  point: (x: number) => void,
  stretch: (start: FingerPair, now: FingerPair, isDone: boolean) => void,
): void {
  const fingers = new Map<number, number>()
  let start: FingerPair | undefined
  const follow = ({ pointerId, type, pointerType, clientX }: PointerEvent): void => {
    const isDown = type === 'pointerdown'
    if (isDown) chart.classList.toggle('touch', pointerType === 'touch')
    if (pointerType !== 'touch' || !(isDown || fingers.has(pointerId))) return
    fingers.set(pointerId, clientX - over.getBoundingClientRect().left)
    const places = [...fingers.values()] as unknown as FingerPair
    if (isDown && fingers.size === 2) start = places
    if (start && fingers.size === 2) stretch(start, places, type === 'pointerup')
    // The second finger that is lifted does not move the cursor.
    if (!start) point(places[0])
    if (!isDown && type !== 'pointermove') fingers.delete(pointerId)
    if (fingers.size === 0) start = undefined
  }
  for (const type of ['down', 'move', 'up', 'cancel'] as const) over.addEventListener(`pointer${type}`, follow)
}

/** The hooks of selecting, of two fingers, and of clicks. Those of a preview keep the range with which they began. */
export function gestureHooks({ element, shown }: PlotContext, { zoom, preview, click }: Gestures): uPlot.Hooks.Arrays {
  const { from: first, to: last } = shown()
  const select = (u: uPlot): void => {
    const { left, width } = u.select
    if (width < MIN_SELECTION) return
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    zoom(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'))
  }
  const follow = (u: uPlot): void => {
    const width = u.over.clientWidth
    followFingers(
      u.over,
      element,
      (left) => u.setCursor({ left, top: 1 }),
      (start, now, isDone) => {
        const pixelS = (last - first) / width
        const stretched = (pixelS * (start[1] - start[0])) / (now[1] - now[0] || 1)
        const from = first + start[0] * pixelS - now[0] * stretched
        const to = from + stretched * width
        // Fingers that cross turn the range around.
        const show = isDone ? zoom : preview
        show(Math.min(from, to), Math.max(from, to))
      },
    )
    // uPlot keeps the click that ends a drag to itself.
    u.over.onclick = click
  }
  return { setSelect: [select], ready: [follow] }
}
