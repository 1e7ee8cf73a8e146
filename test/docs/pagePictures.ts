import { join } from 'node:path'
import { startServer } from '../../src/page/pageServer.ts'
import { SERVICES } from '../../src/service/services.ts'
import { launch } from '../page/chromium.ts'
import { fillDemo, NIGHTS } from '../support/demoDatabase.ts'

/** The time of the screenshots: the morning after the last night. */
const NOW = Date.parse(NIGHTS.at(-1)!) / 1000 + 18 * 3_600

/** The pages with screenshots: their height, and the element to wait for. */
const PICTURES = {
  overview: { address: '/', height: 640, ready: 'table.series' },
  coverage: { address: '/coverage/600?geo=3', height: 870, ready: '.days' },
  series: {
    address: '/series/1293?geo=8741&from=2025-10-31&to=2025-11-04&asof=2025-11-03T18:00:00.000Z',
    height: 900,
    ready: '#chart canvas',
  },
  sql: {
    address: `/sql?recipe=daily-average&sql=${encodeURIComponent(
      'select local_date, round(min, 2) as lowest, round(avg, 2) as average, round(max, 2) as highest\nfrom observations_daily\nwhere indicator_id = :indicator and time_trunc is null and geo_agg is null and geo_id = :geo',
    )}&p.indicator=600&p.geo=3`,
    height: 850,
    ready: 'main table',
  },
} as const

/** Takes screenshots of the demo data, which are reproducible. Returns their files. */
export async function drawPages(scratch: string, folder: string): Promise<string[]> {
  const file = join(scratch, 'demo.db')
  const store = await fillDemo(file)
  store.tidy()
  await store.close()
  const site = {
    file,
    version: 'docs',
    service: SERVICES.generic,
    door: { names: [], token: null },
    now: () => NOW,
    command: (rest: string) => `npx indicator-sync ${rest}`,
    failed: (error: unknown) => {
      throw error
    },
  }
  const server = await startServer(site, { host: '127.0.0.1', port: 0 })
  const browser = await launch()
  try {
    const files: string[] = []
    for (const [name, { address, height, ready }] of Object.entries(PICTURES)) {
      const page = await browser.newPage({
        locale: 'en-GB',
        viewport: { width: 1100, height },
        reducedMotion: 'reduce',
      })
      await page.goto(`${server.url}${address}`)
      await page.waitForSelector(ready)
      await page.evaluate('document.fonts.ready')
      files.push(join(folder, `${name}.png`))
      await page.screenshot({ path: files.at(-1)!, caret: 'hide' })
      await page.close()
    }
    return files
  } finally {
    await browser.close()
    await server.close()
  }
}
