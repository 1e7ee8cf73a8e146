type Places = readonly [number, number]

/** Follows one finger (`point`) or two (`stretch`) on a chart, by their pixels from the left. Its class says whether a finger was last. */
export function followFingers(
  over: HTMLElement,
  chart: HTMLElement,
  point: (x: number) => void,
  stretch: (held: Places, now: Places, isDone: boolean) => void,
): void {
  const fingers = new Map<number, number>()
  let held: Places | undefined
  const follow = ({ pointerId, type, pointerType, clientX }: PointerEvent): void => {
    const isDown = type === 'pointerdown'
    if (isDown) chart.classList.toggle('touch', pointerType === 'touch')
    if (pointerType !== 'touch' || !(isDown || fingers.has(pointerId))) return
    fingers.set(pointerId, clientX - over.getBoundingClientRect().left)
    const places = [...fingers.values()] as unknown as Places
    if (isDown && fingers.size === 2) held = places
    if (held && fingers.size === 2) stretch(held, places, type === 'pointerup')
    // The second finger that is lifted does not move the cursor.
    if (!held) point(places[0])
    if (!isDown && type !== 'pointermove') fingers.delete(pointerId)
    if (fingers.size === 0) held = undefined
  }
  for (const type of ['down', 'move', 'up', 'cancel'] as const) over.addEventListener(`pointer${type}`, follow)
}
