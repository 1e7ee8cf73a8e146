import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { json, ms, runCli, serve, valueAt } from '../support/kit.ts'
import { IN_FULL } from '../support/randomCases.ts'
import { processClock } from './clock.ts'
import { jobFolder, serviceAt } from './jobFolder.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const FIRST_NIGHT = ms('2025-11-03T20:15:00Z') / 1000
const ids = (count: number, first = 1000): number[] => Array.from({ length: count }, (_, i) => first + i)

interface Behaviour {
  readonly status?: number
  readonly geos?: readonly number[]
  /** Whether a value exists. */
  readonly has?: (at: number, geo: number) => boolean
}

/** A service of hourly values up to its present, which a test changes from night to night, and commands with its clock. */
async function nights(indicators: readonly number[], window = '{ last: 10d }') {
  let behaviour: Behaviour = {}
  let now = FIRST_NIGHT
  const messages: { text: string; findings: unknown[] }[] = []
  const { url } = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    if (request.method === 'POST') {
      let body = ''
      request.on('data', (piece) => {
        body += piece
      })
      request.on('end', () => {
        messages.push(JSON.parse(body))
        response.end()
      })
      return
    }
    const { status, geos = [3], has = () => true } = behaviour
    if (status !== undefined) return json(response, { message: 'no' }, status)
    const [from, to] = ['start_date', 'end_date'].map((name) => Date.parse(searchParams.get(name)!) / 1000) as [
      number,
      number,
    ]
    const values = []
    for (let at = Math.ceil(from / HOUR) * HOUR; at <= Math.min(to, now - HOUR); at += HOUR)
      for (const geo of geos) if (has(at, geo)) values.push(valueAt(at, 1, geo))
    json(response, { indicator: { id: Number(pathname.split('/').at(-1)), tiempo: [{ id: 4 }], geos: [], values } })
  })
  const dir = jobFolder({})
  const write = (list: readonly number[]) =>
    writeFileSync(
      join(dir, 'job.yaml'),
      `name: many\npace: { perSecond: 50, concurrency: 16 }\nseries: [{ indicators: [${list.join()}], window: ${window} }]\n`,
    )
  write(indicators)
  const clock = processClock(dir)
  const run = async (...args: string[]) => {
    const { code, out, err } = await runCli(dir, args, {
      ...serviceAt(url),
      INDICATOR_SYNC_NOTIFY: `${url}/hook`,
      ...clock(now * 1000),
    })
    return { code, out, err, lines: out.trimEnd().split('\n').length }
  }
  return {
    run,
    write,
    messages,
    /** Runs a night, some days after the first. */
    night(day: number, next: Behaviour = {}) {
      now = FIRST_NIGHT + day * DAY
      behaviour = next
      return run('sync', 'job.yaml')
    },
    /** The output of everything that reports the state of a database. */
    async reports() {
      return { check: await run('check'), status: await run('status'), gaps: await run('gaps') }
    },
  }
}

const MOST_LINES = 70
/** The most characters of a notification. */
const MOST_CHARACTERS = 3000

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')
const kindsIn = (text: string): string[] => [...text.matchAll(/^([a-z][a-z ]*): /gm)].map(([, kind]) => kind!)

describe('many troubles of one cause are a few lines', () => {
  test('check prints few lines for many series that are late at once', async () => {
    const { night, reports, run, messages } = await nights(ids(120))
    for (const day of [0, 1, 2, 3]) expect((await night(day)).code).toBe(0)
    const stopped = { has: (at: number) => at < FIRST_NIGHT + 3 * DAY }
    const { lines } = await night(5, stopped)
    expect(lines).toBeLessThan(MOST_LINES)
    const { check, status, gaps } = await reports()
    expect(check.code).toBe(6)
    expect(inOneLine(check.out)).toMatch(
      /^late: 120 findings, such as indicator 1000, geo 3; indicator 1001, geo 3; indicator 1002, geo 3 and 117 more \(all: `indicator-sync check --all`\)\. The first: /,
    )
    for (const report of [check, status, gaps]) expect(report.lines).toBeLessThan(MOST_LINES)
    expect(gaps.err).toContain('Use --limit 0 to show all.')
    expect((await run('gaps', '--limit', '0')).lines).toBe(122)
    expect((await run('check', '--all')).out.match(/^late: /gm)).toHaveLength(120)
    expect(JSON.parse((await run('check', '--json')).out)).toHaveLength(120)
    expect(status.out).toContain('and 100 more: indicator-sync status --all')
    expect((await run('status', '--all')).lines).toBeGreaterThan(240)
    expect(messages.at(-1)!.text.length).toBeLessThan(MOST_CHARACTERS)
    expect(messages.at(-1)!.findings).toHaveLength(1)
  })

  // The run waits for the service for half a minute.
  test.runIf(IN_FULL)('check prints no lines for many late series while the service is down', async () => {
    const { night, reports, messages } = await nights(ids(120))
    for (const day of [0, 1, 2, 3]) expect((await night(day)).code).toBe(0)
    await night(5, { has: (at: number) => at < FIRST_NIGHT + 3 * DAY })
    expect((await night(7, { status: 503 })).lines).toBeLessThan(MOST_LINES)
    const down = await reports()
    expect(kindsIn(down.check.out)).toEqual(['service down'])
    for (const report of Object.values(down)) expect(report.lines).toBeLessThan(MOST_LINES)
    expect(messages.at(-1)!.text.length).toBeLessThan(MOST_CHARACTERS)
  })

  test('check prints few lines for 200 requests that fail for one reason', async () => {
    const { night, reports, messages } = await nights(ids(200), '{ last: 1d }')
    const { lines, out } = await night(0, { status: 400 })
    expect(lines).toBeLessThan(20)
    expect(out).toMatch(/All \d+ requests failed:\n(.*\n){3} {2}… and \d+ more with the same error\n/)
    const { check, status, gaps } = await reports()
    expect(inOneLine(check.out)).toMatch(/^failure: \d{3} requests failed: .* and \d{3} more/)
    for (const report of [check, status, gaps]) expect(report.lines).toBeLessThan(MOST_LINES)
    expect(messages.at(-1)!.text.length).toBeLessThan(MOST_CHARACTERS)
  })

  test('check prints few lines for 120 ids that the service does not know', async () => {
    const { night, reports } = await nights(ids(120))
    expect((await night(0, { status: 404 })).lines).toBeLessThan(MOST_LINES)
    expect((await night(1, { status: 404 })).lines).toBeLessThan(MOST_LINES)
    const { check, status, gaps } = await reports()
    expect(check.out).toMatch(/^unknown id: 120 findings, such as /)
    for (const report of [check, status, gaps]) expect(report.lines).toBeLessThan(MOST_LINES)
  })

  test('check prints few lines for 60 geos that lack the same range', async () => {
    const { night, reports, run } = await nights([1000])
    const geos = ids(61, 1)
    const lost = (at: number, geo: number) => geo === 1 || at < FIRST_NIGHT - 3 * DAY || at > FIRST_NIGHT - 2 * DAY
    for (const day of [0, 1, 2]) await night(day, { geos, has: lost })
    const { check, status, gaps } = await reports()
    expect(kindsIn(check.out)).toEqual(['gap'])
    expect(inOneLine(check.out)).toContain('geos 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 50 more')
    for (const report of [check, status, gaps]) expect(report.lines).toBeLessThan(MOST_LINES)
    expect(gaps.out).toContain('60 geos')
    expect(JSON.parse((await run('gaps', '--json')).out).length).toBeGreaterThanOrEqual(60)
  })
})
