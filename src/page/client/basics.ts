/** Scripts of every page: buttons that copy commands, ages, and keys of forms. */

/** The status line that announces copies; its attributes hold the texts. */
const copyStatus = document.querySelector<HTMLElement>('#status')
const { copy = '', copied = '' } = copyStatus?.dataset ?? {}

/** Milliseconds for which a button confirms a copy. */
const CONFIRMED_MS = 4_000

/** Copies a text by a selection, for browsers without a clipboard: they have one only on HTTPS and on this computer. */
function copySelected(text: string): boolean {
  const field = Object.assign(document.createElement('textarea'), { value: text })
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}

/** Copies a text and lets the button say so. If the browser forbids it, shows the text in a dialog. */
export async function copyBy(button: HTMLButtonElement, text: string): Promise<void> {
  const isCopied = await (navigator.clipboard?.writeText(text) ?? Promise.reject())
    .then(() => true)
    .catch(() => copySelected(text))
  if (isCopied) confirmOn(button, copied)
  else prompt(button.textContent ?? '', text)
}

/** Shows on a button for some seconds that its action is done. */
export function confirmOn(button: HTMLButtonElement, done: string): void {
  button.dataset.label ??= button.textContent ?? ''
  button.textContent = done
  if (copyStatus) copyStatus.textContent = done
  setTimeout(() => {
    button.textContent = button.dataset.label ?? ''
  }, CONFIRMED_MS)
}

/** Adds a button to each command that has none. */
function addButtons(): void {
  for (const code of document.querySelectorAll<HTMLElement>('code[data-copy]:not(:has(+ button))')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = copy
    button.ariaLabel = `${copy}: ${code.textContent}`
    button.addEventListener('click', () => void copyBy(button, code.textContent ?? ''))
    code.after(button)
  }
}

const UNITS = { day: 86_400, hour: 3_600, minute: 60, second: 1 }

/** Writes recent times as ages: `12 min ago`. */
function showAges(): void {
  const format = new Intl.RelativeTimeFormat(copyStatus?.dataset.locale, { style: 'short', numeric: 'always' })
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000
    const [unit, size] = Object.entries(UNITS).find(([, length]) => seconds >= length) ?? ['second', 1]
    if (seconds < 0 || seconds > 30 * 86_400) continue
    time.title ||= time.textContent ?? ''
    time.textContent = format.format(-Math.floor(seconds / size), unit as keyof typeof UNITS)
  }
}

document.addEventListener('keydown', (event) => {
  const { key, ctrlKey, metaKey, altKey, target } = event
  const isModified = ctrlKey || metaKey
  // As in other editors of SQL.
  if (key === 'Enter' && isModified && target instanceof HTMLTextAreaElement) target.form?.requestSubmit()
  if (key !== '/' || isModified || altKey || (target as Element).matches('input, select, textarea')) return
  const search = document.querySelector<HTMLElement>('.find input')
  if (!search) return
  event.preventDefault()
  search.focus()
})

showAges()
setInterval(showAges, 30_000)
addButtons()
document.addEventListener('page:changed', () => {
  addButtons()
  showAges()
})
