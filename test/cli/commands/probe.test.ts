import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Emulator } from '../../../src/emulator/startEmulator.ts'
import { startRecorded } from '../../../src/emulator/startRecorded.ts'
import { ASSUMPTIONS } from '../../../src/service/assumptions/assumptions.ts'
import { emulate, runCli, runCommand, serve, tempFolder } from '../../support/kit.ts'
import { testSignals } from '../../support/systems.ts'
import { openReader } from '../../support/testStore.ts'
import { serviceAt } from '../jobFolder.ts'

const NOW = Date.parse('2025-11-04T12:00:00Z') / 1000

/** Creates a folder with a job that sets a high pace, or a low one with a budget. */
function probeFolder(pace = 'perSecond: 50'): string {
  const folder = tempFolder()
  writeFileSync(join(folder, 'pace.yaml'), `name: pace\npace: { ${pace} }\ncatalogue: true\n`)
  return folder
}
const probe = (folder: string, { url, key }: Pick<Emulator, 'url' | 'key'>, ...words: string[]) =>
  runCommand(folder, ['probe', '--job', 'pace.yaml', ...words], serviceAt(url, key))

test('probe prints a verdict for each assumption, keeps the responses, and sends no request twice', async () => {
  const emulator = await emulate({ now: NOW })
  const folder = probeFolder()
  const first = await probe(folder, emulator)
  expect(first).toMatchObject({ code: 0, err: '' })
  const [columns, , ...rows] = first.out.split('\n')
  expect(columns).toMatch(/^assumption +expected +seen +verdict +consequence$/)
  expect(rows.filter((row) => / holds$/.test(row))).toHaveLength(ASSUMPTIONS.length)
  expect(first.out).toContain('Sent 24 requests; responses are in data/probe.')
  expect(emulator.requests).toHaveLength(25)
  for (const file of readdirSync(join(folder, 'data/probe')))
    expect(readFileSync(join(folder, 'data/probe', file), 'utf8')).not.toContain(emulator.key)
  expect(existsSync(join(folder, 'data/indicator-sync.db')), 'no database was named').toBe(false)
  const second = await probe(folder, emulator, '--json')
  const { requests, stop, assumptions } = JSON.parse(second.out)
  expect({ requests, stop }).toEqual({ requests: 0, stop: null })
  expect(assumptions).toHaveLength(ASSUMPTIONS.length)
  expect(assumptions[0]).toMatchObject({ id: 'end-included', verdict: 'holds', certainty: 'known', requests: ['day'] })
  await probe(folder, emulator, '--refresh', '--only', 'average')
  expect(emulator.requests).toHaveLength(27)
})

test('probe exits with 6 only if an assumption that matters does not hold, and names the consequence', async () => {
  const faulty = await emulate({ now: NOW, faults: [{ route: 'widget', calls: [1], status: 404 }] })
  const wrong = await probe(probeFolder(), faulty)
  expect(wrong.code).toBe(6)
  expect(wrong.out).toMatch(
    /^widget-by-number: .*\n +Seen: request widget: status 404\.\n +→ Widgets by number fail\./m,
  )
  expect(wrong.out).toMatch(/^33 hold, 1 deviate, 0 unknown\./m)
  const harmless = await emulate({ now: NOW, faults: [{ route: 'documentations', status: 400 }] })
  const differs = await probe(probeFolder(), harmless, '--only', 'sticky,average')
  expect(differs.code).toBe(0)
  expect(differs.out).toMatch(/^sticky .* deviates /m)
  const busy = await emulate({ now: NOW, faults: [{ route: 'documentations', status: 500 }] })
  expect(await probe(probeFolder(), busy, '--only', 'sticky')).toMatchObject({
    code: 1,
    out: expect.stringContaining('Request sticky has no usable response: The service returned a server error'),
  })
})

test('probe obeys the budget of a job and records its calls, and a later run continues', async () => {
  const emulator = await emulate({ now: NOW })
  const folder = probeFolder('perSecond: 50, callsPerDay: 7')
  const stopped = await probe(folder, emulator, '--database', 'calls.db')
  expect(stopped.code).toBe(4)
  expect(stopped.err).toContain('The budget of 7 calls a day is spent')
  expect(stopped.out).toMatch(/^average .* holds/m)
  expect(stopped.out).toMatch(/^sticky .* unknown/m)
  expect(stopped.out).toContain('Sent 7 requests')
  expect(emulator.requests).toHaveLength(7)
  writeFileSync(join(folder, 'pace.yaml'), 'name: pace\npace: { perSecond: 50 }\ncatalogue: true\n')
  expect((await probe(folder, emulator, '--database', 'calls.db')).code).toBe(0)
  expect(emulator.requests).toHaveLength(25)
  const reader = openReader(join(folder, 'calls.db'))
  expect(reader.get('select count(*) from _budget')).toBe(25)
  await reader.close()
})

test('probe records its calls in the default database if it exists', async () => {
  const emulator = await emulate({ now: NOW })
  const folder = probeFolder()
  await runCommand(folder, ['sync', 'pace.yaml'], serviceAt(emulator.url, emulator.key))
  const { code, out } = await probe(folder, emulator, '--only', 'average', 'sticky')
  expect(code).toBe(0)
  expect(out).toMatch(/^2 hold, 0 deviate, 0 unknown\. Sent 3 requests/m)
  const reader = openReader(join(folder, 'data/indicator-sync.db'))
  expect(reader.get('select count(*) from _budget')).toBe(4)
  await reader.close()
})

testSignals('a signal stops the probe after the request in flight, and a later run continues', async () => {
  const folder = probeFolder()
  const emulator = await emulate({ now: NOW, latencyMs: 50 })
  const words = ['probe', '--job', 'pace.yaml']
  const stopped = await runCli(folder, words, serviceAt(emulator.url, emulator.key), (child) => {
    const timer = setInterval(() => {
      if (emulator.requests.length < 4) return
      clearInterval(timer)
      child.kill('SIGINT')
    }, 5)
  })
  expect(stopped.code).toBe(130)
  const sent = emulator.requests.length
  expect(sent).toBeLessThan(25)
  expect(await probe(folder, emulator)).toMatchObject({ code: 0 })
  expect(emulator.requests).toHaveLength(25)
})

test.each<[string, Record<string, string>, readonly string[], number, RegExp]>([
  ['a plain HTTP address of another machine', { INDICATOR_SYNC_BASE_URL: 'http://api.example' }, [], 2, /unencrypted/],
  ['an unknown assumption', {}, ['--only', 'averages'], 2, /Did you mean "average"/],
  ['a service that is down', { INDICATOR_SYNC_BASE_URL: 'http://127.0.0.1:9' }, [], 8, /unavailable/],
])('probe refuses or reports %s', async (_what, variables, words, code, says) => {
  const env = { ...serviceAt('http://127.0.0.1:9', '0123456789abcdef'.repeat(4)), ...variables }
  const done = await runCommand(probeFolder(), ['probe', '--job', 'pace.yaml', ...words], env)
  expect(done.code).toBe(code)
  expect(done.out + done.err).toMatch(says)
})

test('a refused key ends the probe with exit code 3 after one call', async () => {
  const server = await serve((_request, response) => response.writeHead(403).end('{"message":"Forbidden"}'))
  const folder = probeFolder()
  const refused = await probe(folder, { url: server.url, key: '0123456789abcdef'.repeat(4) })
  expect(refused).toMatchObject({ code: 3, out: '' })
  expect(refused.err).toMatch(/^[^\n]*The service refused the API key \(status 403\)\. → [^\n]+\n$/)
  expect(server.calls).toHaveLength(1)
  expect(readdirSync(join(folder, 'data/probe'))).toEqual([])
})

test('a request that is refused after others succeeded deviates, and a later run continues with the others', async () => {
  const emulator = await emulate({ now: NOW, faults: [{ route: 'archives', calls: [1], status: 403 }] })
  const folder = probeFolder()
  const stopped = await probe(folder, emulator)
  expect(stopped.code).toBe(6)
  expect(stopped.out).toMatch(/^archives-\S+ .* DEVIATES /m)
  expect(stopped.err).toContain('It accepted the key before, so the refusal is about request archives')
  expect(stopped.err).not.toContain('INDICATOR_SYNC_API_KEY')
  const sent = emulator.requests.length
  expect(sent).toBeLessThan(25)
  const again = await probe(folder, emulator)
  expect(again.code).toBe(6)
  expect(again.err).toBe('')
  expect(again.out).toMatch(/^32 hold, 1 deviate, 1 unknown\./m)
})

test('a recording is served again with the same verdicts, and nothing else', async () => {
  const folder = probeFolder()
  const emulator = await emulate({ now: NOW, faults: [{ route: 'widget', calls: [1], status: 404 }] })
  const live = await probe(folder, emulator, '--record', 'report', '--json')
  expect(live.code).toBe(6)
  const served = await startRecorded(join(folder, 'report'))
  try {
    const again = await probe(folder, served, '--record', 'again', '--json')
    const verdicts = ({ out }: { out: string }) =>
      (JSON.parse(out).assumptions as { id: string; verdict: string }[]).map(({ id, verdict }) => `${id} ${verdict}`)
    expect(again.code).toBe(6)
    expect(verdicts(again)).toEqual(verdicts(live))
    expect((await fetch(`${served.url}/indicators/1`)).status).toBe(404)
  } finally {
    await served.close()
  }
})

test.each<[field: string, change: object]>([
  ['name', { name: '../day' }],
  ['name', { name: 'other' }],
  ['url', { url: 'nonsense' }],
  ['url', { url: 'file:///etc/passwd' }],
  ['sent', { sent: { Accept: 1 } }],
  ['status', { status: 99 }],
  ['status', { status: 1000 }],
  ['status', { status: 200.5 }],
  ['headers', { headers: { 'x-a': 'a\r\nx-b: b' } }],
  ['headers', { headers: { 'x a': 'b' } }],
  ['redirected', { redirected: { isOtherHost: true, status: 99 } }],
])('the emulator refuses a recording whose field %s is not valid: %j', async (field, change) => {
  const folder = tempFolder()
  const good = { name: 'day', url: 'http://h/indicators/600', sent: {}, status: 200, headers: {}, ms: 1, sentAt: 'x' }
  writeFileSync(join(folder, 'day.json'), JSON.stringify({ ...good, redirected: null, ...change }))
  writeFileSync(join(folder, 'day.body'), '{}')
  expect(await runCommand(folder, ['emulator', '--recorded', '.'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      new RegExp(`day\\.json is not a recorded response: its field ${field} is missing or not valid`),
    ),
  })
})

test('the emulator serves recorded headers that only a stream may have', async () => {
  const folder = tempFolder()
  const headers = { trailer: 'x-sum', 'transfer-encoding': 'chunked', upgrade: 'h2c', 'x-place': 'Espa\u00f1a' }
  const head = {
    name: 'day',
    url: 'http://h/day',
    sent: {},
    status: 200,
    headers,
    ms: 1,
    sentAt: 'x',
    redirected: null,
  }
  writeFileSync(join(folder, 'day.json'), JSON.stringify(head))
  writeFileSync(join(folder, 'day.body'), '{}')
  const served = await startRecorded(folder)
  onTestFinished(() => served.close())
  const response = await fetch(`${served.url}/day`)
  expect([response.status, await response.text()]).toEqual([200, '{}'])
})

test('the emulator refuses a folder without a recording, and other data with one', async () => {
  const folder = probeFolder()
  writeFileSync(join(folder, 'other.json'), '{"name":"day"}')
  const serveIn = (...words: string[]) => runCommand(folder, ['emulator', '--recorded', ...words])
  expect(await serveIn('nowhere')).toMatchObject({ code: 2, err: expect.stringContaining('nowhere does not exist') })
  mkdirSync(join(folder, 'empty'))
  expect(await serveIn('empty')).toMatchObject({
    code: 2,
    err: expect.stringContaining('empty has no recorded response: it contains no file that ends in .json.'),
  })
  expect(await serveIn('.')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/other\.json is not a recorded response/),
  })
  expect(await serveIn('.', '--now', '2025-11-04T12:00:00Z')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--recorded cannot be combined'),
  })
})
