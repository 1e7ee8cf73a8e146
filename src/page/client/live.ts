/** Keeps a page up to date while a sync writes: when the server reports a change, the page requests itself again. */

/** Where the page announces a change; it holds the words for that, in the language of the page. */
const changeStatus = document.querySelector<HTMLElement>('#status')

/** Whether the user is in the middle of something that a new page would interrupt. */
const isUserBusy = (): boolean =>
  document.querySelector('main')?.matches(':has(:is(input, select, textarea):focus)') === true ||
  document.querySelector('main')?.hasAttribute('data-still') === true

let waiting = false

/** Replaces the main part of the page. The element at the same place gets the focus that the old one had. */
async function refreshPage(): Promise<void> {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok) return
  const main = document.querySelector('main')
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main')
  // The scripts have added to the page, so the new text is compared with the one that came last time.
  if (!main || !fresh || fresh.innerHTML === last || isUserBusy()) return
  last = fresh.innerHTML
  const focused = [...main.querySelectorAll<HTMLElement>('a, button, [tabindex]')].indexOf(
    document.activeElement as HTMLElement,
  )
  main.replaceChildren(...fresh.childNodes)
  document.dispatchEvent(new Event('page:changed'))
  if (focused >= 0) main.querySelectorAll<HTMLElement>('a, button, [tabindex]')[focused]?.focus({ preventScroll: true })
  if (changeStatus) changeStatus.textContent = changeStatus.dataset.changed ?? ''
}

let last = document.querySelector('main')?.innerHTML

const events = new EventSource('/api/live')
events.addEventListener('changed', () => {
  if (waiting) return
  waiting = true
  void refreshPage()
    .catch(() => undefined)
    .finally(() => {
      waiting = false
    })
})
addEventListener('pagehide', () => events.close())

export {}
