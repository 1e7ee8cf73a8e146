import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder, ms } from '../support/kit.ts'
import { accessibilityFaults, openPage, window } from './browser.ts'
import { NIGHTS, serveNights } from './nights.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const PATH = '/series/544?geo=8741&from=2025-10-24&to=2025-10-28'

const open = (path: string, javaScriptEnabled: boolean): Promise<Page> =>
  openPage(server.url + path, { javaScriptEnabled })

test.each([
  ['with', true],
  ['without', false],
] as const)('a click on a change shows what was known before it, and its values, %s scripts', async (_, hasScripts) => {
  const page = await open(PATH, hasScripts)
  const rows = page.locator('#revisions tbody tr')
  expect(await rows.count()).toBe(NIGHTS.length)
  expect(await rows.first().innerText()).toContain('2025-10-29')
  await rows.first().locator('th a').click()
  await page.waitForURL(/asof=2025-10-29/)
  const asOf = ms(new URL(page.url()).searchParams.get('asof')!)
  expect(asOf).toBeLessThan(ms(NIGHTS[4]))
  expect(asOf).toBeGreaterThan(ms(NIGHTS[3]))
  expect(await page.innerText('.legend .then')).toContain('as known at 2025-10-29')
  await page.locator('#revisions tbody tr').first().getByRole('link', { name: 'Old and new values' }).click()
  await page.waitForURL(/\/revisions\/544\/8741\/5\?/)
  const values = page.locator('.values tbody tr')
  expect(await values.count()).toBeGreaterThan(10)
  expect(await values.first().innerText()).toMatch(/2025-10-2\d \d\d:\d\d/)
})

test('the chosen versions are drawn, each with its line and a link to the chart as known then', async () => {
  const page = await open(PATH, false)
  expect(await page.locator('#revisions .figure .line').count()).toBe(5)
  const boxes = page.locator('#revisions tbody input[type=checkbox]')
  expect(await boxes.evaluateAll((all: { checked: boolean }[]) => all.map(({ checked }) => checked))).toEqual(
    NIGHTS.map(() => true),
  )
  for (const place of [1, 2, 3]) await boxes.nth(place).uncheck()
  await page.getByRole('button', { name: 'Draw the chosen versions' }).click()
  await page.waitForURL(/vintages=.*vintages=/)
  expect(await page.locator('#revisions .figure .line').count()).toBe(2)
  expect(await page.locator('#revisions .legend li').allInnerTexts()).toEqual([
    expect.stringMatching(/^2025-10-24 06:00 · run 1$/),
    expect.stringMatching(/^2025-10-29 05:00 · run 5$/),
  ])
  await page.locator('#revisions .legend a').first().click()
  await page.waitForURL(/asof=2025-10-24/)
  expect(new URL(page.url()).searchParams.get('vintages')?.split(',')).toHaveLength(2)
})

test.each([1280, 390])('axe reports no faults of revisions, which fit into %s pixels', async (width) => {
  const page = await window({ viewport: { width, height: 900 } })
  for (const path of [PATH, '/revisions/544/8741/5?from=2025-10-24&to=2025-10-28'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(server.url + path)
      expect(await accessibilityFaults(page), `${path} ${colorScheme}`).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
})
