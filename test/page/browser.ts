import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, expect, onTestFinished } from 'vitest'
import { launch } from './chromium.ts'

const AXE = createRequire(import.meta.url)('axe-core').source as string

let started: Promise<Browser> | undefined

/** The browser for all tests of a file, which ends with them. */
function browser(): Promise<Browser> {
  started ??= launch()
  return started
}

afterAll(async () => {
  await (await started)?.close()
  started = undefined
})

/** Opens a window that ends with the test. `wrong` collects errors and blocked actions of the page. */
export async function window(
  options: BrowserContextOptions = {},
): Promise<Page & { readonly wrong: readonly string[] }> {
  const context = await (await browser()).newContext({ locale: 'en-GB', timezoneId: 'America/New_York', ...options })
  // If the browser stops responding, the action that waits for it fails.
  context.setDefaultTimeout(100_000)
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text())
  })
  onTestFinished(() => context.close())
  return Object.assign(page, { wrong })
}

/** Opens an address in a window of 1200 pixels; errors of the browser fail the test. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await window({ viewport: { width: 1200, height: 900 }, ...options })
  onTestFinished(() => expect(page.wrong).toEqual([]))
  await page.goto(url)
  return page
}

/** Opens the page of a series, and waits for its chart if scripts may draw it. */
export async function openChart(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openPage(url, options)
  if (options.javaScriptEnabled !== false) await page.waitForSelector('#chart[data-drawn] canvas')
  return page
}

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const ON_COLOURS = ['color-contrast', 'link-in-text-block']
/** The rules of axe. Colour rules take most of the time and do not depend on the language. */
const RULES = {
  all: { runOnly: ALL },
  colours: { runOnly: { type: 'rule', values: ON_COLOURS } },
  words: { runOnly: ALL, rules: Object.fromEntries(ON_COLOURS.map((rule) => [rule, { enabled: false }])) },
} as const

/** Returns violations of WCAG 2.2 A and AA that axe finds in the current page, with their elements. */
export async function accessibilityFaults(page: Page, rules: keyof typeof RULES = 'all'): Promise<string[]> {
  // The page's policy forbids foreign scripts, so that the test evaluates axe directly.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE)
  const options = JSON.stringify({ ...RULES[rules], preload: false, resultTypes: ['violations'] })
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as {
    violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
  }
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ''}`),
  )
}
