import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { PAGES } from '../../src/page/pages.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { fileFolder } from '../support/kit.ts'
import { IN_FULL } from '../support/randomCases.ts'
import { accessibilityFaults, window } from './browser.ts'
import { servePage } from './site.ts'

const STATEMENT = encodeURIComponent(
  'select local_date, min, max from observations_daily where series_id = 1 and geo_id = :geo',
)

/** The addresses of a test: at night all of them, otherwise every third. */
const some = (addresses: readonly string[]): readonly string[] => addresses.filter((_, i) => IN_FULL || i % 3 === 0)

/** The URL of every page. */
const PAGES_OPENED = [
  ...'/ /coverage /coverage/600 /series/600 /revisions/544/8741/2 /explain/600/3/1762128000 /indicators'.split(' '),
  ...'/search?q=precio /texts?kind=glossary /texts/glossary/300 /archives /archives/archive/79 /widgets /widgets/2'.split(
    ' ',
  ),
  ...`/runs /runs/1 /quarantine /sql?sql=${STATEMENT}&p.geo=3 /dictionary /dictionary/geo`.split(' '),
]
/** The same, and some pages in another state. */
const ADDRESSES = [
  ...PAGES_OPENED,
  ...['/series/1293?asof=2025-11-03T18:00:00Z', '/search', '/texts/indicator/600', '/sql', '/sql?sql=nonsense'],
  ...['/sql?recipe=daily-average', '/nothing-of-this-name'],
]

const folder = fileFolder()
let file: string
beforeAll(async () => {
  file = join(folder, 'market.db')
  const store = await copyDemo(file)
  store.run(
    `update content_text set body = '<p>Another text.</p>', fetch_id = 3 where kind = 'glossary' and id = 300`,
    [],
  )
  store.run(
    `insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at)
     select run_id, id, '$.indicator.values[7]', 'datetime: "soon" is not a valid date', '{"value":1,"datetime":"soon"}', finished_at
     from _fetch where route = 'indicator' order by id limit 1`,
    [],
  )
  await store.tidy()
  await store.close()
})

const COLOURS = [
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
] as const

/** Whether a URL belongs to a page. */
const isOf = (path: string, address: string): boolean =>
  new RegExp(`^${path.replaceAll(/:\w+/g, '[^/?]+')}(?:\\?.*)?$`).test(address)

test('the accessibility tests open every page', () => {
  for (const { path } of PAGES)
    expect(
      ADDRESSES.some((address) => isOf(path, address)),
      path,
    ).toBe(true)
})

describe('accessibility by axe', () => {
  test.each([
    ['English, in light, dark and forced colours', 'en'],
    ['Spanish', 'es'],
  ])('axe reports no faults on any page in %s, and every image has a text', async (_, locale) => {
    const { url } = await servePage(file)
    const page = await window({ locale: locale === 'en' ? 'en-GB' : 'es-ES' })
    for (const address of locale === 'en' ? ADDRESSES : some(PAGES_OPENED)) {
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
      await page.goto(`${url}${address}`)
      expect(await page.locator('html').getAttribute('lang')).toBe(locale)
      expect(await accessibilityFaults(page, locale === 'en' ? 'all' : 'words'), `${address} in light`).toEqual([])
      for (const colours of locale === 'en' && some(PAGES_OPENED).includes(address) ? COLOURS : []) {
        await page.emulateMedia(colours)
        expect(await accessibilityFaults(page, 'colours'), `${address} ${JSON.stringify(colours)}`).toEqual([])
      }
      const silent = await page.evaluate(
        `[...document.querySelectorAll('svg, canvas, img')].filter((one) => !one.closest('[aria-label], [aria-labelledby], [aria-hidden=true]')).map((one) => one.outerHTML.slice(0, 200))`,
      )
      expect(silent, `${address}: pictures without a text`).toEqual([])
    }
  })
})

test('every page fits into 320 pixels, as at a zoom of 200 %', async () => {
  const named = join(folder, 'named.db')
  copyFileSync(file, named)
  const db = new SQLite(named)
  db.exec(`update geo_text set name = name || ' y ' || replace(hex(zeroblob(30)), '00', 'abc')`)
  db.close()
  const { url } = await servePage(named)
  const page = await window({ viewport: { width: 320, height: 640 } })
  for (const address of ADDRESSES) {
    await page.goto(`${url}${address}`)
    // Wider elements scroll separately.
    const width = await page.evaluate(`document.documentElement.scrollWidth`)
    const wide = await page.evaluate(
      `[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > 321 && !one.closest('.scroll, pre, svg')).map((one) => one.outerHTML.slice(0, 160))`,
    )
    expect(wide, address).toEqual([])
    expect(width, address).toBe(320)
  }
})

/** Cells, links and fields outside the window width, except in wide tables, which scroll separately. */
const OFF_SCREEN = `[...document.querySelectorAll('a, button, input, select, textarea, summary, svg, progress, td, tbody th')]
  .filter((one) => one.checkVisibility() && !one.closest('.skip, .quiet, .days, .values, header ul'))
  .filter((one) => one.getBoundingClientRect().width > 0)
  .concat(...document.querySelectorAll('header [aria-current], .values tr > :nth-child(-n+3)'))
  .filter((one) => one.getBoundingClientRect().left < 0 || one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 160)).slice(0, 3)`

test('a phone shows every cell, every button and the tab of the page', async () => {
  const { url } = await servePage(file)
  const page = await window({ viewport: { width: 390, height: 844 } })
  for (const address of ADDRESSES) {
    await page.goto(`${url}${address}`)
    expect(await page.evaluate(`document.documentElement.scrollWidth`), address).toBe(390)
    expect(await page.evaluate(OFF_SCREEN), address).toEqual([])
  }
})

test('a printed page omits controls that only work on screen', async () => {
  const { url } = await servePage(file)
  const page = await window()
  await page.emulateMedia({ media: 'print' })
  for (const address of some(ADDRESSES)) {
    await page.goto(`${url}${address}`)
    expect(await page.locator('h1').isVisible(), address).toBe(true)
    expect(await page.locator('header nav').isVisible(), address).toBe(false)
    expect(await page.locator('button:visible').count(), address).toBe(0)
  }
  await page.goto(`${url}/series/600`)
  expect((await page.pdf()).length).toBeGreaterThan(10_000)
})

/** Records the order of all elements that receive the focus, and whether their focus is visible. */
const WATCH = `(() => {
  globalThis.stops = []
  document.addEventListener('focusin', ({ target: one }) => {
    one.dataset.seen ??= String(document.querySelectorAll('[data-seen]').length)
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    const isShown = one.type === 'date' || (outlineStyle !== 'none' && outlineWidth !== '0px')
    globalThis.stops.push(one.dataset.seen + (isShown ? '' : ' without a mark: ' + one.outerHTML.slice(0, 200)))
  })
})()`

test('every control can be reached by Tab in order and shows its focus', async () => {
  const { url } = await servePage(file)
  const page = await window()
  const controls = '/ /coverage/600 /indicators /search?q=precio /texts/glossary/300 /archives /runs/1'.split(' ')
  for (const address of some([...controls, `/sql?sql=${STATEMENT}&p.geo=3`])) {
    await page.goto(`${url}${address}`)
    const stops = (await page.evaluate(
      `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')].filter((one) => one.tabIndex >= 0 && one.checkVisibility()).length`,
    )) as number
    await page.evaluate(WATCH)
    // A date field has several stops.
    for (let i = 0; i < stops + 10; i++) await page.keyboard.press('Tab')
    const seen = (await page.evaluate('globalThis.stops')) as string[]
    // After the last stop it starts again.
    expect(seen.slice(0, stops), address).toEqual(Array.from({ length: stops }, (_, i) => String(i)))
  }
})
