import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { progressLine } from '../../src/cli/terminal/progress.ts'
import { readJob } from '../../src/job/read.ts'
import { NO_COUNTS } from '../../src/load/counts.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readPlannerState } from '../../src/sync/readPlannerState.ts'
import { EVENTS, type EventName } from '../../src/util/events.ts'
import { json, runCli, runCommand, serve, tempFolder, tempStore } from '../support/kit.ts'
import { testSignals } from '../support/systems.ts'

const KEY = 'c0ffee'.repeat(10)
const NASTY = `no \u001b[2J\u0085\u202e"such"\u2028 thing ${KEY}`

type Line = Record<string, unknown> & { readonly event: string; readonly level: number; readonly msg: string }

/** Parses stderr and checks that each line is JSON with a declared event and declared fields. */
function linesOf(err: string): Line[] {
  expect(err).not.toContain(KEY)
  return err
    .split('\n')
    .filter((line) => line !== '')
    .map((text) => {
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      const line = JSON.parse(text) as Line
      expect(Object.keys(EVENTS)).toContain(line.event)
      const { fields } = EVENTS[line.event as EventName]
      for (const name of Object.keys(line)) expect([...fields, 'event', 'level', 'time', 'msg'], text).toContain(name)
      return line
    })
}

const value = { value: 1, datetime: '2025-10-01T00:00:00+02:00', geo_id: 3, geo_name: 'España' }
const good = (id: string) => ({ indicator: { id: Number(id), name: 'x', tiempo: [], geos: [], values: [value] } })

/**
 * Starts a service for indicators: 1 succeeds, 2 fails once, 3 is unknown, 4 requests a pause once, 5 hangs until
 * `hang` is called.
 */
async function misbehaving(hang: () => void = () => undefined) {
  const seen = new Set<string>()
  const server = await serve((request, response) => {
    const id = /\/indicators\/(\d+)/.exec(request.url!)![1]!
    const first = !seen.has(id)
    seen.add(id)
    if (id === '2' && first) return json(response, { message: NASTY }, 503)
    if (id === '3') return json(response, { message: NASTY }, 404)
    if (id === '4' && first) return json(response, {}, 429, { 'Retry-After': '1' })
    if (id === '5') return hang()
    return json(response, good(id))
  })
  return { INDICATOR_SYNC_BASE_URL: server.url, INDICATOR_SYNC_API_KEY: KEY }
}

function folderFor(ids: string): string {
  const dir = tempFolder()
  writeFileSync(
    join(dir, 'job.yaml'),
    `name: told
pace: { perSecond: 50 }
series: [{ indicators: [${ids}], window: { from: 2025-10-01, to: 2025-10-02 } }]
`,
  )
  return dir
}

describe('the log of a run', () => {
  test('the JSON log contains every request and its outcome', async () => {
    const dir = folderFor('1, 2, 3, 4')
    const env = await misbehaving()
    const { code, err } = await runCommand(dir, ['sync', 'job.yaml', '--log-format', 'json'], env)
    expect(code).toBe(1)
    const lines = linesOf(err)
    const of = (event: string, indicator?: number): Line[] =>
      lines.filter((line) => line.event === event && (indicator === undefined || line.indicator === indicator))
    const request = {
      run: 1,
      job: 'told',
      command: 'sync',
      route: 'indicator',
      window: { from: '2025-09-30T22:00:00Z', to: '2025-10-01T22:00:00Z' },
    }
    const rows = { new: expect.any(Number), unchanged: expect.any(Number), revised: 0, withdrawn: 0, rejected: 0 }
    expect(lines[0]).toMatchObject({ event: 'run.started', level: 30, run: 1, job: 'told' })
    const ms = expect.any(Number)
    expect(of('request.done', 1)).toMatchObject([{ ...request, status: 200, attempt: 1, ms, rows, level: 30 }])
    expect(of('request.retried', 2)).toMatchObject([
      { ...request, status: 503, attempt: 1, code: 'server-error', level: 40 },
    ])
    expect(of('request.done', 2)).toMatchObject([{ ...request, status: 200, attempt: 2, rows }])
    expect(of('request.failed', 3)).toMatchObject([
      {
        ...request,
        status: 404,
        attempt: 1,
        ms,
        code: 'not-found',
        level: 50,
        rows: { ...rows, new: 0, unchanged: 0 },
      },
    ])
    expect(of('request.done', 4)).toMatchObject([{ attempt: 2 }])
    expect(of('calls.paused')).toMatchObject([{ run: 1, job: 'told', wait_ms: 1000, level: 40 }])
    expect(lines.at(-1)).toMatchObject({
      event: 'run.ended',
      outcome: 'partial',
      level: 40,
      requests: 4,
      failed: 1,
      rows,
    })
    // Retry sends only the failed request.
    const retried = await runCommand(dir, ['retry', '--log-format', 'json', '--quiet'], env)
    expect(retried.code).toBe(1)
    expect(linesOf(retried.err).map(({ event, job }) => [event, job])).toEqual([
      ['request.failed', 'retry'],
      ['run.ended', 'retry'],
    ])
  })

  testSignals('the log contains the reason for which the run stopped', async () => {
    let kill: () => void = () => undefined
    const env = await misbehaving(() => kill())
    const { code, err } = await runCli(folderFor('1, 5'), ['sync', 'job.yaml', '--log-format=json'], env, (child) => {
      kill = () => child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 600_000).unref()
    })
    expect(code).toBe(143)
    const lines = linesOf(err)
    expect(lines.filter(({ event }) => event === 'signal.received')).toMatchObject([{ signal: 'SIGTERM' }])
    expect(lines.at(-1)).toMatchObject({ event: 'run.ended', outcome: 'stopped', code: 'signal', requests: 2 })
  })

  test('the log has one line per request with --verbose, and none after success by default', async () => {
    const verbose = await runCommand(folderFor('1, 2'), ['sync', 'job.yaml', '--verbose'], await misbehaving())
    expect(verbose.code).toBe(0)
    expect(verbose.err).toMatch(/indicator \/indicators\/1\?\S+: status 200 in \d+ ms, \d+ new/)
    expect(verbose.err).toMatch(/\/indicators\/2\?\S+: attempt 1 failed, retrying: .*503/)
    expect(verbose.err).toMatch(/\/indicators\/2\?\S+: status 200 in \d+ ms at attempt 2, \d+ new/)
    for (const more of [[], ['--log-format', 'json']]) {
      const quiet = await runCommand(
        folderFor('1, 2, 4'),
        ['sync', 'job.yaml', '--quiet', ...more],
        await misbehaving(),
      )
      expect(quiet).toMatchObject({ code: 0, err: '' })
    }
  })

  test('a command that fails logs its error as JSON', async () => {
    for (const args of [
      ['sync', 'none.yaml'],
      ['sync', 'job.yaml', '--nonsense'],
    ]) {
      const { code, err } = await runCommand(folderFor('1'), [...args, '--log-format', 'json'], await misbehaving())
      expect(code).toBe(2)
      expect(linesOf(err)).toMatchObject([{ event: 'command.failed', level: 50, reason: expect.any(String) }])
    }
  })
})

describe('the progress line', () => {
  test('the progress line shows the series, speed, remaining time and budget, and fits the terminal', async () => {
    const job = readJob(
      'name: x\nseries: [{ indicators: [600], chunk: 1mo, window: { from: 2025-09-01, to: 2025-11-01 } }]',
      'x',
    )
    const now = Date.parse('2025-11-04T12:00:00Z') / 1000
    const plannerState = await readPlannerState(await tempStore())
    const [planned] = planJob({ job, service: SERVICES.esios, plannerState, now, options: {} })
    const counts = { ...NO_COUNTS, requests: 10, rows_new: 5000, failed: 2 }
    const progress = { planned: planned!, counts, done: 10, total: 100, callsLeft: 50 }
    const line = (cells: number, name?: string) => progressLine(progress, 10, name, cells)
    expect(line(300, 'Precio spot')).toBe(
      '10 of 100 · 2 min to go · 2 failed · Precio spot (600) 2025-09-01 … 2025-09-30 · 500 values/s · budget leaves 50 calls',
    )
    expect(line(300)).toMatch(/ · indicator \(600\) /)
    for (let cells = 1; cells < 200; cells++)
      for (const name of ['Precio', '価格'.repeat(40), `a\u001b[2J\n${'b'.repeat(300)}`]) {
        const text = line(cells, name)
        expect([...text].length + (text.match(/[価格]/g) ?? []).length, `${cells}: ${text}`).toBeLessThanOrEqual(cells)
        expect(text).not.toMatch(/\p{Cc}/u)
      }
    expect(line(60, 'Generación programada'.repeat(4))).toMatch(/^10 of 100 .*to go .*Generación/)
  })
})
