import type { Page } from 'playwright-core'
import { launch } from '../../test/page/chromium.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { median, memoryMb } from '../measure.ts'
import { type Serving, startServing } from '../serving.ts'
import { fillLarge } from './views.ts'

/** Repetitions of each request and action. */
const TIMES = 20

/** Indicator 500 has ten years of values every five minutes. */
const PAGES: Readonly<Record<string, string>> = {
  overview: '/',
  'series, 30 days': '/series/500',
  'series, a year': '/series/500?from=2024-01-01&to=2025-01-01',
  'series, ten years': '/series/500?from=2015-01-01&to=2025-01-01',
  'series as of, 30 days': '/series/500?from=2024-12-01&to=2025-01-01&asof=2024-12-20T12:00:00Z',
  'series as of, ten years': '/series/500?from=2015-01-01&to=2025-01-01&asof=2024-12-20T12:00:00Z',
}
const DATA: Readonly<Record<string, string>> = {
  'chart data, 30 days': '/api/series/500/8741?px=1000',
  'chart data, a year': '/api/series/500/8741?px=1000&from=2024-01-01&to=2025-01-01',
  'chart data, ten years': '/api/series/500/8741?px=1000&from=2015-01-01&to=2025-01-01',
  'chart data as of, 30 days': '/api/series/500/8741?px=1000&only=before&asof=2024-12-20T12:00:00Z',
  'heat map, a year': '/api/carpet/500/8741?from=2024-01-01&to=2025-01-01',
}

const percentile95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!

/** Requests a page and returns the milliseconds until its last byte. */
async function get(url: string): Promise<number> {
  const began = performance.now()
  const response = await fetch(url)
  const body = Buffer.from(await response.arrayBuffer())
  if (!response.ok) throw new Error(`${url}: status ${response.status}: ${body.toString().slice(0, 500)}`)
  return performance.now() - began
}

async function measurePaths({ url }: Serving, paths: Readonly<Record<string, string>>): Promise<string[][]> {
  const rows: string[][] = []
  for (const [name, path] of Object.entries(paths)) {
    const times = []
    for (let i = 0; i < TIMES; i++) times.push(await get(url + path))
    rows.push([name, fixed(median(times), 0), fixed(percentile95(times), 0)])
  }
  return rows
}

/** A script that measures the milliseconds from an action to the next frame of the chart. */
const measureAction = (action: string): string => `new Promise((done) => {
  const chart = document.querySelector('#chart')
  const began = performance.now()
  const observer = new MutationObserver(() => {
    observer.disconnect()
    requestAnimationFrame(() => done(performance.now() - began))
  })
  observer.observe(chart, { attributes: true, attributeFilter: ['data-drawn'] })
  ${action}
})`
const pressKey = (key: string): string =>
  `chart.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`
const dragMoment = (by: number): string => `const slider = document.querySelector('#moment')
  slider.value = String(Number(slider.value) + ${by})
  slider.dispatchEvent(new Event('input'))`

/** Opens a page and returns the milliseconds until the first frame of its chart. */
async function openChart(page: Page, url: string): Promise<number> {
  await page.goto(url)
  await page.waitForSelector('#chart[data-drawn] canvas')
  return Number(await page.evaluate(`performance.getEntriesByName('chart drawn')[0].startTime`))
}

async function measureBrowser(url: string): Promise<string[][]> {
  const browser = await launch()
  const rows: string[][] = []
  const addRow = (name: string, times: readonly number[]): void =>
    void rows.push([name, fixed(median(times), 0), fixed(percentile95(times), 0)])
  try {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1200, height: 900 } })
    const page = await context.newPage()
    for (const [name, path] of [
      ['first chart, 30 days', '/series/500'],
      ['first chart, ten years', '/series/500?from=2015-01-01&to=2025-01-01'],
    ] as const) {
      const times: number[] = []
      for (let i = 0; i < TIMES; i++) times.push(await openChart(page, url + path))
      addRow(name, times)
    }
    const measureActions = async (name: string, actions: readonly string[]): Promise<void> => {
      const times: number[] = []
      for (let i = 0; i < TIMES; i++)
        times.push(Number(await page.evaluate(measureAction(actions[i % actions.length]!))))
      addRow(name, times)
    }
    await page.goto(`${url}/series/500?from=2024-12-01&to=2025-01-01`)
    await page.waitForSelector('#chart[data-drawn] canvas')
    await measureActions('zoom in 30 days', [pressKey('+'), pressKey('+'), pressKey('-'), pressKey('-')])
    await page.goto(`${url}/series/500?from=2015-01-01&to=2025-01-01`)
    await page.waitForSelector('#chart[data-drawn] canvas')
    await measureActions('zoom in ten years', [pressKey('+'), pressKey('+'), pressKey('-'), pressKey('-')])
    await page.goto(`${url}/series/500?from=2024-12-01&to=2025-01-01`)
    await page.waitForSelector('#moment')
    await measureActions('as-of drag in 30 days', [...Array(10).fill(dragMoment(-1)), ...Array(10).fill(dragMoment(1))])
  } finally {
    await browser.close()
  }
  return rows
}

/** Measures `serve` on the large database, with HTTP requests and in Chromium. */
export async function page(input: Bench): Promise<Section> {
  const { say } = input
  const { database, values } = await fillLarge(input)
  const serve = () => startServing('../src/cli/bin.js', ['serve', '--port', '0', '--database', database])
  say('page: start')
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
    say('page: requests')
    const requests = [...(await measurePaths(server, PAGES)), ...(await measurePaths(server, DATA))]
    say('page: browser')
    const browser = await measureBrowser(server.url)
    return {
      title: 'The web page',
      command: 'npm run bench -- page',
      about: `on ${grouped(values)} values, ${TIMES} runs each. Responses until the last byte, charts until the first frame.`,
      head: ['page', 'median ms', 'p95 ms'],
      rows: [
        ...requests,
        ...browser,
        ['start of `serve` to the first page', fixed(median(starts), 0), fixed(percentile95(starts), 0)],
        [
          'memory of `serve` in MB, at the end and peak',
          ...(['VmRSS', 'VmHWM'] as const).map((kind) => fixed(memoryMb(server.pid, kind), 0)),
        ],
      ],
    }
  } finally {
    await server.stop()
  }
}
