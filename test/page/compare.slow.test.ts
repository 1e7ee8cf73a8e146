import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { accessibilityFaults, openPage, window } from './browser.ts'
import { serveNights } from './nights.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const open = (path: string, options: BrowserContextOptions = {}): Promise<Page> =>
  openPage(server.url + path, { viewport: { width: 1280, height: 900 }, ...options })

const query = (page: Page) => new URL(page.url()).searchParams
const optionsOf = (page: Page, list: string) => page.locator(`#${list} [role=option]`)

describe('the search field of the header', () => {
  test('opens the series that the keys choose, with the named geo', async () => {
    const page = await open('/coverage')
    const field = page.getByRole('combobox', { name: /search/i })
    await field.pressSequentially('precio de la luz por')
    await optionsOf(page, 'found').first().waitFor()
    expect(await field.getAttribute('aria-expanded')).toBe('true')
    expect(await optionsOf(page, 'found').allInnerTexts()).toEqual([
      expect.stringMatching(/^600 .*\n.*Portugal · €\/MWh/),
    ])
    await field.press('ArrowDown')
    const active = await field.getAttribute('aria-activedescendant')
    expect(await page.locator(`[id="${active}"]`).getAttribute('aria-selected')).toBe('true')
    expect(await accessibilityFaults(page)).toEqual([])
    await field.press('Enter')
    await page.waitForURL('**/series/600?geo=1')
  })

  test('searches all texts if no suggestion is chosen, and Escape closes the list', async () => {
    const page = await open('/')
    const field = page.getByRole('combobox', { name: /search/i })
    await field.pressSequentially('demand')
    await optionsOf(page, 'found').first().waitFor()
    await field.press('Escape')
    await page.locator('#found').waitFor({ state: 'hidden' })
    expect([await field.inputValue(), await field.getAttribute('aria-expanded')]).toEqual(['demand', 'false'])
    await field.press('ArrowDown')
    await optionsOf(page, 'found').first().waitFor()
    await field.press('Enter')
    await page.waitForURL('**/search?q=demand')
  })

  test('opens a suggestion that is clicked, and closes the list when the field is left', async () => {
    const page = await open('/')
    const field = page.getByRole('combobox', { name: /search/i })
    await field.pressSequentially('luz')
    await optionsOf(page, 'found').first().waitFor()
    await page.focus('.brand')
    await page.locator('#found').waitFor({ state: 'hidden' })
    await field.pressSequentially(' ')
    await optionsOf(page, 'found').first().click()
    await page.waitForURL('**/series/600')
  })
})

test.each([
  ['revisions-by-age', 'indicator', '', 'forecast demand', '544'],
  ['residual-load', 'renewables', '551,', 'demanda real', '551,1293'],
])('a name fills the number of an indicator into a parameter: %s', async (recipe, name, before, typed, after) => {
  const page = await open(`/sql?recipe=${recipe}`)
  const field = page.getByRole('combobox', { name, exact: true })
  await field.fill(before)
  await field.pressSequentially(typed)
  await optionsOf(page, `suggested-${name}`).first().waitFor()
  await field.press('ArrowDown')
  await field.press('Enter')
  expect(await field.inputValue()).toBe(after)
  expect(await accessibilityFaults(page)).toEqual([])
})

describe('the lines of a chart', () => {
  test('are added by suggestions and removed by their chips, without a button', async () => {
    const page = await open('/series/600?geo=3&from=2025-10-26&to=2025-10-27')
    const field = page.getByRole('combobox', { name: 'Add a line' })
    expect(await page.locator('form.choose > button').isVisible()).toBe(false)
    await field.pressSequentially('luz portugal')
    await optionsOf(page, 'suggested').first().waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    await page.waitForURL(/with=600%3A1/)
    // The field has the focus for the next line.
    expect(await page.evaluate('document.activeElement.id')).toBe('with')
    await field.pressSequentially('actual demand')
    await optionsOf(page, 'suggested').filter({ hasText: '1293' }).first().click()
    await page.waitForURL(/with=600%3A1.*with=1293/)
    const chips = page.locator('[data-part="legend"] [class^=with-]')
    expect(await chips.count()).toBe(2)
    expect(await accessibilityFaults(page)).toEqual([])
    await page.selectOption('[name=shift]', 'week')
    await page.waitForURL(/shift=week/)
    await page.getByRole('link', { name: /^Remove .*demand/i }).click()
    await page.waitForURL(/with=600%3A1&/)
    await page.getByRole('link', { name: 'Remove a week before' }).click()
    await page.waitForURL((url) => !url.searchParams.has('shift'))
    expect(await chips.count()).toBe(1)
  })

  test('follow each choice of the form at once', async () => {
    const page = await open('/series/600?geo=3&from=2025-10-26&to=2025-10-28')
    await page.selectOption('[name=by]', 'day')
    await page.waitForURL(/by=day/)
    await page.selectOption('[name=geo]', '1')
    await page.waitForURL(/geo=1/)
    expect([query(page).get('by'), query(page).get('from')]).toEqual(['day', '2025-10-26'])
    // A key passes a choice on its way to another.
    await page.focus('[name=by]')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.waitForURL(/by=month/)
    expect(await page.evaluate('document.activeElement.name')).toBe('by')
  })

  test('have a button without scripts', async () => {
    const page = await open('/series/600?geo=3&from=2025-10-26&to=2025-10-28', { javaScriptEnabled: false })
    await page.fill('#with', 'actual demand')
    await page.click('form.choose > button')
    await page.waitForURL(/with=actual/)
    expect(await page.locator('[data-part="legend"] [class^=with-]').count()).toBe(1)
    await page.locator('.legend .remove').click()
    await page.waitForURL((url) => !url.searchParams.has('with'))
    expect(await page.locator('[data-part="legend"] [class^=with-]').count()).toBe(0)
  })
})

describe('a range of one day', () => {
  test('has one field with the day before and after', async () => {
    const page = await open('/series/600?geo=3&from=2025-10-26&to=2025-10-27')
    const day = page.getByLabel('Day', { exact: true })
    expect(await day.inputValue()).toBe('2025-10-26')
    expect(await page.locator('[name=from], [name=to]').count()).toBe(0)
    await page.getByRole('link', { name: 'Previous: Day' }).click()
    await page.waitForURL(/from=2025-10-25&to=2025-10-26/)
    expect(await day.inputValue()).toBe('2025-10-25')
    await day.fill('2025-10-29')
    await page.waitForURL(/day=2025-10-29/)
    expect(await page.locator('[data-part=table] tbody tr').count()).toBe(96)
    await page.getByRole('link', { name: 'Next: Day' }).click()
    await page.waitForURL(/from=2025-10-30/)
  })

  test('gives way to the borders of a zoomed range', async () => {
    const page = await open('/series/600?geo=3&day=2025-10-26')
    await page.waitForSelector('#chart[data-drawn] canvas')
    await page.focus('#chart')
    await page.keyboard.press('+')
    await page.waitForURL(/from=2025-10-26T/)
    expect(query(page).has('day')).toBe(false)
    await page.locator('[name=from]').waitFor()
    expect(await page.locator('[name=day]').count()).toBe(0)
  })

  test('keeps a mistake in its field', async () => {
    const page = await window()
    await page.goto(`${server.url}/series/600?day=2025-02-30`)
    expect(await page.inputValue('[name=day]')).toBe('2025-02-30')
    await page.goto(`${server.url}/series/600?from=2025-02-30`)
    expect(await page.inputValue('[name=from]')).toBe('2025-02-30')
    expect(await page.innerText('[role=alert]')).toContain('from cannot be “2025-02-30”')
  })
})

describe('a forecast', () => {
  test('is one link away from what it forecasts, and back', async () => {
    const page = await open('/series/1293?geo=8741&from=2025-10-26&to=2025-10-27')
    await page.getByRole('link', { name: 'Compare with the forecast' }).click()
    await page.waitForURL(/with=544/)
    expect(await page.locator('[data-part="legend"] [class^=with-]').innerText()).toMatch(/forecast/i)
    expect(await page.getByRole('link', { name: 'Compare with the forecast' }).count()).toBe(0)
    await page.goto(`${server.url}/series/544?geo=8741&from=2025-10-26&to=2025-10-27`)
    await page.getByRole('link', { name: 'Compare with what happened' }).click()
    await page.waitForURL(/with=1293/)
  })
})
