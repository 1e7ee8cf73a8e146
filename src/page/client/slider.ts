/** A past state that can be selected. */
export interface PastState {
  readonly at: string
  readonly text: string
}

/** Activates the slider over the moments of changes and its time field, in place of the list. Undefined without changes. */
export function useSlider(
  moments: readonly PastState[],
  asOf: string | null,
  now: string,
  go: (asOf: string | null, isDone: boolean) => unknown,
) {
  const place = document.querySelector<HTMLElement>('#slider')
  if (!place || moments.length === 0) return undefined
  const [input, time] = place.querySelectorAll('input') as unknown as [HTMLInputElement, HTMLInputElement]
  const [output, differ] = place.querySelectorAll<HTMLElement>('output, span')
  const choose = document.querySelector<HTMLSelectElement>('#asof')
  choose?.closest('label')?.setAttribute('hidden', '')
  place.hidden = false
  input.max = String(moments.length)
  const current = moments.findLastIndex(({ at }) => asOf !== null && at <= asOf)
  input.value = String(asOf === null ? moments.length : Math.max(0, current))
  const ticks = moments.length > 100 ? [] : [...moments.keys(), moments.length]
  place.querySelector('datalist')!.replaceChildren(...ticks.map((tick) => new Option('', String(tick))))

  /** The moment of the address, which may lie between two changes; null for now. */
  let moment = asOf
  const chosen = (): PastState | undefined => moments[Number(input.value)]
  const show = (): void => {
    if (choose) choose.value = moment ?? ''
    const listed = moment !== null && moment !== chosen()?.at ? choose?.selectedOptions[0]?.text : undefined
    output!.textContent = listed ?? chosen()?.text ?? now
    input.setAttribute('aria-valuetext', output!.textContent)
    // Texts of moments begin with their local time.
    time.value = moment === null ? '' : output!.textContent.slice(0, 16).replace(' ', 'T')
  }
  const turn = (to: number | string, isDone = true): void => {
    input.value = String(to)
    moment = chosen()?.at ?? null
    show()
    go(moment, isDone)
  }
  const step = (by: number): void => {
    const to = Number(input.value) + by
    // The last change is skipped: nothing differs since then.
    const other = to === moments.length - 1 ? to + by : to
    if (other >= 0 && other <= moments.length) turn(other)
  }
  input.oninput = () => turn(input.value, false)
  input.onchange = () => turn(input.value)
  // The form sends a local time, which the server reads.
  time.onchange = () => {
    choose?.append(new Option(time.value, time.value))
    if (choose) choose.value = time.value
    choose?.form?.requestSubmit()
  }
  for (const [i, button] of place.querySelectorAll('button').entries()) button.onclick = () => step(i === 0 ? -1 : 1)
  show()
  return {
    step,
    /** Goes to a moment that may lie between two changes. */
    goTo(to: string): void {
      input.value = String(
        Math.max(
          0,
          moments.findLastIndex(({ at }) => at <= to),
        ),
      )
      moment = to
      show()
      go(to, true)
    },
    /** Shows the number of differences. */
    say(text: string): void {
      differ!.textContent = text
    },
  }
}
