/** A past state that can be selected. */
export interface PastState {
  readonly at: string
  readonly text: string
}

/** An element with some properties. */
const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Readonly<Record<string, string>>,
  ...children: readonly Node[]
): HTMLElementTagNameMap[Name] => {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

/**
 * Makes a slider over the moments at which something changed, and the present, with a field for a day. It replaces the list
 * that serves the same purpose without a script. Undefined where nothing ever changed.
 */
export function createSlider(
  place: HTMLElement | null,
  moments: readonly PastState[],
  asOf: string | null,
  words: Readonly<Record<string, unknown>>,
  go: (asOf: string | null, isDone: boolean) => unknown,
) {
  if (!place || moments.length === 0) return undefined
  const held = moments.findLastIndex(({ at }) => asOf !== null && at <= asOf)
  const input = make('input', { type: 'range', min: '0', max: String(moments.length), step: '1', id: 'moment' })
  input.value = String(asOf === null ? moments.length : Math.max(0, held))
  const day = make('input', { type: 'date', min: moments[0]!.at.slice(0, 10), ariaLabel: String(words.asOf) })
  const [output, differ] = [make('output', {}), make('span', {})]
  output.htmlFor.add('moment')
  const ticks = make('datalist', { id: 'moments' })
  for (let i = 0; i <= moments.length && moments.length <= 100; i++) ticks.append(make('option', { value: String(i) }))
  input.setAttribute('list', ticks.id)
  const choose = document.querySelector<HTMLSelectElement>('#asof')
  choose?.closest('label')?.setAttribute('hidden', '')

  const chosen = (): PastState | undefined => moments[Number(input.value)]
  const show = (): void => {
    const text = chosen()?.text ?? String(words.now)
    output.textContent = text
    input.setAttribute('aria-valuetext', text)
    day.value = chosen()?.at.slice(0, 10) ?? ''
    if (choose) choose.value = chosen()?.at ?? ''
  }
  const turn = (isDone: boolean) => (): void => {
    show()
    go(chosen()?.at ?? null, isDone)
  }
  const step = (by: number): void => {
    input.value = String(Number(input.value) + by)
    turn(true)()
  }
  input.addEventListener('input', turn(false))
  input.addEventListener('change', turn(true))
  // What was known at the end of a day: the last change that was recorded by then.
  day.addEventListener('change', () => {
    const last = moments.findLastIndex(({ at }) => at.slice(0, 10) <= day.value)
    input.value = String(day.value === '' ? moments.length : Math.max(0, last))
    turn(true)()
  })
  const button = (textContent: string, by: number, name: unknown): HTMLButtonElement => {
    const made = make('button', { type: 'button', textContent, ariaLabel: String(name) })
    made.addEventListener('click', () => step(by))
    return made
  }
  const label = make('label', { textContent: String(words.asOf) })
  label.append(input)
  place.replaceChildren(label, button('‹', -1, words.earlier), button('›', 1, words.later), day, output, differ, ticks)
  show()
  return {
    /** Moves to the next or the previous moment. */
    step,
    /** Shows how much differs. */
    say(text: string): void {
      differ.textContent = text
    },
  }
}
