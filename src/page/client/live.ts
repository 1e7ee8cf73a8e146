/** Keeps a page up to date while a sync writes: the server says that something changed, and the page asks for itself again. */

const status = document.querySelector('#status')
const CHANGED =
  document.documentElement.lang === 'es'
    ? 'La base de datos ha cambiado; la página se ha actualizado.'
    : 'The database has changed; the page was brought up to date.'

/** Whether somebody is in the middle of something that a new page would take away. */
const isBusy = (): boolean =>
  document.querySelector('main')?.matches(':has(:is(input, select, textarea):focus)') === true ||
  document.querySelector('main')?.hasAttribute('data-still') === true

let waiting = false

/** Puts the new main part into the place of the old one; what has the focus keeps it, by its place in the page. */
async function refresh(): Promise<void> {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok) return
  const main = document.querySelector('main')
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main')
  // What the scripts have added is not in what comes: compared is what came last time.
  if (!main || !fresh || fresh.innerHTML === last || isBusy()) return
  last = fresh.innerHTML
  const focused = [...main.querySelectorAll<HTMLElement>('a, button, [tabindex]')].indexOf(
    document.activeElement as HTMLElement,
  )
  main.replaceChildren(...fresh.childNodes)
  document.dispatchEvent(new Event('page:changed'))
  if (focused >= 0) main.querySelectorAll<HTMLElement>('a, button, [tabindex]')[focused]?.focus({ preventScroll: true })
  if (status) status.textContent = CHANGED
}

let last = document.querySelector('main')?.innerHTML

const events = new EventSource('/api/live')
events.addEventListener('changed', () => {
  if (waiting) return
  waiting = true
  void refresh()
    .catch(() => undefined)
    .finally(() => {
      waiting = false
    })
})
addEventListener('pagehide', () => events.close())

export {}
