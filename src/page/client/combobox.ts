/**
 * Fields with `data-pick` suggest series while a text is typed. The attribute names the part of a suggestion that is used: `href` opens
 * its page, `path` submits its name in comparisons, `indicator` fills in its number. The server writes a hidden list behind each field.
 */
import Combobox from '@github/combobox-nav'

interface Suggestion {
  /** Its name in comparisons: `600:1`. */
  readonly path: string
  readonly href: string
  readonly indicator: number
  readonly name: string
  readonly detail: string
}

const comboboxes = new WeakMap<HTMLInputElement, Combobox>()

/** Gives a field the role and the keys of a combobox. */
function comboboxOf(field: HTMLInputElement): Combobox {
  const list = field.nextElementSibling as HTMLElement
  const made = comboboxes.get(field) ?? new Combobox(field, list, { tabInsertsSuggestions: false })
  if (!comboboxes.has(field)) list.addEventListener('mousedown', (event) => event.preventDefault())
  comboboxes.set(field, made)
  return made
}

let loading = new AbortController()

function close(field: HTMLInputElement): void {
  loading.abort()
  const combobox = comboboxOf(field)
  combobox.stop()
  combobox.list.hidden = true
}

/** Requests suggestions; none if the server does not respond, or a later request aborts this one. */
async function fetchSuggestions(text: string, signal: AbortSignal): Promise<Suggestion[]> {
  try {
    const response = await fetch(`/api/names?q=${encodeURIComponent(text)}`, { signal })
    return response.ok ? ((await response.json()) as Suggestion[]) : []
  } catch {
    return []
  }
}

/** Requests and shows the suggestions for the text after the last comma. */
async function suggest(field: HTMLInputElement): Promise<void> {
  loading.abort()
  loading = new AbortController()
  const { signal } = loading
  const text = field.value.split(',').at(-1)!.trim()
  const found = text === '' ? [] : await fetchSuggestions(text, signal)
  if (signal.aborted) return
  if (found.length === 0) return close(field)
  const combobox = comboboxOf(field)
  combobox.list.replaceChildren(
    ...found.map(({ name, detail, ...values }) => {
      const option = Object.assign(document.createElement('li'), { role: 'option', textContent: name })
      Object.assign(option.dataset, values)
      option.append(Object.assign(document.createElement('small'), { textContent: detail }))
      return option
    }),
  )
  combobox.list.hidden = false
  combobox.start()
}

/** The field of an event that has suggestions. */
const picking = ({ target }: Event): HTMLInputElement | undefined =>
  target instanceof HTMLInputElement && target.dataset.pick ? target : undefined

document.addEventListener('input', (event) => {
  const field = picking(event)
  if (field) void suggest(field)
})
document.addEventListener('focusout', (event) => {
  const field = picking(event)
  if (field) close(field)
})
document.addEventListener('keydown', (event) => {
  const field = picking(event)
  if (!field) return
  const isOpen = !comboboxOf(field).list.hidden
  if (event.key === 'Escape' && isOpen) {
    // Another Escape may empty the field.
    event.preventDefault()
    close(field)
  } else if (event.key === 'ArrowDown' && !isOpen) void suggest(field)
})
document.addEventListener('combobox-commit', ({ target }) => {
  const option = target as HTMLElement
  const field = option.parentElement!.previousElementSibling as HTMLInputElement
  const value = option.dataset[field.dataset.pick!]!
  close(field)
  if (field.dataset.pick === 'href') location.href = value
  else field.value = field.value.replace(/[^,]*$/, value)
  if (field.dataset.pick === 'path') field.form!.requestSubmit()
})

const prepare = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>('[data-pick]')) comboboxOf(field)
}
prepare()
document.addEventListener('page:changed', prepare)
