/** Addresses that the user keeps under names: a list in the browser, which can be exported and imported as JSON. */

import { copyText } from './basics.ts'

interface SavedView {
  readonly name: string
  /** Path, query and fragment. */
  readonly address: string
}

const KEY = 'indicator-sync views'
const box = document.querySelector<HTMLDetailsElement>('#saved')

/** The views in some JSON: only names with addresses of this page. */
function viewsIn(json: string): SavedView[] {
  const all: unknown = JSON.parse(json)
  return (Array.isArray(all) ? all : []).filter(
    (one): one is SavedView => typeof one?.name === 'string' && /^\/(?![/\\])/.test(String(one.address)),
  )
}

function read(): SavedView[] {
  try {
    return viewsIn(localStorage.getItem(KEY) ?? '[]')
  } catch {
    return []
  }
}

/** Adds views to the list; a view of the same name is replaced. */
function add(fresh: readonly SavedView[]): void {
  const names = fresh.map(({ name }) => name)
  write([...read().filter(({ name }) => !names.includes(name)), ...fresh])
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
  copyLink.addEventListener('click', async () => {
    const link = new URL(location.href)
    if (box.dataset.token) link.searchParams.set('token', box.dataset.token)
    await copyText(link.href)
    copyLink.textContent = copyLink.dataset.copied ?? ''
  })
  const name = box.querySelector<HTMLInputElement>('[name=name]')!
  box.addEventListener('toggle', () => {
    name.value ||= document.querySelector('h1')?.textContent ?? ''
  })
  box.querySelector('form')!.addEventListener('submit', (event) => {
    event.preventDefault()
    add([{ name: name.value, address: location.href.slice(location.origin.length) }])
  })
  box.querySelector<HTMLInputElement>('[type=file]')!.addEventListener('change', async ({ target }) => {
    const json = await (target as HTMLInputElement).files?.[0]?.text()
    if (json) add(viewsIn(json))
  })
}
