/*
 * Keeps a page up to date: while the window is visible, it asks the server every few seconds whether the database has changed.
 * Then only the parts of the page that differ are replaced. A connection for each window would be too many: browsers open six.
 */

const POLL_MS = 2_000
/** How long the page stays as it is after the pointer moved, in milliseconds. */
const HAND_MS = 1_500

const status = document.querySelector<HTMLElement>('#status')
const main = document.querySelector('main')!
/** The page as the server last sent it; scripts have changed the one in the window. */
let last = main.cloneNode(true) as Element
let movedAt = Number.NEGATIVE_INFINITY

const isUserBusy = (): boolean =>
  main.matches(':has(:is(input, select, textarea):focus)') ||
  main.hasAttribute('data-still') ||
  getSelection()?.isCollapsed === false ||
  performance.now() - movedAt < HAND_MS

/** Gives an element the attributes that have changed. */
function updateAttributes(shown: Element, before: Element, fresh: Element): void {
  for (const name of new Set([...before.getAttributeNames(), ...fresh.getAttributeNames()])) {
    const value = fresh.getAttribute(name)
    if (value === before.getAttribute(name)) continue
    if (value === null) shown.removeAttribute(name)
    else shown.setAttribute(name, value)
    if (name === 'value' && shown instanceof HTMLInputElement) shown.value = value ?? ''
  }
}

/** Updates what differs between the last answer and a new one. What a script owns, and what it added elsewhere, stays. */
function update(shown: Element, before: Element, fresh: Element): void {
  if (before.isEqualNode(fresh) || shown.hasAttribute('data-own')) return
  // The value of a field does not fit another type.
  if (before.getAttribute('type') !== fresh.getAttribute('type')) {
    shown.replaceWith(fresh.cloneNode(true))
    return
  }
  const [ours, old, all] = [[...shown.childNodes], [...before.childNodes], [...fresh.childNodes]] as const
  const isSame = old.length === all.length && all.every((node, i) => node.nodeName === ours[i]?.nodeName)
  updateAttributes(shown, before, fresh)
  if (!isSame) {
    const href = shown.contains(document.activeElement) && document.activeElement?.getAttribute('href')
    shown.replaceChildren(...all.map((node) => node.cloneNode(true)))
    if (href) shown.querySelector<HTMLElement>(`[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true })
    return
  }
  for (const [i, node] of all.entries())
    if (node instanceof Element) update(ours[i] as Element, old[i] as Element, node)
    else if (node.nodeValue !== old[i]!.nodeValue) ours[i]!.nodeValue = node.nodeValue
}

/** Requests the address of the window and shows what has changed. */
export async function refreshPage(signal?: AbortSignal): Promise<void> {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, ...(signal ? { signal } : {}) })
  const type = answer.headers.get('Content-Type') ?? ''
  const whole = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = whole.querySelector('main')
  if (!answer.ok || !type.startsWith('text/html') || !fresh || signal?.aborted) return
  update(main, last, fresh)
  const [run, newestRun] = [document, whole].map((place) => place.querySelector('.synced'))
  if (newestRun) run?.replaceWith(newestRun)
  last = fresh
  document.dispatchEvent(new Event('page:changed'))
}

let known: string | undefined
async function poll(): Promise<void> {
  if (document.hidden || isUserBusy()) return
  const answer = await fetch('/api/live')
  const state = answer.ok ? await answer.text() : known
  if (state === known) return
  if (known !== undefined) {
    await refreshPage()
    if (status) status.textContent = status.dataset.changed ?? ''
  }
  known = state
}

addEventListener('pointermove', () => {
  movedAt = performance.now()
})
const again = (): void => {
  void poll()
    .catch(() => undefined)
    .finally(() => setTimeout(again, POLL_MS))
}
again()
document.addEventListener('visibilitychange', () => void poll().catch(() => undefined))
