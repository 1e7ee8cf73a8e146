/** Addresses that the user keeps under names: a list in the browser, which can be exported and imported as JSON. */

import { confirmOn, copyBy } from './basics.ts'

interface SavedView {
  readonly name: string
  /** Path, query and fragment. */
  readonly address: string
}

const KEY = 'indicator-sync views'
/** The most characters of a name; longer ones in a list are refused. */
const LONGEST_NAME = 120
const box = document.querySelector<HTMLDetailsElement>('#saved')

/** Checks that a value has a name and an address on this server. */
function isView(one: unknown): one is SavedView {
  const { name, address } = (one ?? {}) as Record<string, unknown>
  if (typeof name !== 'string' || name.trim() === '' || name.length > LONGEST_NAME || typeof address !== 'string')
    return false
  return address.startsWith('/') && URL.parse(address, location.href)?.origin === location.origin
}

/** The views in some JSON; none in anything else. */
function viewsIn(json: string): SavedView[] {
  try {
    const all: unknown = JSON.parse(json)
    return Array.isArray(all) ? all.filter(isView) : []
  } catch {
    return []
  }
}

const read = (): SavedView[] => viewsIn(localStorage.getItem(KEY) ?? '[]')

/** Adds views to the list. A view with the name of another one gets a number. */
function add(fresh: readonly SavedView[]): void {
  const views = read()
  for (const { name, address } of fresh) {
    const isTaken = (text: string): boolean => views.some((one) => one.name === text && one.address !== address)
    let free = name
    let count = 1
    while (isTaken(free)) free = `${name} (${++count})`
    if (!views.some((one) => one.name === free)) views.push({ name: free, address })
  }
  write(views)
}

function write(views: readonly SavedView[]): void {
  const json = JSON.stringify(views)
  localStorage.setItem(KEY, json)
  box!.querySelector<HTMLAnchorElement>('a[download]')!.href = `data:application/json,${encodeURIComponent(json)}`
  box!.querySelector('ul')!.replaceChildren(
    ...views.map(({ name, address }) => {
      const item = document.createElement('li')
      const link = Object.assign(document.createElement('a'), { href: address, textContent: name })
      const ariaLabel = (box!.dataset.remove ?? '').replace('{}', name)
      const remove = Object.assign(document.createElement('button'), { type: 'button', textContent: '×', ariaLabel })
      remove.addEventListener('click', () => write(read().filter((one) => one.name !== name)))
      item.append(link, remove)
      return item
    }),
  )
}

if (box) {
  box.hidden = false
  write(read())
  const copyLink = box.querySelector<HTMLButtonElement>('[data-link]')!
  copyLink.addEventListener('click', () => {
    const link = new URL(location.href)
    if (box.dataset.token) link.searchParams.set('token', box.dataset.token)
    void copyBy(copyLink, link.href)
  })
  const name = box.querySelector<HTMLInputElement>('[name=name]')!
  box.querySelector('summary')!.addEventListener('click', () => {
    const range = document.querySelector('.spans [aria-current]')?.textContent
    name.value = [document.querySelector('h1')?.textContent, range].filter(Boolean).join(' · ')
  })
  box.querySelector('form')!.addEventListener('submit', (event) => {
    event.preventDefault()
    add([
      { name: name.value.trim().slice(0, LONGEST_NAME).trim(), address: location.href.slice(location.origin.length) },
    ])
    confirmOn(event.submitter as HTMLButtonElement, box.dataset.saved ?? '')
  })
  box.querySelector<HTMLInputElement>('[type=file]')!.addEventListener('change', async ({ currentTarget }) => {
    const input = currentTarget as HTMLInputElement
    const json = await input.files?.[0]?.text()
    // Choosing the same file again is a change, too.
    input.value = ''
    const views = viewsIn(json ?? '')
    if (views.length > 0) add(views)
    else alert(box.dataset.none)
  })
}
