import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { accessibilityFaults, openChart } from './browser.ts'
import { serveNights } from './nights.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const DIFFERENCE = '/series/544?geo=8741&from=2025-10-24&to=2025-10-31&with=1293&difference=1'

const open = (path: string, options?: BrowserContextOptions): Promise<Page> => openChart(server.url + path, options)

/** Two compared lines, over days before those of any job and after the last values. */
const LONG = DIFFERENCE.replace('2025-10-24', '2025-10-20').replace('with=1293', 'with=1293,600:3')

/** Polls without a time limit. */
const poll = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 600_000 })

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The boxes of the chart and of its panel, once both are drawn with the columns that fit. */
async function plots(page: Page): Promise<Box[]> {
  await poll(async () => Number(await page.getAttribute('#chart', 'data-drawn'))).toBeGreaterThan(1)
  const read = (): Promise<Box[]> =>
    page
      .locator('#chart .u-over')
      .evaluateAll((all: { getBoundingClientRect(): Box }[]) =>
        all.map((one) => one.getBoundingClientRect()).map(({ x, y, width, height }) => ({ x, y, width, height })),
      )
  await poll(async () => (await read()).map(({ width }) => width > 100)).toEqual([true, true])
  return read()
}

test.each([
  ['one unit', ''],
  ['two units', ',600:3'],
])('the difference has a panel of 90 pixels below the chart, with the same time axis: %s', async (_, more) => {
  const page = await open(DIFFERENCE.replace('with=1293', `with=1293${more}`))
  const [chart, panel] = await plots(page)
  expect(panel!.y).toBeGreaterThan(chart!.y + chart!.height)
  expect([panel!.x, panel!.width].map(Math.round)).toEqual([chart!.x, chart!.width].map(Math.round))
  expect(
    await page
      .locator('#chart canvas')
      .last()
      .evaluate((canvas: { clientHeight: number }) => canvas.clientHeight),
  ).toBe(90)
  expect(await page.locator('#chart svg').count()).toBe(0)
})

test('the cursor is at the same time in both, and the reading has the difference', async () => {
  const page = await open(DIFFERENCE)
  const [chart, panel] = await plots(page)
  const cursors = () =>
    page
      .locator('#chart .u-cursor-x')
      .evaluateAll((all: { getBoundingClientRect(): { x: number } }[]) =>
        all.map((one) => Math.round(one.getBoundingClientRect().x)),
      )
  await page.mouse.move(panel!.x + panel!.width * 0.4, panel!.y + 20)
  await poll(async () => new Set(await cursors()).size).toBe(1)
  expect((await cursors())[0]! - chart!.x).toBeCloseTo(chart!.width * 0.4, -1)
  await poll(() => page.innerText('.tip')).toMatch(/difference: -?[\d,.]+ MW/)
  await poll(() => page.innerText('#cursor')).toMatch(/difference: -?[\d,.]+ MW/)
  await page.mouse.move(chart!.x + chart!.width * 0.2, chart!.y + 50)
  await poll(async () => Math.round(((await cursors())[1]! - panel!.x) / 10)).toBe(
    Math.round((panel!.width * 0.2) / 10),
  )
  await page.focus('#chart')
  await page.keyboard.press('ArrowRight')
  await poll(async () => new Set(await cursors()).size).toBe(1)
})

test('a range selected in the panel zooms both once, and the figures follow', async () => {
  const page = await open(DIFFERENCE)
  const [, panel] = await plots(page)
  const before = await page.innerText('#difference')
  const drawn = await page.getAttribute('#chart', 'data-drawn')
  const length = () => page.evaluate('history.length') as Promise<number>
  const steps = await length()
  await page.mouse.move(panel!.x + panel!.width * 0.3, panel!.y + 20)
  await page.mouse.down()
  await page.mouse.move(panel!.x + panel!.width * 0.5, panel!.y + 25, { steps: 4 })
  await page.mouse.up()
  await poll(() => page.getAttribute('#chart', 'data-drawn')).not.toBe(drawn)
  await poll(() => page.innerText('#difference')).not.toBe(before)
  expect(await length()).toBe(steps + 1)
  const [zoomed, below] = await plots(page)
  expect(Math.round(below!.x)).toBe(Math.round(zoomed!.x))
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('from')).toMatch(/^2025-10-26T/)
  // The server says the same about the new address.
  const figures = await page.innerText('#difference')
  await page.reload()
  expect(await page.innerText('#difference')).toBe(figures)
})

test('the unfinished day is hatched, and strips show the gaps of every compared line', async () => {
  const page = await open(LONG)
  const [chart, panel] = await plots(page)
  const unfinished = (await page.locator('#chart .unfinished').boundingBox())!
  expect(unfinished.width / panel!.width).toBeCloseTo(24 / (11 * 24 + 1), 2)
  expect(await page.locator('#chart .unfinished').getAttribute('title')).toBe('today, unfinished')
  const strips = page.locator('#chart .strips > div')
  expect(await strips.count()).toBe(2)
  const states = strips.first().locator('div')
  const [ofStrip, ofState] = [await strips.first().getAttribute('title'), await states.first().getAttribute('title')]
  expect(ofStrip).toMatch(/demand/i)
  expect(ofState?.startsWith(`${ofStrip}: `)).toBe(true)
  expect(await states.allInnerTexts()).toEqual(['not in any job', '~ provisional', '…'])
  const [first] = await states.all()
  const box = (await first!.boundingBox())!
  expect(box.x).toBeCloseTo(chart!.x, 0)
  // Two of eleven days.
  expect(box.width / chart!.width).toBeCloseTo(48 / (11 * 24 + 1), 2)
  expect(box.y).toBeGreaterThan(chart!.y + chart!.height)
  expect(box.y).toBeLessThan(panel!.y)
  const colours = await page.evaluate(
    `['.strips .with-1', '.legend .with-1'].map((place) => getComputedStyle(document.querySelector(place), '::before').borderTopColor)`,
  )
  expect(new Set(colours as string[]).size).toBe(1)
})

test.each([1280, 390])(
  'axe reports no faults of a comparison at %s pixels, with and without scripts',
  async (width) => {
    for (const javaScriptEnabled of [true, false])
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open(LONG, {
          viewport: { width, height: 900 },
          colorScheme,
          javaScriptEnabled,
        })
        if (javaScriptEnabled) expect(await accessibilityFaults(page), colorScheme).toEqual([])
        else expect(await page.locator('#chart svg').count()).toBe(3)
        expect(javaScriptEnabled ? await page.evaluate('document.documentElement.scrollWidth') : width).toBe(width)
        await page.context().close()
      }
  },
)
