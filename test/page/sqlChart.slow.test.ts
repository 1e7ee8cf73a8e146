import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { accessibilityFaults, window } from './browser.ts'
import { serveDemo } from './site.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveDemo(folder)
})
afterAll(() => server.close())

const STATEMENT = 'select local_date, min, max, count from observations_daily where series_id = 1 and geo_id = 3'

test('without JavaScript, links and a form choose the chart of a statement, and running it again keeps the chart', async () => {
  const page = await window({ javaScriptEnabled: false })
  await page.goto(`${server.url}/sql`)
  await page.fill('#sql', STATEMENT)
  await page.click('form.question button')
  expect(await page.locator('svg.figure').count()).toBe(0)
  await page.click('nav.spans >> text=Bars')
  expect(await page.locator('svg.figure path.bar').count()).toBe(3)
  await page.uncheck('input[name=y][value=count]')
  await page.click('form.choose button')
  const address = new URL(page.url()).searchParams
  expect([address.get('chart'), address.get('x'), address.getAll('y')]).toEqual(['bars', 'local_date', ['min', 'max']])
  await page.click('form.question button')
  expect(await page.locator('svg.figure path.bar').count()).toBe(2)
  await page.click('nav.spans >> text=Table')
  expect(await page.locator('svg.figure').count()).toBe(0)
})

test('only lines of a comparison that can be removed have a border', async () => {
  const page = await window()
  const bordered = () =>
    page.evaluate<boolean[]>(
      `[...document.querySelectorAll('[data-part="legend"] li')].map((item) => getComputedStyle(item).borderTopStyle === 'solid')`,
    )
  await page.goto(`${server.url}/sql?sql=${encodeURIComponent(STATEMENT)}&chart=line&y=min,max,count`)
  expect(await bordered()).toEqual([false, false, false])
  await page.goto(`${server.url}/series/600?geo=3&shift=week`)
  expect((await bordered()).at(-1)).toBe(true)
})

test('a saved view keeps the chart, and its picture can be saved as PNG', async () => {
  const page = await window({ acceptDownloads: true })
  await page.goto(`${server.url}/sql?sql=${encodeURIComponent(STATEMENT)}&chart=line&y=max`)
  await page.click('#saved summary')
  await page.fill('#saved [name=name]', 'highest')
  await page.click('#saved form button')
  await page.goto(`${server.url}/`)
  await page.click('#saved summary')
  await page.click('#saved >> text=highest')
  await page.waitForSelector('svg.figure path.line.now')
  expect(await page.locator('svg.figure path.line').count()).toBe(1)
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[data-png]')])
  expect(download.suggestedFilename()).toBe('result.png')
  expect(readFileSync(await download.path()).readUInt32BE(16)).toBe(1920)
  expect(page.wrong).toEqual([])
})

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)(
  'charts of recipes and of names have no accessibility faults: %s, %i pixels',
  async (colorScheme, width) => {
    const page = await window({ colorScheme, viewport: { width, height: 900 } })
    const names = 'select geo_name, count(*) as n from freshness group by 1'
    for (const query of [
      'recipe=monthly-energy',
      'recipe=daily-profile',
      `chart=bars&sql=${encodeURIComponent(names)}`,
    ]) {
      await page.goto(`${server.url}/sql?${query}`)
      await page.waitForSelector('svg.figure')
      expect(await accessibilityFaults(page), query).toEqual([])
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
      expect(isWide, `${query} is wider than the window`).toBe(false)
    }
  },
)
