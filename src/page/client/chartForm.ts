/** The form of a chart submits itself, omits empty fields, and keeps its keyboard focus on the next page. */

const form = document.querySelector<HTMLFormElement>('form.choose')

/** Omits empty fields from the address of the form, and dates that only display the last days. */
form?.addEventListener('formdata', ({ formData }) => {
  const filled = [...formData].filter(([, value]) => value !== '')
  for (const name of [...formData.keys()]) formData.delete(name)
  for (const [name, value] of filled) formData.append(name, value)
  if (!formData.has('last')) return
  const dates = [...form.querySelectorAll<HTMLInputElement>('[name=from], [name=to], [name=day]')]
  const isChanged = dates.some(({ value, defaultValue }) => value !== defaultValue)
  for (const name of isChanged ? ['last'] : ['from', 'to', 'day']) formData.delete(name)
})

/** Delay before a keyboard change is submitted: arrow keys step through options, and dates are typed in parts. */
const KEYBOARD_DELAY_MS = 700
let timer: ReturnType<typeof setTimeout> | undefined
form?.addEventListener('change', ({ target }) => {
  const field = target as HTMLInputElement
  clearTimeout(timer)
  // The text for a line applies with Enter, or by a suggestion.
  if (field.dataset.pick || (field.value === '' && field.type.startsWith('date'))) return
  timer = setTimeout(() => form.requestSubmit(), field.matches(':focus-visible') ? KEYBOARD_DELAY_MS : 0)
})

/** The name in the session of the field from which a key changed the page: the next page focuses it. */
const FIELD = 'indicator-sync field'
form?.addEventListener('submit', () => {
  const field = form.querySelector<HTMLInputElement>(':focus-visible')
  if (field) sessionStorage.setItem(FIELD, field.name)
})
const lastField = sessionStorage.getItem(FIELD)
sessionStorage.removeItem(FIELD)
if (lastField) form?.querySelector<HTMLElement>(`[name="${lastField}"]:not([type=hidden])`)?.focus()
