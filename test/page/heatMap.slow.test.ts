import { expect, onTestFinished, test } from 'vitest'
import { fileFolder, ms } from '../support/kit.ts'
import { accessibilityFaults, window } from './browser.ts'
import { fillNights } from './nights.ts'
import { startPage } from './site.ts'

const folder = fileFolder()

/** Serves a hundred days of hourly values of a geo, from -100 to 299. */
async function serve(): Promise<string> {
  const store = await fillNights(`${folder}/signed.db`, ['2025-10-24T04:00:00Z'])
  store.run('delete from observation where series_id = 1 and geo_id = 3', [])
  store.run(
    `with recursive n (i) as (select 0 union all select i + 1 from n where i < 24 * 100 - 1)
     insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
     select 1, 3, unixepoch('2024-12-10T23:00:00Z') + 3600 * i, i % 400 - 100, 3600, 1 from n`,
    [],
  )
  await store.close()
  const { url, close } = await startPage(store.file, { now: () => ms('2025-10-24T04:00:00Z') / 1000 })
  onTestFinished(close)
  return url
}

/** The colours of the hours of the heat map, by their numbers from its beginning. */
const COLOURS_AT = `(hours) => {
  const canvas = document.querySelector('#carpet canvas')
  const width = canvas.width / Number(canvas.dataset.days)
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return hours.map((hour) => {
    const at = 4 * ((12 * (hour % 24) + 6) * canvas.width + Math.floor(hour / 24) * width + 1)
    return [...data.slice(at, at + 3)].map((part) => part.toString(16).padStart(2, '0')).join('')
  })
}`

test('values of both signs have one scale about zero, and a long range has months on its axis', async () => {
  const url = await serve()
  const page = await window({ viewport: { width: 1280, height: 900 } })
  const address = `${url}/series/s1?geo=3&from=2024-12-11&to=2025-03-21&lang=en#heat-map`
  await page.goto(address)
  await page.waitForSelector('#carpet canvas[data-days="100"]')
  // Hour i has the value i - 100: the lowest, those about zero, one as far from zero as the lowest, and the highest.
  expect(await page.evaluate(`(${COLOURS_AT})([0, 99, 100, 101, 200, 399])`)).toEqual([
    '74add1',
    'abd9e9',
    'ffffbf',
    'fdae61',
    'f46d43',
    'a50026',
  ])
  expect(await page.locator('.scale').innerText()).toMatch(
    /^-299.00\s*0\s*299.00.*One scale for both signs; the values are from -100.00 to 299.00/s,
  )
  expect(await page.locator('.scale span:visible').count()).toBe(9)
  expect(await page.locator('.days-axis span').allInnerTexts()).toEqual(['Jan 2025', 'Feb', 'Mar'])
  expect(await accessibilityFaults(page)).toEqual([])
  await page.goto(address.replace('lang=en', 'lang=es'))
  await page.waitForSelector('#carpet canvas[data-days="100"]')
  expect(await page.locator('.days-axis span').allInnerTexts()).toEqual(['ene 2025', 'feb', 'mar'])
  // Values of one sign keep the scale from the lowest to the highest.
  await page.goto(`${url}/series/s1?geo=3&from=2024-12-16&to=2024-12-18&lang=en#heat-map`)
  await page.waitForSelector('#carpet canvas[data-days="2"]')
  expect(await page.locator('.scale span:visible').count()).toBe(10)
  expect(await page.locator('.scale').innerText()).not.toContain('scale')
  expect(await page.locator('.days-axis span').allInnerTexts()).toEqual(['16 Dec', '17 Dec'])
  expect(page.wrong).toEqual([])
})
