/** A past state that can be selected. */
export interface PastState {
  readonly at: string
  readonly text: string
}

/** A slider over the moments at which something changed, and the present. */
export interface Slider {
  /** Moves to the next or the previous moment. */
  step(by: number): void
  /** Shows how much differs. */
  say(text: string): void
}

/** Makes the slider, and removes the list that serves the same purpose without a script; undefined where nothing ever changed. */
export function createSlider(
  place: HTMLElement | null,
  moments: readonly PastState[],
  asOf: string | null,
  words: Readonly<Record<string, unknown>>,
  go: (asOf: string | null, isDone: boolean) => unknown,
): Slider | undefined {
  if (!place || moments.length === 0) return undefined
  place.replaceChildren()
  const label = place.appendChild(document.createElement('label'))
  label.append(String(words.asOf))
  const input = label.appendChild(document.createElement('input'))
  Object.assign(input, { type: 'range', min: '0', max: String(moments.length), step: '1', id: 'moment' })
  const held = moments.findLastIndex(({ at }) => asOf !== null && at <= asOf)
  input.value = String(asOf === null ? moments.length : Math.max(0, held))
  const output = place.appendChild(document.createElement('output'))
  const differ = place.appendChild(document.createElement('span'))
  output.htmlFor.add('moment')
  const ticks = place.appendChild(document.createElement('datalist'))
  ticks.id = 'moments'
  for (let i = 0; i <= moments.length && moments.length <= 100; i++)
    ticks.appendChild(document.createElement('option')).value = String(i)
  input.setAttribute('list', ticks.id)
  const choose = document.querySelector<HTMLSelectElement>('#asof')
  choose?.closest('label')?.setAttribute('hidden', '')

  const chosen = (): PastState | undefined => moments[Number(input.value)]
  const show = (): void => {
    const text = chosen()?.text ?? String(words.now)
    output.textContent = text
    input.setAttribute('aria-valuetext', text)
    if (choose) choose.value = chosen()?.at ?? ''
  }
  const turn = (isDone: boolean) => (): void => {
    show()
    go(chosen()?.at ?? null, isDone)
  }
  input.addEventListener('input', turn(false))
  input.addEventListener('change', turn(true))
  const buttons = (
    [
      ['‹', -1, words.earlier],
      ['›', 1, words.later],
    ] as const
  ).map(([sign, by, name]) => {
    const button = document.createElement('button')
    Object.assign(button, { type: 'button', textContent: sign })
    button.setAttribute('aria-label', String(name))
    button.addEventListener('click', () => slider.step(by))
    return button
  })
  label.after(...buttons)
  const slider: Slider = {
    step(by) {
      input.value = String(Number(input.value) + by)
      turn(true)()
    },
    say(text) {
      differ.textContent = text
    },
  }
  show()
  return slider
}
