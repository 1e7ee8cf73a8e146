import { rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import { findForgettable, forgetJob } from '../../src/sync/forgetJob.ts'
import { sortJobs } from '../../src/sync/sortJobs.ts'
import { storeDefinition } from '../../src/sync/sync.ts'
import { askPage } from '../page/askPage.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import {
  gapsAtLastRun,
  jobOf,
  json,
  judgeAgain,
  ms,
  replayed,
  runJob,
  serve,
  tempFolder,
  tempStore,
} from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const DAY = 86_400_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY
const job = (id: number, more = '') =>
  `name: nightly\nseries: [{ indicators: [${id}], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]\n${more}`

/** A database, a service that works, and one that refuses everything. */
async function world() {
  const store = await tempStore()
  const service = await startHourlyService()
  const folder = tempFolder()
  const broken = await serve((_request, response) => json(response, {}, 400))
  const file = (name: string, host = hostname()) => {
    const path = join(folder, name)
    writeFileSync(path, '')
    return { host, file: path }
  }
  return { store, service, broken, file }
}
const jobs = (store: Store) => store.all('select name, host, file from _job order by id')
const findings = async (store: Store, ...kinds: string[]) =>
  (await findFindings(store, night(9) / 1000)).filter(({ kind }) => kinds.includes(kind)).map(({ message }) => message)
const commands = async (store: Store, wanted: string) =>
  (await findFindings(store, night(9) / 1000)).filter(({ kind }) => kind === wanted).map(({ command }) => command)
const gapIds = async (store: Store) => (await gapsAtLastRun(store)).map(({ indicator_id }) => indicator_id)

describe('two jobs with one name', () => {
  test('two jobs of one name in two files are both required, and one finding names both files and a command', async () => {
    const { store, service, broken, file } = await world()
    const a = file('a.yaml')
    const b = file('b.yaml')
    await runJob(store, broken, job(1), { now: night(0), jobSource: a })
    const other = await runJob(store, service, job(2), { now: night(1), jobSource: b })
    expect(other).toMatchObject({ takenOver: null, unselected: 0, gaps: { ranges: 0 } })
    expect(await gapIds(store)).toEqual([1])
    expect(await findings(store, 'same name')).toEqual([
      `job nightly is defined 2 times: ${a.file} and ${b.file}; rename one, or forget one`,
    ])
    expect(await commands(store, 'same name')).toEqual([
      `indicator-sync prune --job nightly --file ${a.file} --database ${store.file}`,
    ])
    const metrics = await prometheusText(store, undefined, night(2) / 1000)
    for (const { host, file: path } of [a, b])
      expect(metrics).toContain(`indicator_sync_last_run_duration_seconds{job="nightly",host="${host}",file="${path}"}`)
    expect(await replayed(store).then(jobs)).toEqual(jobs(store))
  })

  test('of two jobs on two hosts with one path, neither takes over from the other', async () => {
    const { store, service, file } = await world()
    const [a, b] = ['a', 'b'].map((host) => ({ ...file('job.yaml'), host }))
    rmSync(a!.file)
    for (const n of [0, 1, 2, 3])
      expect(
        await runJob(store, service, job(1 + (n % 2)), { now: night(n), jobSource: n % 2 ? b! : a! }),
      ).toMatchObject({
        takenOver: null,
        unselected: 0,
      })
    expect(jobs(store)).toHaveLength(2)
    expect(await findings(store, 'same name', 'job file', 'alternating')).toEqual([
      expect.stringMatching(/^job nightly is defined 2 times: a:.*job\.yaml and b:.*job\.yaml; rename one/),
    ])
    expect(await commands(store, 'same name')).toEqual([expect.stringMatching(/ --file a:.*job\.yaml /)])
  })

  test('if the other file no longer exists on this host, the new one continues its history and says so once', async () => {
    const { store, service, broken, file } = await world()
    const old = file('release-1.yaml')
    const next = file('release-2.yaml')
    await runJob(store, broken, job(1), { now: night(0), jobSource: old })
    rmSync(old.file)
    const run = () => runJob(store, service, job(1), { now: night(1), jobSource: next })
    expect(await run()).toMatchObject({ takenOver: old.file })
    expect(await run()).toMatchObject({ takenOver: null })
    expect(jobs(store)).toEqual([{ name: 'nightly', ...next }])
    expect(await findFindings(store, night(1) / 1000)).toEqual([])
  })

  test('two definitions that alternate in one file are a finding, but an edit that is undone is none', async () => {
    const { store, service, file } = await world()
    const jobSource = file('job.yaml')
    const run = (id: number, n: number) => runJob(store, service, job(id), { now: night(n), jobSource })
    await run(1, 0)
    await run(2, 1)
    await run(1, 2)
    expect(await findings(store, 'alternating')).toEqual([])
    await run(2, 3)
    expect(await findings(store, 'alternating')).toEqual([
      `two definitions of job nightly alternate under ${jobSource.file}, so each drops what only the other selects; give each a name of its own`,
    ])
    expect((await findFindings(store, night(30) / 1000)).map(({ kind }) => kind)).not.toContain('alternating')
    await run(3, 4)
    expect(await findings(store, 'alternating')).toEqual([])
  })
})

describe('an edited job', () => {
  test('a job with an edited name continues its history, and says so once', async () => {
    const { store, service, file } = await world()
    const jobSource = file('job.yaml')
    await runJob(store, service, job(1), { now: night(0), jobSource })
    const run = () => runJob(store, service, job(1).replace('nightly', 'daily'), { now: night(1), jobSource })
    expect(await run()).toMatchObject({ takenOver: null, formerName: 'nightly', unselected: 0 })
    expect(await run()).toMatchObject({ formerName: null })
    expect(jobs(store)).toEqual([{ name: 'daily', ...jobSource }])
    expect(store.all('select distinct job from _span')).toEqual([{ job: 'daily' }])
    expect(await findFindings(store, night(1) / 1000)).toEqual([])
  })

  test.each([
    {
      data: 'that the edited window no longer selects',
      entry: 'window: { from: 2025-09-30, to: +1d }, lookback: 3d',
      edited: 'window: { from: 2025-10-03, to: +1d }, lookback: 3d',
      isStored: false,
    },
    {
      data: 'that is final by the edited lookback',
      entry: 'window: { from: 2025-09-30, to: +1d }, lookback: 60d',
      edited: 'window: { from: 2025-09-30, to: +1d }, lookback: 1d',
      isStored: true,
    },
  ])(
    'a failed request for data $data is not a finding, and no retry sends it again',
    async ({ entry, edited, isStored }) => {
      const { store, service, file } = await world()
      const jobSource = file('job.yaml')
      const run = (keys: string, n: number) =>
        runJob(store, service, `series: [{ indicators: [1], ${keys}, refresh: 1h, chunk: 3d }]`, {
          now: night(n),
          jobSource,
        })
      if (isStored) await run(entry, 0)
      service.state.status = (_path, window) => (window.from < ms('2025-10-02T22:00:00Z') / 1000 ? 400 : undefined)
      await run(entry, 1)
      expect(await findings(store, 'failure')).toHaveLength(1)
      await run(edited, 2)
      expect(await findFindings(store, night(2) / 1000)).toEqual([])
      expect(await gapIds(store)).toEqual([])
      expect(await readRetryRequests(store)).toEqual([])
    },
  )

  test('another definition of the same name is an edit if a program without a job file runs it', async () => {
    const { store, service } = await world()
    await runJob(store, service, job(1), { now: night(0) })
    expect(await runJob(store, service, job(2), { now: night(1) })).toMatchObject({ unselected: 1 })
    expect(jobs(store)).toEqual([{ name: 'nightly', host: null, file: null }])
  })
})

describe('the order of the jobs of a command', () => {
  test('of two jobs with one name, each takes its own turn', async () => {
    const { store, service, file } = await world()
    const sources = { nightly: file('a.yaml'), weekly: file('weekly.yaml') }
    const budgeted = (name: string, id: number) =>
      jobOf(
        `name: ${name}\npace: { callsPerDay: 1 }\nseries: [{ indicators: [${id}], window: { last: 1d } }]`,
        SERVICES.generic,
      )
    await runJob(store, service, job(1), { now: night(0), jobSource: sources.nightly })
    await runJob(store, service, job(2).replace('nightly', 'weekly'), { now: night(1), jobSource: sources.weekly })
    await runJob(store, service, job(3), { now: night(2), jobSource: file('b.yaml') })
    const context = { store, service: SERVICES.generic, nowMs: () => night(3) }
    const runs = [budgeted('weekly', 4), budgeted('nightly', 5)].map((job) => ({
      job,
      command: 'sync',
      source: sources[job.name as keyof typeof sources],
    }))
    const inTurn = await sortJobs(context, runs)
    expect(inTurn.map((run) => run.job.name)).toEqual(['nightly', 'weekly'])
  })

  test('the job with the oldest attempt comes first, even if its only due data left its window', async () => {
    const { store, service, file } = await world()
    const sources = { nightly: file('a.yaml'), weekly: file('weekly.yaml') }
    const yaml = (name: string, id: number) =>
      `name: ${name}\npace: { callsPerDay: 100 }\nseries: [{ indicators: [${id}], window: { last: 1d }, chunk: 1d, lookback: 1d, refresh: ${name === 'weekly' ? '1m' : '4h'} }]`
    await runJob(store, service, yaml('nightly', 4), { now: night(0), jobSource: sources.nightly })
    service.state.status = (_path, { from }) => (from < night(3) / 1000 ? 400 : undefined)
    await runJob(store, service, yaml('nightly', 4), { now: night(5), jobSource: sources.nightly })
    await runJob(store, service, yaml('weekly', 5), { now: night(5), jobSource: sources.weekly })
    const context = { store, service: SERVICES.generic, nowMs: () => night(5) + 1_800_000 }
    const runs = [jobOf(yaml('weekly', 5), SERVICES.generic), jobOf(yaml('nightly', 4), SERVICES.generic)].map(
      (job) => ({
        job,
        command: 'sync',
        source: sources[job.name as keyof typeof sources],
      }),
    )
    const inTurn = await sortJobs(context, runs)
    expect(inTurn.map((run) => run.job.name)).toEqual(['nightly', 'weekly'])
  })

  test('a job with a missing period to request comes before jobs with nothing due', async () => {
    const { store, service, file } = await world()
    const sources = { nightly: file('a.yaml'), weekly: file('weekly.yaml') }
    const yaml = (name: string, id: number) =>
      `name: ${name}\npace: { callsPerDay: 100 }\nseries: [{ indicators: [${id}], window: { from: 2025-09-01, to: 2025-10-01 }, lookback: 1d }]`
    await runJob(store, service, yaml('weekly', 5), { now: night(0), jobSource: sources.weekly })
    service.state.has = (at) => at !== ms('2025-09-10T10:00:00Z') / 1000
    await runJob(store, service, yaml('nightly', 4), { now: night(0), jobSource: sources.nightly })
    const runs = [jobOf(yaml('weekly', 5), SERVICES.generic), jobOf(yaml('nightly', 4), SERVICES.generic)].map(
      (job) => ({
        job,
        command: 'sync',
        source: sources[job.name as keyof typeof sources],
      }),
    )
    const inTurn = await sortJobs({ store, service: SERVICES.generic, nowMs: () => night(3) }, runs)
    expect(inTurn.map((run) => run.job.name)).toEqual(['nightly', 'weekly'])
  })
})

describe('a job whose file is gone', () => {
  test('the data of a job without its file stays required, and the command of every finding forgets the job', async () => {
    const { store, broken, file } = await world()
    const jobSource = file('gone.yaml')
    await runJob(store, broken, job(1), { now: night(0), jobSource })
    rmSync(jobSource.file)
    expect(await gapsAtLastRun(store)).toMatchObject([{ indicator_id: 1, job: 'nightly', next: null }])
    expect(await findings(store, 'job file')).toEqual([
      `job file ${jobSource.file} of nightly is gone, but what it selects is still required. Restore the file, or run it from its new place, which continues its history. If the job is no longer needed, the command forgets it. Missing because of this: indicator 1`,
    ])
    expect(await findFindings(store, night(0) / 1000), 'one cause').toHaveLength(1)
    expect(await commands(store, 'job file')).toEqual([`indicator-sync prune --job nightly --database ${store.file}`])
    store.run(`delete from _fetch`, [])
    await judgeAgain(store)
    expect((await gapsAtLastRun(store))[0]!.command).toMatch(/^indicator-sync prune --job nightly --database /)
    store.run(`update _run set outcome = 'failed'`, [])
    const { html } = await askPage(store, '/')
    expect(html).toContain('prune --job nightly')
    expect(html).not.toMatch(/sync \S*gone\.yaml/)
  })

  test('after prune, a job is neither missing nor a finding, and a later run of its file begins anew', async () => {
    const { store, service, broken, file } = await world()
    const jobSource = file('job.yaml')
    await runJob(store, broken, job(1), { now: night(0), jobSource })
    rmSync(jobSource.file)
    const forgotten = await findForgettable(store, 'nightly', undefined)
    await forgetJob(store, { job: forgotten, nowMs: night(1) })
    expect(await findFindings(store, night(2) / 1000)).toEqual([])
    await expect(findForgettable(store, 'nightly', undefined)).rejects.toThrow('Unknown job "nightly"')
    writeFileSync(jobSource.file, '')
    await runJob(store, service, job(2), { now: night(3), jobSource })
    expect(jobs(store)).toHaveLength(1)
    expect(await gapIds(store)).toEqual([])
    expect(store.get('select count(*) from _duty')).toBe(1)
  })

  test('if several jobs have the name, prune lists the candidates and takes a file', async () => {
    const { store, service, file } = await world()
    const a = file('a.yaml')
    const b = file('b.yaml', 'elsewhere')
    for (const jobSource of [a, b]) await runJob(store, service, job(1), { now: night(0), jobSource })
    await runJob(store, service, job(1), { now: night(0) })
    await expect(findForgettable(store, 'nightly', undefined)).rejects.toMatchObject({
      message: '3 jobs have the name "nightly".',
      hint: `Add --file ${a.file} or --file elsewhere:${b.file} or --file none.`,
    })
    await expect(findForgettable(store, 'nightly', 'c.yaml')).rejects.toMatchObject({
      message: 'No job "nightly" has the file "c.yaml".',
      hint: expect.stringContaining(`--file ${a.file} or`),
    })
    for (const [name, id] of [
      [a.file, 1],
      [`elsewhere:${b.file}`, 2],
      ['none', 3],
    ] as const)
      expect(await findForgettable(store, 'nightly', name), name).toMatchObject({ id })
  })
})

describe('the stored definition', () => {
  const TWO =
    'name: two\nseries: [{ indicators: [1, 2], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]\n'
  const stored = (store: Store) => JSON.parse(String(store.get('select definition from _job')))

  test('the stored definition is the whole job, even if only a part of it is run', async () => {
    const { store, service } = await world()
    const range = { interval: { from: ms('2024-01-01') / 1000, to: ms('2024-01-02') / 1000 }, how: 'replace' } as const
    await runJob(store, service, TWO, { now: night(0), only: [1] })
    const whole = stored(store)
    expect(whole.series[0].indicators).toEqual([1, 2])
    expect(await gapIds(store)).toEqual([2])
    await runJob(store, service, TWO, { now: night(0), options: { range } })
    await runJob(store, service, TWO, { now: night(0), options: { restate: true } })
    expect(stored(store)).toEqual(whole)
    expect(store.get('select returns from _job')).toBe(0)
  })

  test('the stored definition has no addresses for notifications, which may be secret', async () => {
    const { store, service } = await world()
    await runJob(store, service, `${TWO}notify: https://hooks.example.org/T0/B0/xyz\n`, { now: night(0) })
    expect(String(store.get('select definition from _job'))).not.toContain('hooks.example.org')
  })

  test('a definition has the times of its runs, and the usual interval of its schedule or runs', async () => {
    const { store, service } = await world()
    const times = () => store.all('select definition_at, first_run_at, last_run_at, usual_s from _job')
    for (let n = 0; n < 5; n++) await runJob(store, service, TWO, { now: night(n) })
    expect(times()).toEqual([
      {
        definition_at: '2025-11-04T20:15:00.000Z',
        first_run_at: '2025-11-04T20:15:00.000Z',
        last_run_at: '2025-11-08T20:15:00.000Z',
        usual_s: null,
      },
    ])
    await runJob(store, service, `${TWO}schedule: "15 */6 * * *"\n`, { now: night(5) })
    expect(times()).toMatchObject([{ definition_at: '2025-11-09T20:15:00.000Z', usual_s: 6 * 3600 }])
    expect(store.get('select count(*) from _run where job_id is null')).toBe(0)
  })

  const LAST = 'name: nightly\nseries: [{ indicators: [1], window: { last: 3d }, lookback: 12h }]\n'

  test('new time of a job for weekdays is not missing at the weekend, but on Wednesday', async () => {
    const { store, service } = await world()
    const yaml = `${LAST}schedule: "0 6 * * 1-5"\n`
    // A Friday.
    await runJob(store, service, yaml, { now: ms('2025-11-07T05:00:00Z') })
    const missingAt = async (text: string) => (await findGaps(store, ms(text) / 1000)).map(({ reason }) => reason)
    expect(await missingAt('2025-11-09T22:00:00Z')).toEqual([])
    expect(await missingAt('2025-11-12T12:00:00Z')).toEqual(['never requested'])
  })

  test('spans follow a schedule that changes, also without a run', async () => {
    const { store, service } = await world()
    const dueAt = () => Number(store.get('select max(due_at) from _span'))
    const define = (schedule: string) => {
      const context = { store, service: SERVICES.generic, nowMs: () => night(0) + 3_600_000 }
      return storeDefinition(context, { job: jobOf(`${LAST}schedule: "${schedule}"\n`, SERVICES.generic) })
    }
    await runJob(store, service, `${LAST}schedule: "15 21 * * *"\n`, { now: night(0) })
    const daily = dueAt()
    await define('15 21 * * 0')
    expect((dueAt() - daily) / 86_400).toBe(7 * 1.25 - 1.25)
    const weekly = store.all('select * from _span order by reason, geo_id, from_at')
    await judgeAgain(store)
    expect(store.all('select * from _span order by reason, geo_id, from_at')).toEqual(weekly)
    await define('15 21 * * *')
    expect(dueAt()).toBe(daily)
  })

  test('the stored interval follows the runs only if spans move by an hour or more', async () => {
    const { store, service } = await world()
    const usual: unknown[] = []
    for (const hours of [0, 48, 96, 144, 192.5, 241, 289.5, 338, 388, 438, 488]) {
      await runJob(store, service, LAST, { now: night(0) + hours * 3_600_000 })
      const seconds = store.get('select usual_s from _job')
      usual.push(seconds === null ? null : Number(seconds) / 3_600)
    }
    expect(usual).toEqual([null, null, null, 48, 48, 48, 48, 48, 48, 48, 50])
  })
})
