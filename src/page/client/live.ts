/*
 * Keeps a page up to date: polls the server for changes while the window is visible, and replaces the parts that differ. A
 * connection for each window would be too many: browsers open six.
 */

const POLL_MS = 2_000
/** Milliseconds without an update after the pointer moved, so that nothing moves under it. */
const HAND_MS = 1_500
/** Failed polls after which the page says that it is no longer updated. */
const MISSED_POLLS = 3

const status = document.querySelector<HTMLElement>('#status')
const main = document.querySelector('main')!
/** The page as the server last sent it, without the changes of scripts. */
let last = main.cloneNode(true) as Element
let movedAt = Number.NEGATIVE_INFINITY

const isUserBusy = (): boolean =>
  main.matches(':has(:is(input, select, textarea):focus)') ||
  main.hasAttribute('data-still') ||
  getSelection()?.isCollapsed === false ||
  performance.now() - movedAt < HAND_MS

function updateAttributes(shown: Element, before: Element, fresh: Element): void {
  for (const name of new Set([...before.getAttributeNames(), ...fresh.getAttributeNames()])) {
    const value = fresh.getAttribute(name)
    if (value === before.getAttribute(name)) continue
    if (value === null) shown.removeAttribute(name)
    else shown.setAttribute(name, value)
    if (name === 'value' && shown instanceof HTMLInputElement) shown.value = value ?? ''
  }
}

/** Updates the differences between the last response and a new one. Additions of scripts stay. */
function update(shown: Element, before: Element, fresh: Element): void {
  if (before.isEqualNode(fresh) || shown.hasAttribute('data-own')) return
  // A field of another type is replaced, because the value of the old one does not fit.
  if (before.getAttribute('type') !== fresh.getAttribute('type')) {
    shown.replaceWith(fresh.cloneNode(true))
    return
  }
  const nodes = [...shown.childNodes]
  const old = [...before.childNodes]
  const replacements = [...fresh.childNodes]
  const isSame =
    old.length === replacements.length && replacements.every((node, i) => node.nodeName === nodes[i]?.nodeName)
  updateAttributes(shown, before, fresh)
  if (!isSame) {
    const href = shown.contains(document.activeElement) && document.activeElement?.getAttribute('href')
    shown.replaceChildren(...replacements.map((node) => node.cloneNode(true)))
    if (href) shown.querySelector<HTMLElement>(`[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true })
    return
  }
  for (const [i, node] of replacements.entries())
    if (node instanceof Element) update(nodes[i] as Element, old[i] as Element, node)
    else if (node.nodeValue !== old[i]!.nodeValue) nodes[i]!.nodeValue = node.nodeValue
}

/** Requests the address of the window and shows what has changed. */
export async function refreshPage(signal?: AbortSignal): Promise<void> {
  const response = await fetch(location.href, { headers: { Accept: 'text/html' }, ...(signal ? { signal } : {}) })
  const type = response.headers.get('Content-Type') ?? ''
  const whole = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = whole.querySelector('main')
  if (!response.ok || !type.startsWith('text/html') || !fresh || signal?.aborted) return
  update(main, last, fresh)
  document.title = whole.title
  const newestRun = whole.querySelector('.synced')
  if (newestRun) document.querySelector('.synced')?.replaceWith(newestRun)
  last = fresh
  document.dispatchEvent(new Event('page:changed'))
}

let missed = 0
let respondedAt = Date.now()
/** Shows since when the server has not responded. */
function showConnection(isConnected: boolean): void {
  missed = isConnected ? 0 : missed + 1
  if (isConnected) respondedAt = Date.now()
  const isLost = missed >= MISSED_POLLS
  if (!status || status.classList.contains('lost') === isLost) return
  status.className = isLost ? 'lost' : 'quiet'
  document.title = isLost ? `⚠ ${document.title}` : document.title.replace(/^⚠ /, '')
  const time = new Date(respondedAt).toLocaleTimeString(status.dataset.locale)
  status.textContent = isLost ? (status.dataset.lost ?? '').replace('{}', time) : ''
}

/** Requests the state of the database; undefined if the server does not respond. */
async function fetchState(): Promise<string | undefined> {
  const response = await fetch('/api/live').catch(() => undefined)
  showConnection(response?.ok ?? false)
  return response?.ok ? response.text() : undefined
}

let lastState: string | undefined
async function poll(): Promise<void> {
  if (document.hidden || isUserBusy()) return
  const state = await fetchState()
  if (state === undefined || state === lastState) return
  if (lastState !== undefined) {
    await refreshPage()
    if (status) status.textContent = status.dataset.changed ?? ''
  }
  lastState = state
}

addEventListener('pointermove', () => {
  movedAt = performance.now()
})
async function pollForever(): Promise<void> {
  await poll().catch(() => undefined)
  setTimeout(pollForever, POLL_MS)
}
void pollForever()
document.addEventListener('visibilitychange', () => void poll().catch(() => undefined))
