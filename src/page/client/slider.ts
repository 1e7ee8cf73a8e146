/** A past state that can be selected. */
export interface PastState {
  readonly at: string
  readonly text: string
}

/**
 * Uses the slider of the page over the moments at which something changed, and the present, with its field for a day. It replaces
 * the list that serves the same purpose without a script. Undefined where nothing ever changed.
 */
export function useSlider(
  moments: readonly PastState[],
  asOf: string | null,
  now: string,
  go: (asOf: string | null, isDone: boolean) => unknown,
) {
  const place = document.querySelector<HTMLElement>('#slider')
  if (!place || moments.length === 0) return undefined
  const [input, day] = place.querySelectorAll('input') as unknown as [HTMLInputElement, HTMLInputElement]
  const [output, differ] = place.querySelectorAll<HTMLElement>('output, span')
  const choose = document.querySelector<HTMLSelectElement>('#asof')
  choose?.closest('label')?.setAttribute('hidden', '')
  place.hidden = false
  input.max = String(moments.length)
  const held = moments.findLastIndex(({ at }) => asOf !== null && at <= asOf)
  input.value = String(asOf === null ? moments.length : Math.max(0, held))
  day.min = moments[0]!.at.slice(0, 10)
  const ticks = moments.length > 100 ? [] : [...moments.keys(), moments.length]
  place.querySelector('datalist')!.replaceChildren(...ticks.map((tick) => new Option('', String(tick))))

  const chosen = (): PastState | undefined => moments[Number(input.value)]
  const show = (): void => {
    output!.textContent = chosen()?.text ?? now
    input.setAttribute('aria-valuetext', output!.textContent)
    day.value = chosen()?.at.slice(0, 10) ?? ''
    if (choose) choose.value = chosen()?.at ?? ''
  }
  const turn = (to: number | string, isDone = true): void => {
    input.value = String(to)
    show()
    go(chosen()?.at ?? null, isDone)
  }
  const step = (by: number): void => turn(Number(input.value) + by)
  input.oninput = () => turn(input.value, false)
  input.onchange = () => turn(input.value)
  // What was known at the end of a day: the last change that was recorded by then.
  day.onchange = () => {
    const last = moments.findLastIndex(({ at }) => at.slice(0, 10) <= day.value)
    turn(day.value === '' ? moments.length : Math.max(0, last))
  }
  for (const [i, button] of place.querySelectorAll('button').entries()) button.onclick = () => step(i === 0 ? -1 : 1)
  show()
  return {
    /** Moves to the next or the previous moment. */
    step,
    /** Shows how much differs. */
    say(text: string): void {
      differ!.textContent = text
    },
  }
}
