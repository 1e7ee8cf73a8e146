import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { accessibilityFaults, window } from './browser.ts'
import { serveNights } from './nights.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

test('a button saves the chart as PNG at twice the size of the SVG, white and with lines', async () => {
  const page = await window({ acceptDownloads: true })
  await page.goto(`${server.url}/series/600?geo=3&from=2025-10-20&to=2025-10-27`)
  await page.waitForSelector('#chart[data-drawn] canvas')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[data-png]')])
  expect(download.suggestedFilename()).toMatch(/^600-3-[\w-]+-2025-10-20-2025-10-27\.png$/)
  const png = readFileSync(await download.path())
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  expect(png.readUInt32BE(16)).toBe(1920)
  const colours = (await page.evaluate(`(async () => {
    const image = Object.assign(new Image(), { src: 'data:image/png;base64,${png.toString('base64')}' })
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
    let blue = 0
    for (let i = 0; i < data.length; i += 4) if (data[i] === 0x0b && data[i + 1] === 0x57 && data[i + 2] === 0xa4) blue++
    return { corner: [...data.slice(0, 4)], blue }
  })()`)) as { corner: number[]; blue: number }
  expect(colours.corner).toEqual([255, 255, 255, 255])
  expect(colours.blue).toBeGreaterThan(1_000)
  expect(page.wrong).toEqual([])
})

test('if the server is gone, the button says that it could not make the picture', async () => {
  const page = await window()
  await page.goto(`${server.url}/series/600?geo=3&last=3`)
  await page.route('**/*.svg*', (route) => route.abort())
  await page.click('[data-png]')
  await expect.poll(() => page.innerText('[data-png]')).toBe('The picture could not be made.')
})

test('without JavaScript only the link to the SVG shows, and a browser reads the file without faults', async () => {
  const page = await window({ javaScriptEnabled: false })
  await page.goto(`${server.url}/series/600?geo=3&last=3`)
  expect(await page.isVisible('a[download$=".svg"]')).toBe(true)
  expect(await page.isVisible('[data-png]')).toBe(false)
  const own = await window()
  const address = await page.getAttribute('a[download$=".svg"]', 'href')
  await own.goto(server.url + address)
  const root = (await own.evaluate(
    `[document.documentElement.tagName, document.querySelectorAll('parsererror').length, document.querySelectorAll('path').length > 5]`,
  )) as unknown[]
  expect(root).toEqual(['svg', 0, true])
  expect(own.wrong).toEqual([])
})

test('the page with the links to pictures has no accessibility faults', async () => {
  const page = await window()
  await page.goto(`${server.url}/series/600?geo=3&last=3`)
  expect(await accessibilityFaults(page)).toEqual([])
})
