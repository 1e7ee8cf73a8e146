import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { openPage } from './browser.ts'
import { NIGHTS, serveNights } from './nights.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const open = (path: string): Promise<Page> => openPage(server.url + path, PHONE)

/** Returns functions that put fingers on the chart, by shares of its width. */
async function fingersOn(page: Page) {
  await page.waitForSelector('#chart[data-drawn] canvas')
  const over = page.locator('.u-over')
  await over.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  const box = (await over.boundingBox())!
  const devtools = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...shares: number[]) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: shares.map((share, id) => ({ x: box.x + share * box.width, y: box.y + 60, id })),
    })
  return { send, tap: (share: number) => page.touchscreen.tap(box.x + share * box.width, box.y + 60) }
}

const poll = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 600_000 })

test('a tap shows all lines at that time, with buttons that explain the value and go back in time', async () => {
  const page = await open(`/series/544?from=2025-10-25&to=2025-10-26&with=1293&asof=${NIGHTS[2]}`)
  const { tap } = await fingersOn(page)
  const address = page.url()
  await tap(0.5)
  const card = page.locator('.tip')
  await card.waitFor()
  expect(page.url()).toBe(address)
  await poll(() => card.innerText()).toMatch(
    /2025-10-25 1\d:\d\d[\s\S]*Forecast demand[\s\S]*known then[\s\S]*Actual demand/i,
  )
  const [below, chart] = [await card.boundingBox(), await page.locator('.u-over').boundingBox()]
  expect(below!.y).toBeGreaterThan(chart!.y + chart!.height)
  const drawn = await page.getAttribute('#chart', 'data-drawn')
  await page.locator('.card button').nth(1).tap()
  await poll(() => page.getAttribute('#chart', 'data-drawn')).not.toBe(drawn)
  expect(new URL(page.url()).searchParams.get('asof')! < NIGHTS[2]).toBe(true)
  expect(await card.isVisible()).toBe(true)
  const [explain] = await page.locator('.card button').all()
  expect(await explain!.innerText()).toBe('Explain this value')
  const shown = Object.fromEntries(new URL(page.url()).searchParams)
  await explain!.tap()
  await page.waitForURL(/\/explain\/544\/8741\/\d+\?/)
  await page.getByRole('link', { name: 'Back to the chart' }).tap()
  await page.waitForURL(/\/series\/544\?/)
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject(shown)
})

test('a tap on a summary offers to zoom in', async () => {
  const page = await open('/series/1293?from=2025-10-20&to=2025-10-30&lang=es')
  const { tap } = await fingersOn(page)
  await tap(0.5)
  const [zoom] = await page.locator('.card button').all()
  expect(await zoom!.innerText()).toBe('Ampliar')
  await zoom!.tap()
  await page.waitForURL(/from=2025-10-2\dT/)
})

test('the fields of parameters are beside their names', async () => {
  const page = await open('/sql?recipe=capture-price')
  for (const label of await page.locator('.question .pick label').all()) {
    const [name, field] = [await label.boundingBox(), await label.locator('+ input').boundingBox()]
    expect(Math.abs(name!.y + name!.height / 2 - field!.y - field!.height / 2)).toBeLessThan(4)
  }
})

test('a card goes back to just before the last run that changed its value', async () => {
  // Later runs changed other values of the range, but not those of its first day.
  const page = await open('/series/544?from=2025-10-25&to=2025-10-30')
  const { tap } = await fingersOn(page)
  await tap(0.02)
  await page.locator('.tip').waitFor()
  const before = await page.locator('.tip .now').innerText()
  await page.locator('.card button').nth(1).tap()
  await poll(() => page.locator('.tip').innerText()).toContain('known then')
  const asOf = new URL(page.url()).searchParams.get('asof')!
  expect(asOf < NIGHTS[3]).toBe(true)
  const then = await page.locator('.tip .then').innerText()
  expect(then).toMatch(/\d/)
  expect(then.match(/[\d,.]+/)).not.toEqual(before.match(/[\d,.]+/))
  // Until no earlier run changed it.
  const earlier = async () => {
    await page.locator('.card button').nth(1).tap()
    return page.locator('#cursor').innerText()
  }
  await poll(earlier).toBe('No run changed this value before.')
  expect(new URL(page.url()).searchParams.get('asof')! <= asOf).toBe(true)
})

test('a finger that moves reads other values, and two fingers zoom', async () => {
  const page = await open('/series/600?from=2025-10-20&to=2025-10-29')
  const { send } = await fingersOn(page)
  const address = page.url()
  const text = () => page.locator('.tip').innerText()
  await send('touchStart', 0.2)
  await poll(text).toContain('2025-10-21')
  await send('touchMove', 0.5)
  await send('touchMove', 0.8)
  await poll(text).toContain('2025-10-27')
  await send('touchEnd')
  expect(page.url()).toBe(address)
  await send('touchStart', 0.4)
  await send('touchStart', 0.4, 0.6)
  for (const by of [0.1, 0.2, 0.3]) await send('touchMove', 0.4 - by, 0.6 + by)
  await send('touchEnd')
  await poll(() => page.url()).not.toBe(address)
  const { searchParams } = new URL(page.url())
  const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name)!)) as [number, number]
  // Fingers four times as far apart show a quarter of the days.
  expect((to - from) / 86_400_000).toBeCloseTo(9.04 / 4, 1)
  // The chart is still there after the page has followed.
  await page.locator('.u-over').waitFor()
})

test('the days of a year are a calendar', async () => {
  const page = await open('/coverage/600?geo=3')
  const place = async (day: string) =>
    (await page.locator('.days td', { hasText: day }).first().boundingBox()) as { x: number; y: number }
  const [monday, sunday, next] = [await place('2025-10-20'), await place('2025-10-26'), await place('2025-10-27')]
  expect(monday.y).toBe(sunday.y)
  expect(next.y).toBeGreaterThan(sunday.y)
  expect(next.x).toBe(monday.x)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
})

test('the first column of a table of values stays in view', async () => {
  const page = await open('/series/544?from=2025-10-24&to=2025-10-28&with=1293')
  const scroll = page.locator('[data-part="table"] .scroll')
  const first = scroll.locator('tbody th').first()
  await first.scrollIntoViewIfNeeded()
  const before = (await first.boundingBox())!
  await scroll.evaluate((element) => element.scrollBy(200, 0))
  expect(await scroll.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(100)
  expect((await first.boundingBox())!.x).toBe(before.x)
})
