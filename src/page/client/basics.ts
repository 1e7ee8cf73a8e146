/**
 * What every page has: buttons that copy commands, ages, names to choose from, and the address on paper. Without this module,
 * commands are text to be selected.
 */

/** Where the page says that something was copied; it holds the words for that, in the language of the page. */
const copyStatus = document.querySelector<HTMLElement>('#status')
const { copy = '', copied = '' } = copyStatus?.dataset ?? {}

/** Puts a button beside each command that has none. */
function addButtons(): void {
  for (const code of document.querySelectorAll<HTMLElement>('code[data-copy]:not(:has(+ button))')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = copy
    button.ariaLabel = `${copy}: ${code.textContent}`
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent ?? '')
      button.textContent = copied
      if (copyStatus) copyStatus.textContent = copied
    })
    code.after(button)
  }
}

// The address of the window includes whatever the user moved since the page came.
addEventListener('beforeprint', () => {
  const printed = document.querySelector('.printed')
  if (printed) printed.textContent = location.href
})

const UNITS = { day: 86_400, hour: 3_600, minute: 60 }

/** Writes times of the last days as what has passed since: `12 min ago`. */
function showAges(): void {
  const format = new Intl.RelativeTimeFormat(copyStatus?.dataset.locale, { style: 'short' })
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000
    const [unit, size] = Object.entries(UNITS).find(([, length]) => seconds >= length) ?? ['minute', 60]
    if (seconds < 0 || seconds > 30 * 86_400) continue
    time.title ||= time.textContent ?? ''
    time.textContent = format.format(-Math.floor(seconds / size), unit as keyof typeof UNITS)
  }
}

/** Offers the series that have what is typed in their names. */
document.addEventListener('input', async ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.dataset.pick || !target.list) return
  const answer = await fetch(`${target.dataset.pick}?q=${encodeURIComponent(target.value)}`)
  const found = answer.ok ? ((await answer.json()) as { path: string; name: string }[]) : []
  target.list.replaceChildren(...found.map(({ path, name }) => new Option(`${path} ${name}`, path)))
})

showAges()
setInterval(showAges, 30_000)
addButtons()
document.addEventListener('page:changed', () => {
  addButtons()
  showAges()
})
