import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openWriter } from '../../../src/db/lock.ts'
import { json, runCli, runCommand, serve, tempFolder, whenSaid } from '../../support/kit.ts'
import { testLinux, testSignals } from '../../support/systems.ts'
import { openStore } from '../../support/testStore.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

const KEY = 'k'.repeat(64)
const job = (name: string, indicator: number): string => `name: ${name}
pace: { perSecond: 50 }
series: [{ indicators: [${indicator}], window: { from: 2025-01-01, to: 2025-01-02 } }]
schedule: "* * * * * *"
`
const to = (url: string) => ({ INDICATOR_SYNC_BASE_URL: url, INDICATOR_SYNC_API_KEY: KEY })

function folder(jobs: Record<string, number>): string {
  const dir = tempFolder()
  for (const [name, indicator] of Object.entries(jobs)) writeFileSync(join(dir, `${name}.yaml`), job(name, indicator))
  return dir
}

interface FailedRun {
  readonly event: string
  readonly job: string
  readonly stop: { readonly code: string; readonly message: string; readonly hint: string | null }
}

/** Starts a receiver that collects notifications of failed runs. */
async function listener() {
  const heard: FailedRun[] = []
  const { url } = await serve(async (request, response) => {
    heard.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
    json(response, {})
  })
  return { heard, flags: ['--notify', url], failed: () => heard.find(({ event }) => event === 'failed') }
}

const answer = (id: number) => ({
  indicator: {
    id,
    tiempo: [{ id: 4 }],
    geos: [],
    values: [{ value: 1, datetime: '2025-01-01T00:00:00.000+01:00', geo_id: 3 }],
  },
})

describe.skipIf(process.platform !== 'linux')('schedule', () => {
  testLinux('schedule reports that the process of a job was killed', async () => {
    let parent: ChildProcess | undefined
    const server = await serve(() => {
      const [child] = readFileSync(`/proc/${parent!.pid}/task/${parent!.pid}/children`, 'utf8').trim().split(' ')
      process.kill(Number(child), 'SIGKILL')
    })
    const { failed, flags } = await listener()
    await runCli(folder({ sound: 600 }), ['schedule', 'sound.yaml', ...flags], to(server.url), (child) => {
      parent = child
      whenSaid(child, /ended by SIGKILL[\s\S]*next at/, () => child.kill('SIGTERM'))
    })
    expect(failed()).toMatchObject({
      event: 'failed',
      job: 'sound',
      stop: { code: 'killed', message: expect.stringContaining('SIGKILL') },
    })
  })

  testSignals('schedule stores its jobs before their first run, so all that they select is missing', async () => {
    const dir = folder({ yearly: 601 })
    // Data is expected until the next run is due: here, for years.
    const old = job('yearly', 601).replace(/2025-01-0/g, '2005-01-0')
    writeFileSync(join(dir, 'yearly.yaml'), old.replace('* * * * * *', '0 0 29 2 *'))
    const query = ['query', 'select job, reason from gaps', '--json']
    let gaps: unknown = []
    await runCli(dir, ['schedule', 'yearly.yaml'], to('http://127.0.0.1:1'), async (child) => {
      do gaps = JSON.parse((await runCommand(dir, query)).out || '[]')
      while ((gaps as unknown[]).length === 0 && child.exitCode === null)
      child.kill('SIGTERM')
    })
    expect(gaps).toEqual([{ job: 'yearly', reason: 'never requested' }])
  })

  testSignals('schedule runs the other jobs when one job file becomes invalid', async () => {
    const server = await serve((_request, response) => json(response, answer(601)))
    const dir = folder({ edited: 601, sound: 601 })
    const { code } = await runCli(dir, ['schedule', 'edited.yaml', 'sound.yaml'], to(server.url), (child) => {
      whenSaid(child, 'edited: next at', () => writeFileSync(join(dir, 'edited.yaml'), 'series: ['))
      whenSaid(child, /edited\.yaml.* is not valid YAML[\s\S]*sound: (done|nothing)/, () => child.kill('SIGTERM'))
    })
    expect(code).toBe(143)
  })

  testSignals.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('schedule ends on %s during a pending response and exits with %i', async (signal, code) => {
    let parent: ChildProcess | undefined
    const server = await serve(() => parent!.kill(signal))
    const dir = folder({ hanging: 600 })
    const done = await runCli(dir, ['schedule', 'hanging.yaml'], to(server.url), (child) => {
      parent = child
    })
    expect(done.code).toBe(code)
    const db = new SQLite(join(dir, 'data/indicator-sync.db'), { readonly: true })
    expect(db.prepare('select distinct outcome from _run').pluck().all()).toEqual(['stopped'])
    db.close()
  })

  testSignals('schedule waits for a database that another process writes to, and reports this', async () => {
    const server = await serve((_request, response) => json(response, answer(601)))
    const dir = folder({ sound: 601 })
    writeFileSync(join(dir, 'sound.yaml'), job('sound', 601).replace('* * * * * *', '*/4 * * * * *'))
    const writer = await openWriter(join(dir, 'data/indicator-sync.db'), 'another')
    const { failed, flags } = await listener()
    const { code, err } = await runCli(dir, ['schedule', 'sound.yaml', ...flags], to(server.url), (child) => {
      whenSaid(child, 'another process', () => writer.close())
      whenSaid(child, 'sound: done', () => child.kill('SIGTERM'))
    })
    expect(code).toBe(143)
    expect(err).toMatch(/sound: another process is writing to data\/indicator-sync\.db/)
    expect(failed()).toBeUndefined()
  })
})

testSignals(
  'an invalid job file is reported to the known addresses, and its runs resume once it is fixed',
  async () => {
    const heard: FailedRun[] = []
    let dir = ''
    const file = (text: string) => writeFileSync(join(dir, 'sound.yaml'), text)
    const server = await serve(async (request, response) => {
      if (request.method === 'GET') return json(response, answer(601))
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const message = JSON.parse(Buffer.concat(pieces).toString())
      heard.push(message)
      json(response, {})
      file(message.event === 'done' ? 'name: sound\nnonsense: 1\n' : job('sound', 601))
    })
    dir = folder({ sound: 601 })
    const { code } = await runCli(
      dir,
      ['schedule', 'sound.yaml', '--notify', server.url],
      to(server.url),
      (child) => void whenSaid(child, /could not start[\s\S]*sound: nothing to do/, () => child.kill('SIGTERM')),
    )
    expect(code).toBe(143)
    expect(heard.slice(0, 2).map(({ event, job }) => [event, job])).toEqual([
      ['done', 'sound'],
      ['failed', 'sound'],
    ])
    expect(heard[1]!.stop.message).toMatch(/could not start: [\s\S]*nonsense/)
    expect(heard[1]!.stop.code).toBe('bad-job')
    const store = await openStore(join(dir, 'data/indicator-sync.db'))
    const failed = store.all("select distinct job, command, code from _run where outcome = 'failed'")
    expect(failed).toEqual([{ job: 'sound', command: 'schedule', code: 'bad-job' }])
    await store.close()
  },
)

testSignals('a run whose process cannot be started is reported, and the next run starts as usual', async () => {
  const server = await serve((_request, response) => json(response, answer(601)))
  const dir = folder({ sound: 601 })
  const mended = join(dir, 'mended')
  writeFileSync(
    join(dir, 'fault.mjs'),
    `import { existsSync } from 'node:fs'
const { execPath } = process
const isMended = () => existsSync(${JSON.stringify(mended)})
Object.defineProperty(process, 'execPath', { get: () => (isMended() ? execPath : '/nowhere/node') })
`,
  )
  const { failed, flags } = await listener()
  const options = `--import ${join(dir, 'fault.mjs')}`
  const environment = { ...to(server.url), NODE_OPTIONS: options }
  const { code } = await runCli(dir, ['schedule', 'sound.yaml', ...flags], environment, (child) => {
    whenSaid(child, 'could not start', () => writeFileSync(mended, ''))
    whenSaid(child, 'sound: done', () => child.kill('SIGTERM'))
  })
  expect(code).toBe(143)
  expect(failed()).toMatchObject({
    event: 'failed',
    job: 'sound',
    stop: {
      code: 'no-process',
      message: expect.stringContaining('its process did not start (spawn /nowhere/node ENOENT)'),
      hint: expect.stringContaining('too many processes'),
    },
  })
})

testSignals('a clock that is set back does not delay jobs', async () => {
  const server = await serve((_request, response) => json(response, answer(601)))
  const dir = folder({ sound: 601 })
  const ahead = join(dir, 'ahead')
  writeFileSync(ahead, String(4000 * 86_400_000))
  writeFileSync(
    join(dir, 'clock.mjs'),
    `import { readFileSync } from 'node:fs'
const { Date: Real } = globalThis
const now = () => Real.now() + Number(readFileSync(${JSON.stringify(ahead)}, 'utf8'))
globalThis.Date = class extends Real {
  constructor(...parts) { super(...(parts.length === 0 ? [now()] : parts)) }
  static now() { return now() }
}
`,
  )
  const environment = { ...to(server.url), NODE_OPTIONS: `--import ${join(dir, 'clock.mjs')}` }
  const thisYear = new Date().getFullYear()
  const { code } = await runCli(dir, ['schedule', 'sound.yaml'], environment, (child) => {
    whenSaid(child, 'sound: done', () => writeFileSync(ahead, '0'))
    whenSaid(child, new RegExp(`next at (${thisYear}|${thisYear + 1})-[^]*sound: (done|nothing)`), () =>
      child.kill('SIGTERM'),
    )
  })
  expect(code).toBe(143)
})

test('schedule refuses a cron time that never occurs', async () => {
  const dir = folder({ never: 600 })
  writeFileSync(join(dir, 'never.yaml'), job('never', 600).replace('* * * * * *', '0 0 30 2 *'))
  const { code, err } = await runCli(dir, ['schedule', 'never.yaml'], to('http://127.0.0.1:1'))
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/no next scheduled run/) })
})

testSignals('schedule runs a job at its times, survives a failed run, and stops on a signal', async () => {
  const server = await serve((_request, response) => json(response, {}, 400))
  const dir = jobFolder({ 'job.yaml': `${SERIES}schedule: "* * * * * *"\n` })
  const result = await runCli(dir, ['schedule', 'job.yaml'], serviceAt(server.url), (child) =>
    whenSaid(child, /request failed[\s\S]*request failed/, () => child.kill('SIGTERM')),
  )
  expect(result.code).toBe(143)
  expect(result.err).toMatch(/one: next at 20/)
  expect(result.out).toMatch(/request failed/)
  expect(server.calls.length).toBeGreaterThanOrEqual(2)
  expect((await runCommand(dir, ['schedule', 'job.yaml'], {})).code).toBe(2)
})
