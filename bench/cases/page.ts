import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launch } from '../../test/page/chromium.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { measure, median, peakOf, residentOf } from '../measure.ts'
import { type Serving, serving } from '../serving.ts'
import { VALUES_A_SERIES } from './views.ts'

const here = join(import.meta.dirname, '..')
/** Ten years every five minutes. */
const LONG_SERIES = 1_052_064
/** How often each page is asked for, and each action done. */
const TIMES = 20

/** What is looked at: indicator 500 has ten years of values every five minutes, 601 hours of five geos. */
const PAGES: Readonly<Record<string, string>> = {
  overview: '/',
  'series, 30 days': '/series/500',
  'series, a year': '/series/500?from=2024-01-01&to=2025-01-01',
  'series, ten years': '/series/500?from=2015-01-01&to=2025-01-01',
  'series as of, 30 days': '/series/500?from=2024-12-01&to=2025-01-01&asof=2024-12-20T12:00:00Z',
  'series as of, ten years': '/series/500?from=2015-01-01&to=2025-01-01&asof=2024-12-20T12:00:00Z',
  revisions: '/series/500/vintages',
}
const ANSWERS: Readonly<Record<string, string>> = {
  'chart data, 30 days': '/api/series/500/8741?px=1000',
  'chart data, a year': '/api/series/500/8741?px=1000&from=2024-01-01&to=2025-01-01',
  'chart data, ten years': '/api/series/500/8741?px=1000&from=2015-01-01&to=2025-01-01',
  'chart data as of, 30 days': '/api/series/500/8741?px=1000&only=before&asof=2024-12-20T12:00:00Z',
  'heat map, a year': '/api/carpet/500/8741?from=2024-01-01&to=2025-01-01',
}

/** The one that 19 of 20 do not exceed. */
const most = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!

/** Milliseconds until the whole response is there. */
async function get(url: string): Promise<number> {
  const began = performance.now()
  const answer = await fetch(url)
  const body = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${body.toString().slice(0, 500)}`)
  return performance.now() - began
}

async function answers({ url }: Serving, paths: Readonly<Record<string, string>>): Promise<string[][]> {
  const rows: string[][] = []
  for (const [name, path] of Object.entries(paths)) {
    const all = []
    for (let i = 0; i < TIMES; i++) all.push(await get(url + path))
    rows.push([name, fixed(median(all), 0), fixed(most(all), 0)])
  }
  return rows
}

/** What runs in the page, by its text, for the page allows no scripts but its own: milliseconds from an act to the next picture. */
const AFTER = (act: string): string => `new Promise((done) => {
  const chart = document.querySelector('#chart')
  const began = performance.now()
  const seen = new MutationObserver(() => {
    seen.disconnect()
    requestAnimationFrame(() => done(performance.now() - began))
  })
  seen.observe(chart, { attributes: true, attributeFilter: ['data-drawn'] })
  ${act}
})`
const KEY = (key: string): string =>
  `chart.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`
const DRAG = (by: number): string => `const slider = document.querySelector('#moment')
  slider.value = String(Number(slider.value) + ${by})
  slider.dispatchEvent(new Event('input'))`

/** Milliseconds from the beginning of a page to the first picture of its chart. */
async function firstChart(page: Page, url: string): Promise<number> {
  await page.goto(url)
  await page.waitForSelector('#chart[data-drawn] canvas')
  return Number(await page.evaluate(`performance.getEntriesByName('chart drawn')[0].startTime`))
}

async function inTheBrowser(url: string): Promise<string[][]> {
  const browser = await launch()
  const rows: string[][] = []
  const addRow = (name: string, times: readonly number[]): void =>
    void rows.push([name, fixed(median(times), 0), fixed(most(times), 0)])
  try {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1200, height: 900 } })
    const page = await context.newPage()
    for (const [name, path] of [
      ['first chart, 30 days', '/series/500'],
      ['first chart, ten years', '/series/500?from=2015-01-01&to=2025-01-01'],
    ] as const) {
      const times: number[] = []
      for (let i = 0; i < TIMES; i++) times.push(await firstChart(page, url + path))
      addRow(name, times)
    }
    const acted = async (name: string, acts: readonly string[]): Promise<void> => {
      const times: number[] = []
      for (let i = 0; i < TIMES; i++) times.push(Number(await page.evaluate(AFTER(acts[i % acts.length]!))))
      addRow(name, times)
    }
    await page.goto(`${url}/series/500?from=2024-12-01&to=2025-01-01`)
    await page.waitForSelector('#chart[data-drawn] canvas')
    await acted('zoom in 30 days', [KEY('+'), KEY('+'), KEY('-'), KEY('-')])
    await page.goto(`${url}/series/500?from=2015-01-01&to=2025-01-01`)
    await page.waitForSelector('#chart[data-drawn] canvas')
    await acted('zoom in ten years', [KEY('+'), KEY('+'), KEY('-'), KEY('-')])
    await page.goto(`${url}/series/500?from=2024-12-01&to=2025-01-01`)
    await page.waitForSelector('#moment')
    await acted('as-of drag in 30 days', [...Array(10).fill(DRAG(-1)), ...Array(10).fill(DRAG(1))])
  } finally {
    await browser.close()
  }
  return rows
}

/** The page on a database, asked as a browser asks, and in the real one. */
async function measurePage(say: Bench['say'], database: string, values: number): Promise<Section> {
  const serve = () => serving('../src/cli/bin.js', ['serve', '--port', '0', '--database', database])
  say('page: starting')
  const starts: number[] = []
  for (let i = 0; i < 5; i++) {
    const began = performance.now()
    const started = await serve()
    await get(`${started.url}/`)
    starts.push(performance.now() - began)
    await started.stop()
  }
  const server = await serve()
  try {
    say('page: asking')
    const pages = await answers(server, PAGES)
    const data = await answers(server, ANSWERS)
    say('page: in the browser')
    const drawn = await inTheBrowser(server.url)
    const [resident, peak] = [residentOf(server.pid), peakOf(server.pid)]
    return {
      title: `The page on ${grouped(values)} values`,
      about: `${TIMES} runs each. Responses until the last byte, charts until the first frame.`,
      head: ['what', 'median ms', 'p95 ms'],
      rows: [
        ...pages,
        ...data,
        ...drawn,
        ['start of `serve`', fixed(median(starts), 0), fixed(most(starts), 0)],
        ['memory, peak MB', fixed(resident, 0), fixed(peak, 0)],
      ],
    }
  } finally {
    await server.stop()
  }
}

/** The page on a large database that is filled by SQL. */
export async function page({ folder, rows, say }: Bench): Promise<Section[]> {
  const database = join(folder, 'page.db')
  const series = Math.max(1, Math.round(rows / VALUES_A_SERIES))
  const values = series * VALUES_A_SERIES + LONG_SERIES
  say(`page: filling in ${grouped(values)} values`)
  await measure(process.execPath, [join(here, 'children/fill.ts'), database, String(series)])
  await measure(process.execPath, [join(here, 'children/fillLong.ts'), database])
  const section = await measurePage(say, database, values)
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  return [section]
}
