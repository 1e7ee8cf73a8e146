import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { startHourlyService } from '../../support/hourlyService.ts'
import {
  type Done,
  emulate,
  json,
  ms,
  onlyInFile,
  requestedWindow,
  runCli,
  runCommand,
  serve,
  valueAt,
  whenSaid,
} from '../../support/kit.ts'
import { testSignals } from '../../support/systems.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

test('a successful sync exits with 0, prints a summary and stores every value, and another one requests nothing', async () => {
  const service = await startHourlyService()
  const dir = jobFolder()
  const sync = () => runCommand(dir, ['sync', 'job.yaml'], serviceAt(service.url))
  const { code, out, err } = await sync()
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^one: done .*1 request,/)
  const again = await sync()
  expect(again).toEqual({ code: 0, out: 'one: nothing to do; up to date.\n', err: '' })
  expect(service.requested).toHaveLength(1)
  const db = new SQLite(join(dir, 'data/indicator-sync.db'), { readonly: true })
  onTestFinished(() => void db.close())
  const rows = db.prepare('select at_utc, value, geo_id from observations where indicator_id = 1739 order by at').all()
  expect(rows).toHaveLength(31 * 24)
  expect([rows[0], rows.at(-1)]).toEqual([
    { at_utc: '2024-12-31T23:00:00Z', value: 1, geo_id: 3 },
    { at_utc: '2025-01-31T22:00:00Z', value: 1, geo_id: 3 },
  ])
  expect(db.prepare('select outcome, requests from _run').all()).toEqual([
    { outcome: 'done', requests: 1 },
    { outcome: 'done', requests: 0 },
  ])
})

test('a wrong API key exits with 3 and is not printed', async () => {
  const emulator = await emulate()
  const result = await runCommand(
    jobFolder(),
    ['sync', 'job.yaml', '--verbose'],
    serviceAt(emulator.url, 'deadbeef'.repeat(8)),
  )
  expect(result.code).toBe(3)
  expect(result.out).toMatch(/refused the API key/)
  expect(result.out + result.err).not.toContain('deadbeef')
  expect(emulator.requests).toHaveLength(1)
})

test('one failed request among many exits with 1 and prints the next step', async () => {
  const emulator = await emulate()
  const dir = jobFolder({ 'job.yaml': SERIES.replace('1739', '1739, 424242') })
  const result = await runCommand(dir, ['sync', 'job.yaml'], serviceAt(emulator.url, emulator.key))
  expect(result.code).toBe(1)
  expect(result.out).toMatch(/1 request failed; all other responses are stored:/)
  expect(result.out).toMatch(/\/indicators\/424242\?.*\n.*404/)
  expect((await runCommand(dir, ['status'])).out).toMatch(/424242/)
})

test('an exhausted budget exits with 4, and the next process obeys it', async () => {
  const emulator = await emulate()
  const yaml = SERIES.replace('50 }', '50, callsPerHour: 2 }').replace(
    'to: 2025-02-01 }',
    'to: 2025-06-01 }, chunk: 1mo',
  )
  const dir = jobFolder({ 'job.yaml': yaml })
  for (const expected of [2, 2]) {
    const { code, out } = await runCli(dir, ['sync', 'job.yaml'], serviceAt(emulator.url, emulator.key))
    expect(out).toMatch(/budget of 2 calls an hour is spent/)
    expect(code).toBe(4)
    expect(emulator.requests).toHaveLength(expected)
  }
})

test('a retry obeys the budget of its job, and of the jobs that sent its requests without a job file', async () => {
  let broken = true
  const server = await serve((_request, response) =>
    json(response, { indicator: { id: 1739, geos: [], values: [] } }, broken ? 400 : 200),
  )
  const dir = jobFolder({ 'job.yaml': SERIES.replace('50 }', '50, callsPerHour: 1 }') })
  expect((await runCommand(dir, ['sync', 'job.yaml'], serviceAt(server.url))).code).toBe(1)
  broken = false
  const spent = await runCommand(dir, ['retry', 'job.yaml'], serviceAt(server.url))
  expect(spent.out).toMatch(/budget of 1 call an hour is spent/)
  expect(spent.code).toBe(4)
  expect((await runCommand(dir, ['retry', 'jobb.yaml'], serviceAt(server.url))).code).toBe(2)
  expect((await runCommand(dir, ['retry'], serviceAt(server.url))).code).toBe(4)
  expect(server.calls).toHaveLength(1)
  writeFileSync(join(dir, 'job.yaml'), SERIES)
  expect((await runCommand(dir, ['retry'], serviceAt(server.url))).code).toBe(0)
  expect(server.calls).toHaveLength(2)
})

test.skipIf(onlyInFile('file'))(
  'a retry that a budget ends continues with the requests that it did not reach',
  async () => {
    const server = await serve((_request, response) => json(response, {}, 400))
    const yaml = SERIES.replace('[1739]', '[1, 2, 3, 4, 5]')
    const dir = jobFolder({ 'job.yaml': yaml })
    expect((await runCommand(dir, ['sync', 'job.yaml', '--database', 'x.db'], serviceAt(server.url))).code).toBe(1)
    writeFileSync(join(dir, 'job.yaml'), yaml.replace('50 }', '50, concurrency: 1, callsPerDay: 2 }'))
    const nights: string[] = []
    for (let night = 0; night < 3; night++) {
      new SQLite(join(dir, 'x.db')).exec('delete from _budget').close()
      const before = server.calls.length
      expect((await runCommand(dir, ['retry', '--database', 'x.db'], serviceAt(server.url))).code).toBe(4)
      nights.push(
        server.calls
          .slice(before)
          .flatMap(({ url }) => /\d+/.exec(url!)![0])
          .join(),
      )
    }
    expect(nights).toEqual(['1,2', '3,4', '5,1'])
  },
)

testSignals.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s finishes the current reply, records the run and exits with %i', async (signal, code) => {
  let child: ChildProcess | undefined
  // A closed terminal causes SIGHUP from both the shell and the system.
  const goOn = (): unknown => signal === 'SIGHUP' && child!.kill(signal)
  const server = await serve((_request, response, call) => {
    const value = { value: call, datetime: `2025-01-0${call}T00:00:00.000+01:00`, geo_id: 3 }
    const body = { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [value] } }
    if (call === 1) return json(response, body)
    whenSaid(child!, 'after the requests in flight', () => {
      goOn()
      json(response, body)
    })
    child!.kill(signal)
  })
  const yaml = SERIES.replace('to: 2025-02-01 }', 'to: 2025-02-01 }, chunk: 1d').replace('50 }', '50, concurrency: 1 }')
  const dir = jobFolder({ 'job.yaml': yaml })
  const result = await runCli(dir, ['sync', 'job.yaml'], serviceAt(server.url), (started) => {
    child = started
  })
  expect(result.code).toBe(code)
  expect(server.calls).toHaveLength(2)
  const db = new SQLite(join(dir, 'data/indicator-sync.db'))
  expect(db.prepare('select count(*) from observation').pluck().get()).toBe(2)
  expect(db.prepare('select outcome from _run').pluck().get()).toBe('stopped')
  expect(db.prepare('select count(*) from _lock').pluck().get()).toBe(0)
  db.close()
})

testSignals('a second signal ends the process immediately, and committed rows remain', async () => {
  let child: ChildProcess | undefined
  const dir = jobFolder({ 'job.yaml': SERIES.replace('to: 2025-02-01 }', 'to: 2025-02-01 }, chunk: 1d') })
  const server = await serve((_request, response, call) => {
    const value = { value: call, datetime: `2025-01-0${call}T00:00:00.000+01:00`, geo_id: 3 }
    if (call === 1) return json(response, { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [value] } })
    whenSaid(child!, 'repeat the signal to stop immediately', () => child!.kill('SIGTERM'))
    child!.kill('SIGTERM')
  })
  const result = await runCli(dir, ['sync', 'job.yaml'], serviceAt(server.url), (started) => {
    child = started
  })
  // Killed by the signal (143 in a shell), unless it ended in order just before.
  expect(result.signal ?? result.code).toBeOneOf(['SIGTERM', 143])
  expect(result.err).toMatch(/repeat the signal to stop immediately/)
  expect((await runCommand(dir, ['query', 'select count(*) as n from observation', '--json'])).out).toMatch(/"n": ?1\b/)
  const emulator = await emulate()
  expect((await runCommand(dir, ['sync', 'job.yaml'], serviceAt(emulator.url, emulator.key))).code).toBe(0)
})

test('a second writer exits with 5 and names the current writer', async () => {
  let other: Promise<Done> | undefined
  const dir = jobFolder()
  const server = await serve(async (_request, response) => {
    other = runCli(dir, ['sync', 'job.yaml'], serviceAt(server.url))
    await other
    json(response, { indicator: { id: 1739, tiempo: [], geos: [], values: [] } })
  })
  expect((await runCli(dir, ['sync', 'job.yaml'], serviceAt(server.url))).code).toBe(0)
  const second = await other!
  expect(second.code).toBe(5)
  expect(second.err).toMatch(/Process \d+ on .* has been writing .*sync one/)
})

test('retry requests exactly the failed windows', async () => {
  let broken = true
  const server = await serve((request, response) => {
    const id = Number(/indicators\/(\d+)/.exec(request.url!)![1])
    if (broken && id === 805) return json(response, {}, 400)
    json(response, {
      indicator: {
        id,
        tiempo: [{ id: 4 }],
        geos: [],
        values: [{ value: 1, datetime: '2025-01-01T00:00:00.000+01:00', geo_id: 3 }],
      },
    })
  })
  const dir = jobFolder({ 'job.yaml': SERIES.replace('1739', '1739, 805, 460') })
  const env = serviceAt(server.url)
  expect((await runCommand(dir, ['sync', 'job.yaml'], env)).code).toBe(1)
  expect((await runCommand(dir, ['gaps', '--fail'])).code).toBe(6)
  expect((await runCommand(dir, ['check'])).code).toBe(6)
  broken = false
  const before = server.calls.length
  expect((await runCommand(dir, ['retry'], env)).out).toMatch(/retry: done .* 1 request,/)
  expect(server.calls.slice(before).map(({ url }) => url!.split('?')[0])).toEqual(['/indicators/805'])
  expect((await runCommand(dir, ['retry'], env)).out).toMatch(/there are no failed requests to retry/)
  expect(
    (await runCommand(dir, ['restate', 'job.yaml', '--from', '2025-01-05', '--to', '2025-01-06'], env)).out,
  ).toMatch(/3 requests/)
  expect(
    (await runCommand(dir, ['backfill', 'job.yaml', '--from', '2024-12-31', '--to', '2025-01-05'], env)).out,
  ).toMatch(/3 requests/)
  expect((await runCommand(dir, ['status', '--format', 'prometheus'])).out).toMatch(
    /^# HELP indicator_sync_requests_total/m,
  )
})

test('a quiet run prints nothing if the job is complete, else what is missing', async () => {
  const emulator = await emulate()
  const dir = jobFolder({ 'whole.yaml': SERIES, 'geo.yaml': SERIES.replace('[1739]', '[1739], geoIds: [3, 424242]') })
  const sync = (job: string) => runCommand(dir, ['sync', job, '--quiet'], serviceAt(emulator.url, emulator.key))
  expect(await sync('whole.yaml')).toEqual({ code: 0, out: '', err: '' })
  for (const _run of [1, 2]) {
    const { code, out } = await sync('geo.yaml')
    expect(code).toBe(0)
    expect(out).toMatch(/Warning: indicator 1739 has no values for geo 424242/)
  }
  const empty = await serve((_request, response) => json(response, { indicator: { id: 1739, geos: [], values: [] } }))
  const { code, out } = await runCommand(
    jobFolder({ 'job.yaml': SERIES }),
    ['sync', 'job.yaml', '--quiet'],
    serviceAt(empty.url),
  )
  expect(code).toBe(0)
  expect(out).toMatch(/1 range of the job has missing data/)
})

/** The days of a backfill: seven whole ones are enough for missing periods to be noticed. */
const BACKFILL = ['backfill', 'job.yaml', '--from', '2018-01-01', '--to', '2018-01-15']

test('a backfill counts what is missing in its range, also when it has nothing to request', async () => {
  const lost = ms('2018-01-10T10:00:00Z') / 1000
  const service = await startHourlyService({ has: (at) => at !== lost })
  const dir = jobFolder({ 'job.yaml': SERIES })
  const backfill = () => runCommand(dir, BACKFILL, serviceAt(service.url))
  expect((await backfill()).out).toMatch(/1 part of the range has missing data/)
  const { out } = await backfill()
  expect(out).toMatch(/nothing to do now/)
  expect(out).toMatch(/1 part of the range has missing data/)
})

test('a backfill of some indicators does not count what the others lack', async () => {
  const lost: Readonly<Record<number, readonly string[]>> = {
    600: ['2018-01-10T10:00:00.000+00:00', '2018-01-11T10:00:00.000+00:00'],
    1739: ['2018-01-12T10:00:00.000+00:00'],
  }
  const service = await serve((request, response) => {
    const id = Number(/\d+/.exec(request.url!)![0])
    const { from, end } = requestedWindow(request)
    const hours = Array.from({ length: Math.ceil((end - from) / 3600) }, (_, i) => valueAt(from + i * 3600))
    const values = hours.filter(({ datetime }) => !lost[id]!.includes(datetime))
    json(response, { indicator: { id, geos: [], values } })
  })
  const dir = jobFolder({ 'job.yaml': SERIES.replace('[1739]', '[600, 1739]') })
  const backfill = (...only: string[]) => runCommand(dir, [...BACKFILL, ...only], serviceAt(service.url))
  const gapsIn = ({ out }: { readonly out: string }) => Number(/(\d+) parts? of the range/.exec(out)?.[1] ?? 0)
  expect(gapsIn(await backfill())).toBe(3)
  expect(gapsIn(await backfill('--only', '600'))).toBe(2)
  expect(gapsIn(await backfill('--only', '1739'))).toBe(1)
})

test('a sync of a range that no window overlaps says so', async () => {
  const emulator = await emulate()
  const dir = jobFolder({ 'job.yaml': SERIES })
  const service = serviceAt(emulator.url, emulator.key)
  const range = ['job.yaml', '--from', '2020-01-01', '--to', '2020-02-01']
  for (const command of ['sync', 'restate']) {
    const { code, out } = await runCommand(dir, [command, ...range], service)
    expect(code).toBe(0)
    expect(out).toMatch(/nothing to do\.\nWarning: no window of the job is in the given range\./)
  }
  expect(emulator.requests).toHaveLength(0)
})
