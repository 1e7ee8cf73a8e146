import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { accessibilityFaults, openChart, window } from './browser.ts'
import { fillNights, NIGHTS, serveNights } from './nights.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const open = (path: string, options?: BrowserContextOptions): Promise<Page> => openChart(server.url + path, options)

/** Polls without a time limit. */
const poll = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 600_000 })

const cursorText = (page: Page): Promise<string> => page.innerText('#cursor')

/** Moves the cursor and returns its new text. */
async function move(page: Page, key: string): Promise<string> {
  const before = await cursorText(page)
  await page.focus('#chart')
  await page.keyboard.press(key)
  await poll(() => cursorText(page)).not.toBe(before)
  return cursorText(page)
}

/** Runs an action and waits until the chart is redrawn. */
async function redrawn(page: Page, act: () => Promise<unknown>): Promise<void> {
  const drawn = await page.getAttribute('#chart', 'data-drawn')
  await act()
  await poll(() => page.getAttribute('#chart', 'data-drawn')).not.toBe(drawn)
}

test('a chart is drawn in a browser whose language is not a valid tag', async () => {
  const page = await window()
  await page.addInitScript(() => Object.defineProperty(navigator, 'language', { value: 'en-US@posix' }))
  await page.goto(`${server.url}/series/600`)
  await page.waitForSelector('#chart[data-drawn] canvas')
  expect(page.wrong).toEqual([])
})

test.each(['America/New_York', 'Europe/Madrid', 'Pacific/Auckland'])(
  'a day of 25 hours has 25 hours in the chart, with the browser in %s',
  async (timezoneId) => {
    const page = await open('/series/600?from=2025-10-26&to=2025-10-27', { timezoneId })
    const labels: string[] = []
    for (let i = 0; i < 16; i++) labels.push((await move(page, 'ArrowRight')).split(' · ')[0]!)
    const clock = (time: string, offset: string): string => `2025-10-26 ${time} ${offset}`
    expect(labels.slice(0, 2)).toEqual([clock('00:00', '+02:00'), clock('00:15', '+02:00')])
    expect(labels.slice(8, 16)).toEqual([
      ...['02:00', '02:15', '02:30', '02:45'].map((time) => clock(time, '+02:00')),
      ...['02:00', '02:15', '02:30', '02:45'].map((time) => clock(time, '+01:00')),
    ])
    await page.click('#carpet summary')
    // The repeated hour has two cells in its place; no day has a hole.
    await page.waitForSelector('#carpet canvas')
    const colours = await page.evaluate(`{
      const canvas = document.querySelector('#carpet canvas')
      const { data } = canvas.getContext('2d').getImageData(1, 0, 1, canvas.height)
      Array.from({ length: 48 }, (_, half) => [...data.slice(24 * half + 8, 24 * half + 12)].join())
    }`)
    expect((colours as string[]).filter((colour) => colour.endsWith(',0'))).toEqual([])
  },
)

test('a day of 23 hours has no 02:00 in the chart', async () => {
  const page = await open('/series/600?from=2025-03-30&to=2025-03-31', { timezoneId: 'America/New_York' })
  const labels: string[] = []
  for (let i = 0; i < 4; i++) labels.push((await move(page, 'ArrowRight')).slice(11, 23))
  expect(labels).toEqual(['00:00 +01:00', '01:00 +01:00', '03:00 +02:00', '04:00 +02:00'])
})

test('values that fit into the chart are embedded in the page without another request', async () => {
  const requested: string[] = []
  const page = await window()
  page.on('request', (request) => requested.push(new URL(request.url()).pathname))
  await page.goto(`${server.url}/series/600?from=2025-10-25&to=2025-10-28`)
  await page.waitForSelector('#chart[data-drawn] canvas')
  expect(requested.filter((path) => path.startsWith('/api/series'))).toEqual([])
})

test('the slider moves through past states of the values, and Back returns', async () => {
  const page = await open('/series/544?from=2025-10-26&to=2025-10-28')
  const slider = page.locator('#moment')
  expect(await page.isVisible('#asof')).toBe(false)
  // The first night has no values for these days.
  expect(Number(await slider.getAttribute('max'))).toBe(NIGHTS.length - 1)
  await redrawn(page, () => slider.press('ArrowLeft'))
  expect(await page.innerText('#slider output')).toContain('run 5')
  await redrawn(page, () => slider.press('ArrowLeft'))
  expect(await page.innerText('#slider output')).toContain('run 4')
  await poll(() => page.innerText('#slider')).toContain('new since then')
  expect(new URL(page.url()).searchParams.get('asof')).toBe(new Date(NIGHTS[3]).toISOString())
  await page.waitForSelector('[data-part="legend"] .then')
  expect(await move(page, 'ArrowRight')).toContain('known then')
  await page.goBack()
  await poll(() => page.innerText('#slider output')).toContain('run 5')
  // The keys of the chart also work.
  await page.focus('#chart')
  await redrawn(page, () => page.keyboard.press(']'))
  expect(await page.innerText('#slider output')).toBe('now')
  expect(new URL(page.url()).searchParams.has('asof')).toBe(false)
})

test('a range selected with the mouse is zoomed into, and the texts beside the chart follow', async () => {
  const page = await open('/series/600?from=2025-10-20&to=2025-10-30')
  const before = await page.innerText('[data-part="table"] caption')
  expect(before).toContain('By local day')
  const over = page.locator('#chart .u-over')
  // A chart that is redrawn has no size for a moment: wait until it is stable.
  await over.hover()
  await poll(async () => (await over.boundingBox()) !== null).toBe(true)
  const box = (await over.boundingBox())!
  await redrawn(page, async () => {
    await page.mouse.move(box.x + box.width * 0.5, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.55, box.y + 60, { steps: 4 })
    await page.mouse.up()
  })
  await poll(() => new URL(page.url()).searchParams.get('from')).toMatch(/^2025-10-25T/)
  await poll(() => page.innerText('[data-part="table"] caption')).toContain('Every value')
  await page.focus('#chart')
  await redrawn(page, () => page.keyboard.press('Home'))
  expect(new URL(page.url()).searchParams.get('from')).toBe('2025-10-20')
})

test('the arrow keys start at the first period, even if it began before the range', async () => {
  const page = await open('/series/544')
  const labels: string[] = []
  for (let i = 0; i < 3; i++) labels.push(await move(page, 'ArrowRight'))
  expect(new Set(labels).size).toBe(3)
  // An aggregated value is zoomed into first.
  await redrawn(page, () => page.keyboard.press('e'))
  expect(new URL(page.url()).pathname).toBe('/series/544')
})

test('a click on an aggregated chart zooms to a fifth of the range', async () => {
  const page = await open('/series/1293?from=2025-10-01&to=2025-10-31')
  const box = (await page.locator('#chart .u-over').boundingBox())!
  await redrawn(page, () => page.mouse.click(box.x + box.width * 0.85, box.y + 50))
  const { searchParams } = new URL(page.url())
  const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name)!)) as [number, number]
  expect((to - from) / 86_400_000).toBeCloseTo(6, 1)
  expect((from + 0.85 * (to - from)) / 3_600_000).toBeCloseTo(Date.parse('2025-10-26T12:00Z') / 3_600_000, -1)
})

test('a chart ignores an ambiguous comparison, and reports only lost connections', async () => {
  const page = await window({ viewport: { width: 1200, height: 900 } })
  await page.goto(`${server.url}/series/1293?from=2025-10-01&to=2025-10-31&with=demand`)
  await poll(() => page.getAttribute('#chart', 'data-drawn')).toBe('2')
  expect(await cursorText(page)).toBe('')
  await page.locator('[role=alert] a', { hasText: '544' }).click()
  await page.waitForURL(/with=544/)
  // The keys work when the script has drawn the chart.
  await page.waitForSelector('.legend .with-0')
  await page.waitForSelector('#chart[data-drawn] canvas')
  await page.route('**/api/series/**', (route) => route.abort())
  await page.focus('#chart')
  await page.keyboard.press('+')
  await poll(() => cursorText(page)).toContain('did not respond')
})

test.each([
  ['from=yesterday', 400, 'from cannot be “yesterday”'],
  ['from=2025-10-02&to=2025-10-01', 400, 'must end after it starts'],
  ['with=77', 404, 'no such series to compare with: 77'],
])('a mistake in the form is shown above it, and the chart remains: %s', async (query, status, message) => {
  const page = await window()
  expect((await page.goto(`${server.url}/series/600?${query}`))!.status()).toBe(status)
  expect(await page.innerText('[role=alert]')).toContain(message)
  const [name, text] = query.split('&')[0]!.split('=') as [string, string]
  expect(await page.inputValue(`[name=${name}]`)).toBe(text)
  expect(await page.locator('#chart').isVisible()).toBe(true)
})

test('a zoomed range is copied into the form and kept for another geo', async () => {
  const page = await open('/series/600?from=2025-10-20&to=2025-10-30')
  await page.focus('#chart')
  await redrawn(page, () => page.keyboard.press('+'))
  const from = () => new URL(page.url()).searchParams.get('from')
  expect(from()).toMatch(/^2025-10-22T/)
  const zoomed = from()!.slice(0, 16)
  await poll(() => page.inputValue('[name=from]')).toBe(zoomed)
  expect(await page.getAttribute('[name=to]', 'type')).toBe('datetime-local')
  await page.selectOption('[name=geo]', '1')
  await page.waitForURL(/geo=1/)
  expect([from(), await page.inputValue('[name=from]')]).toEqual([zoomed, zoomed])
})

test('the legend explains the band of an aggregated chart', async () => {
  const page = await open('/series/544?from=2025-01-01&to=2025-12-01')
  expect(await page.innerText('#bucket')).toMatch(/^line: mean of each \d+ (?:d|h|min); band/)
  await page.goto(`${server.url}/series/600?from=2025-10-25&to=2025-10-26`)
  await page.waitForSelector('#chart[data-drawn] canvas')
  expect(await page.isVisible('#bucket')).toBe(false)
})

test('the e key opens the origin of the selected value, by default of the first', async () => {
  const page = await open('/series/600?from=2025-10-26&to=2025-10-27')
  expect(await move(page, 'e')).toContain('2025-10-26 00:00 +02:00')
  await page.keyboard.press('e')
  await page.waitForURL('**/explain/600/3/1761429600?*')
  expect(await page.innerText('h1')).toContain('2025-10-26 00:00 +02:00')
})

test('series compared by name appear in the URL, table and legend, and can be removed', async () => {
  const page = await open('/series/600?from=2025-10-26&to=2025-10-27')
  await page.fill('#with', '1293')
  await page.press('#with', 'Enter')
  await page.waitForURL(/with=1293/)
  await page.fill('#with', '544')
  await page.press('#with', 'Enter')
  await page.waitForSelector('.legend .with-1')
  expect(await page.innerText('.legend .with-0')).toMatch(/demand.*\(MW\)/i)
  const heads = await page.locator('[data-part="table"] thead th').allInnerTexts()
  expect(heads.filter((head) => head.includes('(MW)'))).toHaveLength(2)
  expect(await page.innerText('[data-part="table"] tbody tr')).toMatch(/\d\d,\d\d\d/)
  expect(await move(page, 'ArrowRight')).toMatch(/€\/MWh · .*demand, Península: [\d,]+ MW/i)
  const { width, height } = (await page.locator('.legend .with-0 .remove').boundingBox())!
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
  await page.click('.legend .with-0 .remove')
  await page.waitForURL(/with=544/)
  expect(await page.locator('.legend [class^=with-]').count()).toBe(1)
})

/** Records every drawn text. */
const WATCH_TEXTS = `{
  const { fillText } = CanvasRenderingContext2D.prototype
  globalThis.texts = []
  CanvasRenderingContext2D.prototype.fillText = function (...args) {
    globalThis.texts.push(args[0])
    return fillText.apply(this, args)
  }
}`

test('a narrow time axis has only as many labels as fit', async () => {
  const page = await open('/series/600?from=2025-10-20&to=2025-10-30', { viewport: { width: 390, height: 844 } })
  await page.evaluate(WATCH_TEXTS)
  await page.focus('#chart')
  await redrawn(page, () => page.keyboard.press('Home'))
  const marks = (await page.evaluate('globalThis.texts')) as string[]
  const days = marks.filter((mark) => /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) /.test(mark))
  expect(days.length).toBeGreaterThan(1)
  expect(new Set(days).size).toBeLessThan(7)
})

test('an empty range has no numbers on its axis, with and without scripts', async () => {
  const path = '/series/600?from=2020-01-01&to=2020-02-01'
  const page = await open(path)
  await page.evaluate(WATCH_TEXTS)
  await page.focus('#chart')
  await redrawn(page, () => page.keyboard.press('Home'))
  expect((await page.evaluate('globalThis.texts')) as string[]).not.toContain('0.2')
  const plain = await open(path, { javaScriptEnabled: false })
  expect(await plain.innerHTML('.figure .grid')).not.toContain('>0.2<')
})

test('six series have six colours and two axes', async () => {
  const page = await open('/series/600?from=2025-10-26&to=2025-10-27&with=1293,544,600:1,s1,s2')
  const colours = await page.evaluate(
    `[...document.querySelectorAll('[data-part="legend"] li[class]:not([hidden])')].map((item) => getComputedStyle(item, '::before').backgroundImage)`,
  )
  expect(new Set(colours as string[]).size).toBe(6)
  expect(await page.locator('#chart .u-axis').count()).toBe(3)
})

test('the value under the mouse is shown with its unit, and a click opens its origin', async () => {
  const page = await open('/series/600?from=2025-10-26&to=2025-10-27')
  const box = (await page.locator('#chart .u-over').boundingBox())!
  await page.mouse.move(box.x + box.width * 0.4, box.y + 50)
  await page.locator('.tip').getByText('€/MWh').waitFor()
  const tip = (await page.locator('.tip').boundingBox())!
  expect(Math.abs(tip.x - box.x - box.width * 0.4)).toBeLessThan(40)
  await page.mouse.click(box.x + box.width * 0.4, box.y + 50)
  await page.waitForURL(/\/explain\/600\/3\/\d+\?/)
})

test('a range can be chosen by days, as the last week, or one year earlier', async () => {
  const page = await open('/series/600?from=2025-10-20&to=2025-10-30')
  expect(await page.getAttribute('[name=from]', 'type')).toBe('date')
  await page.fill('[name=from]', '2025-10-24')
  await page.waitForURL(/from=2025-10-24/)
  await page.getByRole('link', { name: 'Last 7 days' }).click()
  await page.waitForURL(/last=7/)
  const from = page.locator('[name=from]')
  const to = page.locator('[name=to]')
  const current = page.locator('.spans [aria-current]')
  const isLastWeek = async () => {
    expect(await current.allInnerTexts()).toEqual(['Last 7 days'])
    expect([await from.inputValue(), await to.inputValue()]).toEqual(['2025-10-23', '2025-10-30'])
    expect(new URL(page.url()).search).toMatch(/^(?!.*(from|to)=).*last=7/)
  }
  await isLastWeek()
  // Other choices leave the range relative; a date ends that.
  await page.selectOption('[name=shift]', 'week')
  await page.waitForURL(/shift=week/)
  await isLastWeek()
  await from.fill('2025-10-22')
  await page.waitForURL(/from=2025-10-22&to=2025-10-30/)
  expect(page.url()).not.toContain('last=')
  const lastYear = page.getByRole('link', { name: 'Same period last year' })
  expect(await lastYear.count(), 'before the first value').toBe(0)
  await page.goto(`${new URL(page.url()).origin}/series/600?from=2026-04-01&to=2026-04-05&lang=en`)
  expect(await page.innerText('main')).toContain('Not published yet.')
  await lastYear.click()
  await page.waitForURL(/from=2025-04-01&to=2025-04-05/)
  await page.goto(`${new URL(page.url()).origin}/series/600?lang=en`)
  expect(await current.allInnerTexts()).toEqual(['Last 30 days'])
  // Fixed dates are not the last days, even if they are equal today.
  await page.goto(`${new URL(page.url()).origin}/series/600?from=2025-10-23&to=2025-10-30`)
  expect(await current.allInnerTexts()).toEqual([])
})

test('a choice among series of one name keeps the last days, and an open heat map stays open', async () => {
  const page = await window({ viewport: { width: 1200, height: 900 } })
  await page.goto(`${server.url}/series/600?last=7`)
  await page.click('#carpet summary')
  await page.fill('#with', 'demand')
  await page.press('#with', 'Enter')
  await page.waitForURL(/last=7.*#heat-map$/)
  await page.locator('[role=alert] a', { hasText: '544' }).click()
  await page.waitForURL(/with=544.*last=7/)
  expect(await page.locator('.spans [aria-current]').allInnerTexts()).toEqual(['Last 7 days'])
})

test('the key for the moment before passes the last change, since which nothing differs', async () => {
  const page = await open('/series/544?from=2025-10-26&to=2025-10-28')
  await page.focus('#chart')
  await redrawn(page, () => page.keyboard.press('['))
  expect(await page.innerText('#slider output')).toContain('run 4')
  expect(await page.innerText('#slider > span')).toMatch(/[1-9]\d* revised/)
  await redrawn(page, () => page.keyboard.press(']'))
  expect(new URL(page.url()).searchParams.get('asof')).toBeNull()
})

test('the reading follows the moment and the range that are shown', async () => {
  const page = await open('/series/1293?geo=8741&from=2025-10-24&to=2025-10-28')
  expect(await move(page, 'ArrowRight')).not.toContain('known then')
  await redrawn(page, () => page.keyboard.press('['))
  await poll(() => cursorText(page)).toContain('known then')
  // The cursor is at the beginning, outside of the new range.
  const box = (await page.locator('#chart canvas').boundingBox())!
  await redrawn(page, async () => {
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.8, box.y + 80)
    await page.mouse.up()
  })
  const drawn = new URL(page.url()).searchParams.get('from')!
  await poll(
    async () => (await cursorText(page)) === '' || (await cursorText(page)).slice(0, 10) >= drawn.slice(0, 10),
  ).toBe(true)
})

test.each(['2025-10-26T05:00:00.000Z', '2025-10-20T12:00:00.000Z'])(
  'the form keeps a moment between changes: %s',
  async (moment) => {
    const page = await open(`/series/544?from=2025-10-26&to=2025-10-28&asof=${moment}`)
    const text = await page.innerText('#slider output')
    expect(text).toContain(moment.startsWith('2025-10-26') ? '2025-10-26 06:00' : '2025-10-20 14:00')
    const loaded = page.waitForNavigation()
    await page.press('#with', 'Enter')
    await loaded
    expect(new URL(page.url()).searchParams.get('asof')).toBe(moment)
  },
)

test('the time field beside the slider shows past values and highlights differences', async () => {
  const page = await open('/series/544?from=2025-10-26&to=2025-10-28')
  const loaded = page.waitForEvent('load')
  const time = page.locator('#slider input[type=datetime-local]')
  await time.evaluate((field: { value: string; dispatchEvent(event: unknown): void }) => {
    field.value = '2025-10-27T23:59'
    field.dispatchEvent(new Event('change'))
  })
  await loaded
  expect(new URL(page.url()).searchParams.get('asof')).toBe('2025-10-27T23:59')
  await poll(() => time.inputValue()).toBe('2025-10-27T23:59')
  const still = await window({ javaScriptEnabled: false })
  await still.goto(page.url())
  expect(await still.locator('#chart path.line.faint').count()).toBe(2)
  expect(await still.locator('#chart path.band.then:not(.faint)').count()).toBe(1)
})

test('a provisional range is labelled in the chart, and tooltip colours match the lines', async () => {
  const page = await open('/series/600?from=2025-10-26&to=2025-10-31&with=1293,544')
  expect(await page.locator('.u-under .state-provisional').innerText()).toBe('~ provisional')
  const box = (await page.locator('#chart .u-over').boundingBox())!
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50)
  await page.locator('.tip .with-1').waitFor()
  expect(await page.innerText('.tip .now')).toMatch(/^Day-ahead.+, España: /)
  const colours = (place: string) =>
    page.evaluate(
      `[...document.querySelectorAll('${place}')].map((one) => getComputedStyle(one, '::before').borderTopColor)`,
    )
  expect(await colours('.tip :is(.now, [class^=with-])')).toEqual(
    await colours('[data-part="legend"] :is(.now, [class^=with-])'),
  )
})

test('all values of a series and their CSV file are one click away', async () => {
  const page = await open('/series/600?from=2025-10-20&to=2025-10-30')
  expect(await page.locator('.facts').innerText()).toMatch(/Value now\s+[\d.-]+ €\/MWh 2025-10-\d\d[\s\S]*Mean/i)
  const download = page.waitForEvent('download')
  await page.locator('.spans').getByRole('link', { name: 'CSV' }).click()
  expect((await download).suggestedFilename()).toBe('600-3-day-ahead-spot-market-price-2025-10-20-2025-10-30.csv')
  await page.getByRole('link', { name: 'All', exact: true }).click()
  await page.waitForURL(/from=2025-03-28&to=2025-10-30/)
})

test('the heat map has a colour scale with its limits and a date axis', async () => {
  const page = await open('/series/600?from=2025-10-24&to=2025-10-30')
  await page.click('#carpet summary')
  await page.waitForSelector('#carpet canvas')
  expect(await page.locator('.scale span').count()).toBe(10)
  expect(await page.innerText('.scale')).toMatch(/^[\d.-]+\s+[\d.]+ €\/MWh$/)
  expect(await page.locator('.days-axis span').first().innerText()).toBe('24 Oct')
  // A link to the page opens it too.
  expect(page.url()).toMatch(/#heat-map$/)
  await page.reload()
  await page.waitForSelector('#carpet[open] canvas[data-days]')
})

test('an open chart shows new values while a sync writes', async () => {
  const own = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
  const other = await serveNights(own)
  onTestFinished(async () => {
    await other.close()
    rmSync(own, { recursive: true })
  })
  const page = await window()
  const watching = page.waitForResponse((response) => response.url().endsWith('/api/live'))
  await page.goto(`${other.url}/series/600?from=2025-10-28&to=2025-10-31`)
  await page.waitForSelector('#chart[data-drawn] canvas')
  await watching
  const max = Number(await page.getAttribute('#moment', 'max'))
  // Open sections and the reading position remain.
  await page.click('#carpet summary')
  const reading = await move(page, 'ArrowRight')
  const store = await fillNights(other.file, ['2025-10-30T04:00:00Z'])
  await store.close()
  await poll(() => page.getAttribute('#moment', 'max')).toBe(String(max + 1))
  await page.waitForSelector('#chart[data-drawn] canvas')
  expect(await page.locator('#chart canvas').count()).toBe(1)
  expect(await page.getAttribute('#carpet', 'open')).toBe('')
  expect(await cursorText(page)).toBe(reading)
  expect(page.wrong).toEqual([])
})

describe('a browser without scripts', () => {
  test('the chart and all its controls work without scripts', async () => {
    const page = await open(`/series/600?from=2025-10-24&to=2025-10-30&asof=${NIGHTS[2]}`, { javaScriptEnabled: false })
    const picture = page.locator('#chart svg')
    // Controls that require scripts are hidden.
    for (const place of ['#keys', '#carpet', '#slider', '.tip']) expect(await page.isVisible(place), place).toBe(false)
    expect(await picture.getAttribute('aria-label')).toContain('The table below says the same.')
    expect(await picture.locator('path.line').count()).toBe(3)
    expect(await picture.locator('rect.state-provisional').count()).toBe(1)
    await page.selectOption('#asof', { index: 0 })
    await page.click('form.choose button')
    expect(new URL(page.url()).searchParams.get('asof')).toBe(new Date(NIGHTS[0]).toISOString())
    await page.click('a[rel="prev"]')
    expect(new URL(page.url()).searchParams.get('to')).toBe('2025-10-24')
  })
})

test('an empty range shows no chart, but the reason', async () => {
  const page = await open('/series/600?from=2025-08-01&to=2025-08-10')
  expect(await page.innerText('main')).toContain('No data in this range.')
  expect(await page.innerText('[data-part="open"]')).toContain('not in any job')
})

test.each(['light', 'dark'] as const)('axe reports no faults in %s mode', async (colorScheme) => {
  const page = await open(`/series/544?from=2025-10-24&to=2025-10-28&asof=${NIGHTS[2]}&with=600`, { colorScheme })
  await page.click('#carpet summary')
  await page.waitForSelector('#carpet canvas')
  expect(await accessibilityFaults(page)).toEqual([])
  await page.goto(`${server.url}/explain/600/3/1761429600`)
  expect(await accessibilityFaults(page)).toEqual([])
})

test.each([1440, 390])(
  'the label of a state covers the gridlines and is complete or a symbol at %s px',
  async (width) => {
    const page = await open('/series/600?from=2025-10-01&to=2025-10-31', { viewport: { width, height: 900 } })
    const state = page.locator('.u-under .state-provisional')
    expect(await state.innerText()).toBe(width > 400 ? '~ provisional' : '~')
    const [text, plot, chart] = (await page.evaluate(`{
    const range = document.createRange()
    range.selectNodeContents(document.querySelector('.u-under .state-provisional'))
    const boxes = [range, document.querySelector('.u-over'), document.querySelector('#chart')].map((one) => one.getBoundingClientRect())
    boxes.map(({ top, bottom, right }) => ({ top, bottom, right }))
  }`)) as { top: number; bottom: number; right: number }[]
    expect(text!.bottom).toBeLessThanOrEqual(plot!.top + 1)
    expect(text!.top).toBeGreaterThanOrEqual(chart!.top)
    expect(text!.right).toBeLessThanOrEqual(plot!.right)
    const shown = await state.evaluate((element) => element.scrollWidth <= element.clientWidth)
    expect(shown).toBe(true)
  },
)
