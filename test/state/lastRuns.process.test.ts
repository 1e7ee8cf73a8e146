import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { readStatus } from '../../src/findings/readStatus.ts'
import { StoreError } from '../../src/util/errors.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { emulate, json, ms, runCli, runCommand, runJob, serve, tempFolder, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const SERIES = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-04 }, chunk: 1d, lookback: 2d }]'

const lastRuns = async (store: Store) =>
  (await findFindings(store, NOW / 1000))
    .filter(({ kind }) => kind === 'last run' || kind === 'key')
    .map(({ message }) => message)

test.each([
  [
    'a refused key',
    { message: 'denied' },
    403,
    undefined,
    /^the service refused the API key: last run of test \(sync, started 2025-11-04T12:00:00.*\) failed\./,
  ],
  [
    'a full disk',
    {},
    200,
    new StoreError('The disk is full.'),
    /^last run of test \(sync, .*\) failed: The disk is full/,
  ],
])(
  'check reports a run that failed by %s until a run of the job succeeds',
  async (_what, body, status, error, says) => {
    const store = await tempStore()
    const service = await startHourlyService()
    const failing = await serve((_request, response) => json(response, body, status))
    const onProgress = () => {
      if (error) throw error
    }
    await runJob(store, failing, SERIES, { now: NOW, onProgress }).catch((thrown) => expect(thrown).toBe(error))
    expect(await lastRuns(store)).toEqual([expect.stringMatching(says)])
    await runJob(store, service, `name: other\n${SERIES}`, { now: NOW })
    expect(await lastRuns(store), 'the success of another job').toHaveLength(1)
    await runJob(store, service, SERIES, { now: NOW })
    expect(await lastRuns(store)).toEqual([])
  },
)

test('a stop by budget or signal is not a failure, and keeps an earlier one open', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const budget = `pace: { callsPerDay: 1, perSecond: 50 }\n${SERIES}`
  expect((await runJob(store, service, budget, { now: NOW })).outcome).toBe('stopped')
  expect(await lastRuns(store)).toEqual([])
  const denying = await serve((_request, response) => json(response, { message: 'denied' }, 403))
  await runJob(store, denying, SERIES, { now: NOW })
  expect(await lastRuns(store)).toHaveLength(1)
  const gone = AbortSignal.abort()
  expect((await runJob(store, service, SERIES, { now: NOW, signal: gone })).outcome).toBe('stopped')
  expect(await lastRuns(store)).toHaveLength(1)
  const nextDay = { now: NOW + 90_000_000 }
  expect((await runJob(store, service, budget.replace('1, ', '2, '), nextDay)).outcome).not.toBe('failed')
  expect(await lastRuns(store)).toEqual([])
})

test('check reports a killed run, but not an active one', async () => {
  const dir = tempFolder()
  const service = await startHourlyService()
  for (const name of ['killed', 'other'])
    writeFileSync(join(dir, `${name}.yaml`), `name: ${name}\npace: { perSecond: 50 }\n${SERIES}`)
  const check = async (): Promise<string[]> => {
    const { out } = await runCommand(dir, ['check', '--json'])
    return (JSON.parse(out) as { kind: string; message: string }[])
      .filter(({ kind }) => kind === 'last run')
      .map(({ message }) => message)
  }
  const env = (url: string) => ({ INDICATOR_SYNC_BASE_URL: url, INDICATOR_SYNC_API_KEY: 'k'.repeat(64) })
  let during: Promise<string[]> | undefined
  let kill = (): unknown => undefined
  // The service never responds: the run is killed meanwhile.
  const silent = await serve(() => {
    during ??= check().finally(() => kill())
  })
  const killed = await runCli(dir, ['sync', 'killed.yaml'], env(silent.url), (child) => {
    kill = () => child.kill('SIGKILL')
  })
  expect(killed.signal).toBe('SIGKILL')
  expect(await during).toEqual([])
  const says = expect.stringMatching(
    /^last run of killed \(sync, started .*\) failed: its process died before the run finished/,
  )
  expect(await check()).toEqual([says])
  const [{ outcome }] = JSON.parse((await runCommand(dir, ['status', '--json'])).out).runs
  expect(outcome, 'the outcome that status shows').toBe('failed')
  const metrics = (await runCommand(dir, ['status', '--format', 'prometheus'])).out
  expect(metrics).toMatch(/^indicator_sync_last_run_timestamp_seconds\{job="killed",outcome="failed"\} \d+$/m)
  expect((await runCommand(dir, ['sync', 'other.yaml'], env(service.url))).code).toBe(0)
  expect(await check()).toEqual([says])
  const after = (await runCommand(dir, ['status', '--format', 'prometheus'])).out
  expect(after, 'once the next run has closed its record').toContain('{job="killed",outcome="failed"}')
  expect((await runCommand(dir, ['sync', 'killed.yaml'], env(service.url))).code).toBe(0)
  expect(await check()).toEqual([])
})

const unfinished = async (store: Store) =>
  (await findFindings(store, NOW / 1000)).filter(({ kind }) => kind === 'unfinished').map(({ message }) => message)

test('check reports a run that its budget stopped as unfinished until one finishes', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  const texts = 'content: [{ kinds: [news, glossaries, static_pages] }]'
  await runJob(store, emulator, `pace: { callsPerDay: 1, perSecond: 50 }\n${texts}`, { now: NOW })
  const says = [expect.stringMatching(/^last run of test \(sync, started .*\) did not finish: /)]
  expect(await unfinished(store)).toEqual(says)
  const { out } = await runCommand(tempFolder(), ['gaps'], { INDICATOR_SYNC_DATABASE: store.file })
  expect(out).toMatch(/No known gaps, but data may be missing:\nWarning: last run of test \(.*\) did not finish/)
  await runJob(store, emulator, texts, { now: NOW + 90_000_000 })
  expect(await unfinished(store)).toEqual([])
})

test('a partial run neither clears a failure of the whole job nor counts as its success', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const denying = await serve((_request, response) => json(response, { message: 'denied' }, 403))
  await runJob(store, denying, SERIES, { now: NOW })
  const interval = { from: ms('2025-10-01T00:00:00Z') / 1000, to: ms('2025-10-02T00:00:00Z') / 1000 }
  const options = { range: { interval, how: 'narrow' } } as const
  expect(await runJob(store, service, SERIES, { now: NOW, options })).toMatchObject({ outcome: 'done' })
  expect(await runJob(store, service, SERIES, { now: NOW, only: [5] })).toMatchObject({ outcome: 'done' })
  expect(await lastRuns(store)).toHaveLength(1)
  expect(await prometheusText(store)).not.toMatch(/^indicator_sync_last_success_timestamp_seconds\{/m)
  await runJob(store, service, SERIES, { now: NOW })
  expect(await lastRuns(store)).toEqual([])
  expect(await prometheusText(store)).toMatch(/^indicator_sync_last_success_timestamp_seconds\{job="test"/m)
})

test('a stopped partial run is unfinished until the whole job runs', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const interval = { from: ms('2025-09-01T00:00:00Z') / 1000, to: ms('2025-09-03T00:00:00Z') / 1000 }
  const options = { range: { interval, how: 'replace' } } as const
  const budget = `pace: { callsPerDay: 1, perSecond: 50 }\n${SERIES}`
  expect(await runJob(store, service, budget, { now: NOW, options })).toMatchObject({ outcome: 'stopped' })
  expect(await unfinished(store)).toHaveLength(1)
  await runJob(store, service, SERIES, { now: NOW + 90_000_000 })
  expect(await unfinished(store)).toEqual([])
})

test('an unfinished backfill is reported until the same command finishes or the job is pruned', async () => {
  const emulator = await emulate({ now: NOW / 1000 })
  const job = (pace: string) =>
    `name: a\npace: { perSecond: 50${pace} }\nseries: [{ indicators: [600], window: { from: 2025-10-20, to: 2025-10-25 }, lookback: 1d, chunk: 1w }]`
  const dir = tempFolder()
  const write = (pace = '') => writeFileSync(join(dir, 'a.yaml'), job(pace))
  const quick = () => write()
  const slow = () => write(', callsPerDay: 2')
  quick()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const run = async (...args: string[]) => (await runCommand(dir, args, env)).code
  const found = async () =>
    JSON.parse((await runCommand(dir, ['check', '--json'])).out)
      .filter(({ kind }: { kind: string }) => kind === 'unfinished')
      .map(({ message }: { message: string }) => message)
  const backfill = ['--from', '2025-01-01', '--to', '2025-02-01']
  const says = [
    expect.stringMatching(/^last run of a \(backfill --from 2025-01-01 --to 2025-02-01, started .* did not/),
  ]
  expect(await run('sync', 'a.yaml')).toBe(0)
  slow()
  expect(await run('backfill', 'a.yaml', ...backfill)).toBe(4)
  expect(await found()).toEqual(says)
  quick()
  expect(await run('backfill', 'a.yaml', '--from', '2025-03-01', '--to', '2025-03-03')).toBe(0)
  expect(await run('sync', 'a.yaml')).toBe(0)
  expect(await found()).toEqual(says)
  expect((await runCommand(dir, ['gaps'])).out).toContain('No known gaps, but data may be missing')
  expect(await run('backfill', 'a.yaml', ...backfill)).toBe(0)
  expect(await found()).toEqual([])
  slow()
  expect(await run('backfill', 'a.yaml', '--from', '2024-01-01', '--to', '2024-02-01')).toBe(4)
  expect(await found()).toHaveLength(1)
  expect(await run('prune', '--job', 'a')).toBe(0)
  expect(await found()).toEqual([])
})

test('a run whose lake cannot be written is reported and notified as failed', async () => {
  const emulator = await emulate({ now: NOW / 1000 })
  const notified: unknown[] = []
  const receiver = await serve(async (request, response) => {
    const { event } = JSON.parse((await request.toArray()).join('')) as { event: string }
    notified.push(event)
    response.end()
  })
  const dir = tempFolder()
  writeFileSync(join(dir, 'taken'), 'a file')
  writeFileSync(join(dir, 'a.yaml'), `name: a\npace: { perSecond: 50 }\nlake: taken\n${SERIES.replace('5', '600')}`)
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const { code, out } = await runCommand(dir, ['sync', 'a.yaml', '--json', '--notify', receiver.url], env)
  expect(code).toBe(2)
  const [{ outcome, stop, rows_new }] = JSON.parse(out)
  expect({ outcome, isStored: rows_new > 0 }).toEqual({ outcome: 'failed', isStored: true })
  expect(stop.message).toContain('taken')
  expect(notified.at(-1)).toBe('failed')
  const found = async () =>
    JSON.parse((await runCommand(dir, ['check', '--json'])).out).filter(
      ({ kind }: { kind: string }) => kind === 'last run',
    )
  expect(await found()).toMatchObject([{ message: expect.stringMatching(/^last run of a .* failed: .*taken/) }])
  rmSync(join(dir, 'taken'))
  expect((await runCommand(dir, ['sync', 'a.yaml'], env)).code).toBe(0)
  expect(await found()).toEqual([])
})

test('jobs that a command did not reach because of the key are not a finding of their own', async () => {
  const dir = tempFolder()
  for (const name of ['a', 'b'])
    writeFileSync(join(dir, `${name}.yaml`), `name: ${name}\npace: { perSecond: 50 }\n${SERIES}`)
  const denying = await serve((_request, response) => json(response, { message: 'denied' }, 403))
  const env = { INDICATOR_SYNC_BASE_URL: denying.url, INDICATOR_SYNC_API_KEY: 'k'.repeat(64) }
  const { code, out } = await runCommand(dir, ['sync', 'a.yaml', 'b.yaml', '--json'], env)
  expect(code).toBe(3)
  expect(JSON.parse(out)).toMatchObject([{ job: 'a' }, { job: 'b', outcome: 'stopped', stop: { code: 'not-reached' } }])
  const checked = JSON.parse((await runCommand(dir, ['check', '--json'])).out)
  expect(checked, 'one cause').toMatchObject([
    {
      kind: 'key',
      message: expect.stringMatching(/last run of a \(.*\) failed/),
      command: expect.stringMatching(/^indicator-sync sync a\.yaml b\.yaml/),
      cause: 'key-refused',
    },
  ])
})

test('metrics of a job ignore partial runs and run ends in the future', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const denying = await serve((_request, response) => json(response, { message: 'denied' }, 403))
  const ends = async () =>
    [
      ...(await prometheusText(store, undefined, NOW / 1000 + 600)).matchAll(
        /^indicator_sync_last_(?:run|success)_.*/gm,
      ),
    ]
      .map(([line]) => line)
      .filter((line) => line.includes('outcome="done"') || line.includes('success'))
  await runJob(store, denying, SERIES, { now: NOW })
  await runJob(store, service, SERIES, { now: NOW + 60_000, only: [5] })
  expect(await ends()).toEqual([])
  await runJob(store, service, SERIES, { now: ms('2076-11-04T12:00:00Z') })
  expect(await ends()).toEqual([])
  await runJob(store, service, SERIES, { now: NOW + 120_000 })
  expect(await ends()).toHaveLength(2)
})

test('a range before windows that a clock in 2076 requested is not a gap', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const yaml = 'series: [{ indicators: [5], window: { last: 2d }, lookback: 1d }]'
  await runJob(store, service, yaml, { now: ms('2076-11-04T12:00:00Z') })
  await runJob(store, service, yaml, { now: NOW })
  // The view uses the clock of the machine: nothing in the future is missing.
  expect(store.get('select max(to_at) from gaps')).toBeLessThanOrEqual(Date.now() / 1000)
  expect(await findGaps(store, NOW / 1000)).toEqual([])
  expect((await findFindings(store, NOW / 1000)).filter(({ kind }) => kind.startsWith('gap'))).toEqual([])
  expect((await readStatus(store, NOW / 1000)).findings.filter(({ kind }) => kind === 'gap')).toEqual([])
})

test('a stopped backfill is unfinished until the whole range is fetched, by any run', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const interval = { from: ms('2025-09-30T22:00:00Z') / 1000, to: ms('2025-10-03T22:00:00Z') / 1000 }
  const options = { range: { interval, how: 'replace' } } as const
  const unfinished = async () =>
    (await findFindings(store, NOW / 1000)).filter(({ kind }) => kind === 'unfinished').map(({ message }) => message)
  const budget = 'pace: { callsPerDay: 1, perSecond: 50 }'
  await runJob(store, service, `${budget}\n${SERIES}`, { now: NOW, command: 'backfill', options })
  expect(await unfinished()).toHaveLength(1)
  // The budget was spent on the newest day.
  await runJob(store, service, SERIES.replace('10-01', '10-02'), { now: NOW })
  expect(await unfinished(), 'a day is missing').toHaveLength(1)
  await runJob(store, service, SERIES, { now: NOW })
  expect(await unfinished()).toEqual([])
})
