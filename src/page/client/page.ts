/**
 * What every page has: buttons that copy commands, and the address on paper. Without this module, commands are text to be
 * selected.
 */

const labels =
  document.documentElement.lang === 'es' ? { copy: 'Copiar', copied: 'Copiado' } : { copy: 'Copy', copied: 'Copied' }

/** Puts a button beside each command that has none. */
function addButtons(): void {
  for (const code of document.querySelectorAll<HTMLElement>('code[data-copy]:not(:has(+ button))')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = labels.copy
    button.setAttribute('aria-label', `${labels.copy}: ${code.textContent}`)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent ?? '')
      button.textContent = labels.copied
      const status = document.querySelector('#status')
      if (status) status.textContent = labels.copied
    })
    code.after(button)
  }
}

// The address of the window includes whatever the user moved since the page came.
addEventListener('beforeprint', () => {
  const printed = document.querySelector('.printed')
  if (printed) printed.textContent = location.href
})

addButtons()
document.addEventListener('page:changed', addButtons)
