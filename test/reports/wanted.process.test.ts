import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { findFindings } from '../../src/findings/findFindings.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { endRun, openRun } from '../../src/sync/record.ts'
import { askPage } from '../page/askPage.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, json, ms, runCli, runCommand, runJob, serve, tempFolder, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const SERIES = 'series: [{ indicators: [1, 2, 3], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]'
const NEXT = 'indicator-sync sync test.yaml'

const gapsOf = async (store: Store) =>
  (await gapsAtLastRun(store)).map(
    ({ indicator_id, geo_id, reason, from, to }) =>
      `${indicator_id} ${geo_id} ${reason} ${from.slice(5, 10)}..${to.slice(5, 10)}`,
  )

describe('a selected range that was never requested', () => {
  test.each([
    ['the budget is spent', { callsPerDay: 1 }, 200, 'stopped'],
    ['the key is refused', {}, 403, 'failed'],
  ])('a range is a gap after a run in which %s', async (_what, limits, status, outcome) => {
    const store = await tempStore()
    const service = await startHourlyService()
    const server = status === 200 ? service : await serve((_request, response) => json(response, {}, status))
    const pace = JSON.stringify({ perSecond: 50, concurrency: 1, ...limits })
    expect((await runJob(store, server, `pace: ${pace}\n${SERIES}`, { now: NOW })).outcome).toBe(outcome)
    const ranges = [2, 3].map((id) => `${id} 0 never requested 10-01..10-03`)
    expect(await gapsOf(store)).toEqual(status === 200 ? ranges : ['1 0 failed 10-01..10-03', ...ranges])
    const run = (...args: string[]) => runCommand(tempFolder(), [...args, '--database', store.file])
    const listed = await run('gaps', '--fail')
    expect([listed.code, listed.out]).toEqual([6, expect.stringMatching(/never requested .*sync test\.yaml/)])
    const checked = await run('check', '--json')
    const left = status === 200 ? 'indicator 2, indicator 3' : 'indicator 1, indicator 2, indicator 3'
    expect([checked.code, JSON.parse(checked.out)]).toMatchObject([
      6,
      [
        {
          kind: status === 200 ? 'unfinished' : 'key',
          message: expect.stringContaining(`. Missing because of this: ${left}`),
          command: `${NEXT} --database ${store.file}`,
        },
      ],
    ])
    expect((await run('status')).out.replaceAll(/\s+/g, ' ')).toContain(`Missing because of this: ${left}`)
    expect(await prometheusText(store)).toContain('indicator_sync_gaps{reason="never requested"} 2')
    await runJob(store, service, SERIES, { now: NOW + 90_000_000 })
    expect(await gapsOf(store)).toEqual([])
    expect(await run('gaps', '--fail')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^No gaps: no final value/),
    })
  })

  test('while a run of the job requests a range, it is not a finding', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    await service.run(store, `pace: { callsPerDay: 1, perSecond: 50, concurrency: 1 }\n${SERIES}`, NOW)
    const checks = async () => (await findFindings(store, NOW / 1000)).map(({ kind }) => kind)
    expect(await checks()).toEqual(['unfinished'])
    const writer = await openWriter(store.file, 'sync')
    const context = { store: writer, nowMs: () => NOW }
    const run = await openRun(context, { command: 'sync', job: { name: 'test' } }, { jobId: 1 })
    expect(await checks()).toEqual([])
    expect((await askPage(store, '/')).title).toBe('Sync in progress')
    await endRun(run, 'done', null)
    await writer.close()
    expect(await checks(), 'one command fetches both series').toEqual(['gap'])
  })

  test('a range is a gap after a killed run, with the schedule of its job as next run', async () => {
    const dir = tempFolder()
    writeFileSync(join(dir, 'job.yaml'), `name: nightly\nschedule: "15 21 * * *"\n${SERIES}`)
    let kill = (): unknown => undefined
    const silent = await serve(() => kill())
    const env = { INDICATOR_SYNC_BASE_URL: silent.url, INDICATOR_SYNC_API_KEY: 'k'.repeat(64) }
    const killed = await runCli(dir, ['sync', 'job.yaml'], env, (child) => {
      kill = () => child.kill('SIGKILL')
    })
    expect(killed.signal).toBe('SIGKILL')
    const { code, out } = await runCommand(dir, ['gaps', '--fail', '--json'])
    expect(code).toBe(6)
    expect(JSON.parse(out)).toMatchObject(
      [1, 2, 3].map((indicator_id) => ({
        indicator_id,
        reason: 'never requested',
        job: 'nightly',
        next: 'the schedule of nightly (15 21 * * *)',
      })),
    )
  })

  test('a range is a gap until its job changes, but not if a run is limited to some indicators', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const stopped = (yaml: string, more = {}) =>
      runJob(store, service, yaml, { now: NOW, signal: AbortSignal.abort(), ...more })
    await stopped(SERIES, { only: [2] })
    expect(await gapsOf(store), 'also if only a part of it was ever requested').toHaveLength(3)
    const range = { from: ms('2025-10-01T22:00:00Z') / 1000, to: ms('2025-10-02T22:00:00Z') / 1000 }
    await runJob(store, service, SERIES, {
      now: NOW,
      options: { range: { interval: range, how: 'narrow' }, restate: true },
    })
    expect(await gapsOf(store), 'after a range of it').toHaveLength(3)
    await stopped(SERIES.replace('[1, 2, 3]', '[2]'))
    // The range showed the geo of the series, so the gap names it.
    expect(await gapsOf(store)).toEqual(['2 3 never requested 10-01..10-02'])
  })

  test('a range is a gap for each named geo unless a reply for all geos covers it', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    await service.run(store, SERIES.replace('[1, 2, 3]', '[1]'), NOW)
    const some =
      'series: [{ indicators: [1], geoIds: [3, 4], window: { from: 2025-10-01, to: 2025-10-05 }, lookback: 2d }]'
    await runJob(store, service, `name: some\n${some}`, { now: NOW, signal: AbortSignal.abort() })
    expect(await gapsOf(store)).toEqual([3, 4].map((geo) => `1 ${geo} never requested 10-03..10-05`))
    await service.run(store, `name: some\n${some}`, NOW)
    expect(await gapsOf(store)).toEqual([])
  })

  test.each([
    ['all geos', '', [3, 4]],
    ['a geo', ', geoIds: [3]', [3]],
  ])('a range between a backfill and the windows of jobs is not a gap, for %s', async (_name, geos, known) => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const yaml = `series: [{ indicators: [1]${geos}, window: { from: 2025-10-20, to: 2025-11-01 }, lookback: 2d }]`
    const run = (from: string, to: string, how: 'narrow' | 'replace') =>
      runJob(store, service, yaml, {
        now: NOW,
        options: { range: { interval: { from: ms(from) / 1000, to: ms(to) / 1000 }, how } },
      })
    await run('2025-10-25T22:00:00Z', '2025-10-31T23:00:00Z', 'narrow')
    await run('2025-01-01T00:00:00Z', '2025-01-31T23:00:00Z', 'replace')
    expect(await gapsOf(store)).toEqual(known.map((geo) => `1 ${geo} never requested 10-20..10-26`))
  })
})
