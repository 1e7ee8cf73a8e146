import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createNotifier } from '../../../src/cli/jobs/notify.ts'
import { rememberSecret } from '../../../src/cli/terminal/secrets.ts'
import { deliver } from '../../../src/fetch/deliver.ts'
import { findMistakes, mistakeText, readJob } from '../../../src/job/read.ts'
import type { SyncEvent } from '../../../src/util/events.ts'
import { createLog } from '../../../src/util/log.ts'
import { emulate, json, runCli, runCommand, runJob, serve, tempFolder, tempStore } from '../../support/kit.ts'
import { testSignals } from '../../support/systems.ts'

const KEY = 'deadbeef'.repeat(8)
const SILENT = createLog({ level: 'silent', format: 'json', isColored: false, secrets: [] })
const job = (more = ''): string =>
  `name: one\npace: { perSecond: 50 }\n${more}series:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-01-02 } }\n`

function folder(text = job()): string {
  const dir = tempFolder()
  writeFileSync(join(dir, 'job.yaml'), text)
  return dir
}

/** Starts a service that responds to every request with a status. */
const service = (status = 200) =>
  serve((_request, response) =>
    json(response, { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [] } }, status),
  )

interface Heard {
  readonly path: string
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Starts a receiver of notifications that responds with `statuses` in order, then with 200. */
async function listener(...statuses: number[]) {
  const heard: Heard[] = []
  const { url } = await serve((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      heard.push({ path: `${request.method} ${request.url}`, body, headers: request.headers })
      response.writeHead(statuses.shift() ?? 200)
      response.end()
    })
  })
  return { url, heard, paths: () => heard.map(({ path }) => path) }
}

const env = (url: string, more: Record<string, string> = {}) => ({
  INDICATOR_SYNC_BASE_URL: url,
  INDICATOR_SYNC_API_KEY: KEY,
  ...more,
})

describe('notifications of a run', () => {
  test('a notification is JSON with every documented field and without the API key', async () => {
    const { url, heard } = await listener()
    const { code, err } = await runCommand(
      folder(),
      ['sync', 'job.yaml', '--notify', `${url}/hook/t0ken-t0ken?x=1`],
      env((await service()).url),
    )
    expect(code).toBe(0)
    expect(heard.map(({ path }) => path)).toEqual(['POST /hook/t0ken-t0ken?x=1'])
    const payload = JSON.parse(heard[0]!.body)
    expect(payload).toMatchObject({
      event: 'done',
      ok: true,
      job: 'one',
      command: 'sync',
      requests: 1,
      failed: 0,
      stop: null,
    })
    expect(payload.text).toMatch(/^one: done in/)
    const page = readFileSync('docs/monitoring.md', 'utf8')
    for (const name of Object.keys(payload)) expect(page, name).toContain(`\`${name}\``)
    expect(JSON.stringify(heard[0])).not.toContain('deadbeef')
    expect(heard[0]!.headers).not.toHaveProperty('x-api-key')
    expect(err).not.toContain('t0ken')
  })

  test('pings are sent to the addresses of the job, which may come from variables', async () => {
    const { url, paths, heard } = await listener()
    const dir = folder(job('notify:\n  - { url: $CHECK }\n'))
    const more = { CHECK: `${url}/ping/abc/?rid=7` }
    expect((await runCommand(dir, ['sync', 'job.yaml'], env((await service()).url, more))).code).toBe(0)
    expect(paths()).toEqual(['POST /ping/abc/start?rid=7', 'POST /ping/abc/?rid=7'])
    expect(heard[1]!.body).toMatch(/^one: done/)
    const failing = folder(job('notify: $CHECK\n'))
    expect((await runCommand(failing, ['sync', 'job.yaml'], env((await service(404)).url, more))).code).toBe(1)
    expect(paths().slice(2)).toEqual(['POST /ping/abc/start?rid=7', 'POST /ping/abc/fail?rid=7'])
    expect(heard[3]!.body).toMatch(/request failed/)
  })

  test('each address is notified only of its selected outcomes', async () => {
    const { url, paths } = await listener()
    const text = job(
      `notify:\n  - { url: "${url}/trouble", on: [partial, failed] }\n  - { url: "${url}/good", on: [done] }\n  - ${url}/any\n`,
    )
    await runCommand(folder(text), ['sync', 'job.yaml'], env((await service()).url))
    expect(paths().sort()).toEqual(['POST /any', 'POST /good'])
    await runCommand(folder(text), ['sync', 'job.yaml'], env((await service(404)).url))
    expect(paths().slice(2).sort()).toEqual(['POST /any', 'POST /trouble'])
  })

  test('a run that cannot start and a refused key are notified', async () => {
    const { url, heard } = await listener()
    const dir = folder()
    writeFileSync(join(dir, 'no.db'), 'this is not a database, but long enough to be read as one'.repeat(40))
    const flags = ['--notify', `${url}/x`]
    const broken = await runCommand(
      dir,
      ['sync', 'job.yaml', '--database', 'no.db', ...flags],
      env('http://127.0.0.1:9'),
    )
    expect(broken.code).toBe(7)
    const refusing = await serve((_request, response) => json(response, { message: KEY }, 401))
    expect((await runCommand(folder(), ['sync', 'job.yaml', ...flags], env(refusing.url))).code).toBe(3)
    const [first, second] = heard.map(({ body }) => JSON.parse(body))
    expect(first).toMatchObject({ event: 'failed', ok: false, job: 'one', stop: { code: expect.any(String) } })
    expect(second).toMatchObject({ event: 'failed', ok: false, stop: { message: expect.stringMatching(/refused/) } })
    expect(heard.map(({ body }) => body).join()).not.toContain('deadbeef')
  })

  test.each([
    [
      'a full disk',
      Object.assign(new Error('write'), { code: 'ENOSPC', syscall: 'write', path: '/data/own.db' }),
      'enospc',
      '/data/own.db is on a full disk (ENOSPC in write).',
    ],
    [
      'a bug that names the key',
      new TypeError(`${KEY} is not a function`),
      'bug',
      'Internal error: [secret] is not a function',
    ],
    ['a bug that throws nothing', null, 'bug', 'Internal error: null'],
  ])('%s has the same message in the database, the event and the notification', async (_, thrown, code, message) => {
    rememberSecret(KEY)
    const { url, heard } = await listener()
    const store = await tempStore()
    const events: SyncEvent[] = []
    const onProgress = () => {
      throw thrown
    }
    const onEvent = (event: SyncEvent) => void events.push(event)
    const running = runJob(store, await emulate({ key: KEY }), 'content: [{ kinds: [news] }]', { onProgress, onEvent })
    expect(await running.catch((error: unknown) => error)).toBe(thrown)
    const one = readJob(job(`notify: ${url}\n`), 'one.yaml')
    const notifier = createNotifier([one], [], { command: 'sync', log: SILENT })
    notifier.broke(one, thrown)
    await notifier.finish()
    expect(events.at(-1)).toMatchObject({ event: 'run.ended', outcome: 'failed', code, reason: message })
    expect(store.get('select message from _run')).toBe(message)
    expect(JSON.parse(heard.at(-1)!.body).stop).toMatchObject({ code, message })
  })

  test('a failed notification is a warning that hides the address and keeps the exit code', async () => {
    const { url, paths } = await listener(404)
    const gone = 'http://127.0.0.1:9/t0ken-gone'
    const args = ['sync', 'job.yaml', '--notify', `${url}/t0ken-here`, '--notify', gone, '--verbose']
    const { code, out, err } = await runCommand(folder(), args, env((await service()).url))
    expect(code).toBe(0)
    expect(paths()).toHaveLength(1)
    expect(err).toMatch(/127\.0\.0\.1:\d+ did not receive the notification done: status 404/)
    expect(err).toMatch(/127\.0\.0\.1:9 did not receive the notification done: /)
    expect(out + err).not.toContain('t0ken')
  })

  test('--quiet prints the summary after a failure', async () => {
    const bad = await runCommand(folder(), ['sync', 'job.yaml', '--quiet'], env((await service(404)).url))
    expect(bad.code).toBe(1)
    expect(bad.out).toMatch(/The only request failed:/)
  })
})

describe('a notification message', () => {
  const message = { type: 'application/json', body: '{}' } as const

  test('a message is sent again only if a retry can help', async () => {
    const flaky = await listener(503, 429)
    expect(await deliver({ ...message, url: flaky.url }, { waitMs: 1 })).toBeNull()
    expect(flaky.heard).toHaveLength(3)
    const down = await listener(500, 500, 500, 500)
    expect(await deliver({ ...message, url: down.url }, { waitMs: 1 })).toBe('status 500')
    expect(down.heard).toHaveLength(3)
    const moved = await listener(302)
    expect(await deliver({ ...message, url: moved.url }, { waitMs: 1 })).toBe('status 302')
    expect(moved.heard).toHaveLength(1)
  })

  test('a message to a silent receiver times out', async () => {
    const silent = await serve(() => undefined)
    const reason = await deliver({ ...message, url: silent.url }, { waitMs: 1, timeoutMs: 50, attempts: 2 })
    expect(reason).toBe('no response within 0.05 s')
    expect(silent.calls.length).toBeLessThanOrEqual(2)
  })
})

testSignals('a stopped run aborts pending notifications and sends the final one once', async () => {
  const heard: string[] = []
  // Neither the receiver nor the service ever responds.
  const receiver = await serve((request) => {
    let body = ''
    request.on('data', (data) => {
      body += data
    })
    request.on('end', () => heard.push(JSON.parse(body).event))
  })
  let child: ChildProcess | undefined
  const silent = await serve(() => child!.kill('SIGTERM'))
  const done = await runCli(
    folder(job(`notify: [{ url: "${receiver.url}/x", on: [start, stopped] }]\n`)),
    ['sync', 'job.yaml'],
    env(silent.url),
    (started) => {
      child = started
    },
  )
  expect(done.code).toBe(143)
  expect(done.err).toMatch(/did not receive the notification start: the run stopped before the server responded/)
  expect(done.err).toMatch(/did not receive the notification stopped: no response within 1\.5 s/)
  expect(heard).toEqual(['start', 'stopped'])
})

describe('invalid notification addresses', () => {
  test.each(['ftp://host/t0ken', 'not-an-address-t0ken', 'https://user:t0ken@host/x'])(
    '%s is refused without being printed',
    async (url) => {
      const flag = await runCommand(folder(), ['sync', 'job.yaml', '--notify', url], env('http://127.0.0.1:9'))
      expect(flag.code).toBe(2)
      expect(flag.err).toMatch(/expected https:\/\/HOST\/PATH/)
      expect(flag.out + flag.err).not.toContain('t0ken')
      const texts = ['notify: X\n', 'notify: [X]\n', 'notify: [{ url: X }]\n'].map((more) =>
        findMistakes(job(more.replace('X', url)), 'job.yaml')
          .map(mistakeText)
          .join(),
      )
      for (const text of texts) {
        expect(text).toMatch(/^job\.yaml:3:\d+ {2}notify.* is not a valid address/)
        expect(text).not.toContain('t0ken')
      }
    },
  )

  test('a schedule reports a missing address variable at its start', async () => {
    const dir = folder(job('schedule: "15 21 * * *"\nnotify: $NOWHERE\n'))
    expect((await runCommand(dir, ['schedule', 'job.yaml'], env('http://127.0.0.1:9'))).err).toMatch(
      /NOWHERE is not set/,
    )
  })

  test.each([
    ['a job', job('notify: $NOWHERE\n'), [], {}, 'from job one.'],
    ['a flag', job(), ['--notify', '$NOWHERE'], {}, 'from the command (--notify, '],
    ['a setting', job(), [], { INDICATOR_SYNC_NOTIFY: '$NOWHERE' }, 'or INDICATOR_SYNC_NOTIFY without that flag).'],
  ])('an unset address variable of %s is named in the error, with its place', async (_, text, flags, more, place) => {
    const { code, err } = await runCommand(
      folder(text),
      ['sync', 'job.yaml', ...flags],
      env('http://127.0.0.1:9', more),
    )
    expect(code).toBe(2)
    expect(err).toMatch(/variable NOWHERE is not set/)
    expect(err).toContain('remove the notification ')
    expect(err).toContain(place)
  })

  test('the message for an unknown outcome lists the known ones', () => {
    const mistakes = findMistakes(job('notify: [{ url: https://a.example, on: [failure] }]\n'), 'job.yaml')
    expect(mistakes.map(mistakeText).join()).toMatch(
      /"failure" is not valid; expected one of: start, done, partial, stopped, failed/,
    )
  })
})
