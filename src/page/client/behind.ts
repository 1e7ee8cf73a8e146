/* What is drawn behind the lines of a chart: intervals that are not final, and changes of the step. */
import type uPlot from 'uplot'
import { SIGNS } from './signs.ts'

/** An interval that is not final, with its state. */
export type StateRow = readonly [from: number, to: number, state: keyof typeof SIGNS]

/** The colours of the style, as the canvas takes them. */
export function coloursOf(element: HTMLElement): (name: string) => string {
  const swatch = element.appendChild(document.createElement('span'))
  const known = new Map<string, string>()
  return (name) => {
    let colour = known.get(name)
    if (colour === undefined) {
      swatch.style.color = `var(--${name})`
      colour = getComputedStyle(swatch).color
      known.set(name, colour)
    }
    return colour
  }
}

/** The distance of the stripes behind intervals that are not final: closer together the worse the state is. */
const STRIPES: Readonly<Record<string, number>> = { provisional: 14, unverified: 8, absent: 8, failed: 5 }
/** The size of a sign, and the width that it needs. */
const [SIGN_SIZE, SIGN_WIDTH] = [14, 20]

/** Intervals that are not final: stripes, a letter, and a bar at the foot of the picture. */
export function drawStates(u: uPlot, states: readonly StateRow[], colour: (name: string) => string): void {
  const { ctx, bbox } = u
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  for (const [from, to, state] of states) {
    const [left, right] = [u.valToPos(from, 'x', true), u.valToPos(to, 'x', true)]
    const distance = STRIPES[state] ?? 0
    const width = Math.max(1, right - left)
    ctx.strokeStyle = ctx.fillStyle = colour(`state-${state}`)
    ctx.globalAlpha = 0.12
    ctx.fillRect(left, bbox.top, width, bbox.height)
    ctx.globalAlpha = 0.35
    if (distance > 0) {
      ctx.save()
      ctx.beginPath()
      ctx.rect(left, bbox.top, width, bbox.height)
      ctx.clip()
      ctx.beginPath()
      const step = distance * devicePixelRatio
      for (let x = Math.max(left, bbox.left) - bbox.height; x < Math.min(right, bbox.left + bbox.width); x += step) {
        ctx.moveTo(x, bbox.top + bbox.height)
        ctx.lineTo(x + bbox.height, bbox.top)
      }
      ctx.stroke()
      ctx.restore()
    }
    // The whole at the foot of the picture: what is held, on the same axis.
    ctx.globalAlpha = 1
    const foot = 6 * devicePixelRatio
    ctx.fillRect(left, bbox.top + bbox.height - foot, width, foot)
    const [first, end] = [Math.max(left, bbox.left), Math.min(left + width, bbox.left + bbox.width)]
    if (end - first >= SIGN_WIDTH * devicePixelRatio) {
      ctx.font = `bold ${SIGN_SIZE * devicePixelRatio}px system-ui, sans-serif`
      ctx.textAlign = 'center'
      ctx.textBaseline = 'top'
      ctx.fillText(SIGNS[state], first + (SIGN_WIDTH / 2) * devicePixelRatio, bbox.top + 4 * devicePixelRatio)
    }
  }
  ctx.restore()
}

/** Where the service changed the step of its values: a dotted line. */
export function drawChanges(
  u: uPlot,
  steps: readonly (readonly [at: number, step: number])[],
  colour: (name: string) => string,
): void {
  const { ctx, bbox } = u
  ctx.save()
  ctx.setLineDash([2, 4])
  ctx.strokeStyle = colour('ink')
  for (const [at] of steps) {
    const x = u.valToPos(at, 'x', true)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
