import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCli, runCommand, tempFolder, whenSaid } from '../support/kit.ts'
import { testSignals } from '../support/systems.ts'

const job = (lake: string, to: string): string => `name: nightly
pace: { perSecond: 50 }
schedule: "* * * * * *"
series: [{ indicators: [1739], window: { from: 2025-01-01, to: ${to} }, lookback: 0d }]
${lake}`

testSignals('the lake of a job is updated after each run, and status and metrics show its state', async () => {
  const dir = tempFolder()
  const emulator = await emulate()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const run = (...args: string[]) => runCommand(dir, args, env)
  writeFileSync(join(dir, 'job.yaml'), job('lake: lake', '2025-01-02'))
  const first = await run('sync', 'job.yaml')
  expect(first).toMatchObject({ code: 0, err: expect.stringContaining('lake: snapshot 1, ') })
  writeFileSync(join(dir, 'other.yaml'), job('', '2025-01-03'))
  expect((await run('sync', 'other.yaml')).err).not.toContain('snapshot')
  expect((await run('status', '--job', 'job.yaml')).out).toMatch(
    /Lake lake: snapshot 1, [\d,]+ values, [\s\S]*1\s+fetch\s+behind;\s+update\s+it\s+with:\s+indicator-sync\s+lake\s+sync\s+lake/,
  )
  const figures = (await run('status', '--job', 'job.yaml', '--format', 'prometheus')).out
  expect(figures).toContain('indicator_sync_lake_fetches_behind{lake="lake"} 1\n')
  expect(figures).toMatch(/lake_synced_timestamp_seconds\{lake="lake"\} \d{10}/)
  const scheduled = await runCli(dir, ['schedule', 'job.yaml'], env, (child) =>
    whenSaid(child, /lake: snapshot 2, /, () => child.kill('SIGTERM')),
  )
  expect(scheduled.err).toContain('lake: snapshot 2, ')
  expect((await run('status', '--job', 'job.yaml')).out).toMatch(/up\s+to\s+date/)
})

test('a lake that cannot be written fails the run, but synced rows remain', async () => {
  const dir = tempFolder()
  const emulator = await emulate()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  writeFileSync(join(dir, 'job.yaml'), job('lake: job.yaml', '2025-01-02'))
  const done = await runCommand(dir, ['sync', 'job.yaml'], env)
  expect(done.code).toBe(2)
  expect(done.err).toContain('nightly: lake: job.yaml is not a folder')
  expect(done.out).toMatch(/^nightly: failed in .* 1 request, rows: [\d,]+ new/)
  expect(readFileSync(join(dir, 'job.yaml'), 'utf8')).toContain('name: nightly')
  // The rest of the status is still printed.
  const status = await runCommand(dir, ['status', '--job', 'job.yaml'], env)
  expect(status).toMatchObject({ code: 0, out: expect.stringMatching(/Lake job\.yaml: job\.yaml is not a lake/) })
  const figures = await runCommand(dir, ['status', '--job', 'job.yaml', '--format', 'prometheus'], env)
  expect(figures).toMatchObject({
    code: 0,
    out: expect.stringContaining('_runs'),
    err: expect.stringContaining('not a lake'),
  })
})

testSignals('status and the page show the age of the lakes of all jobs in the folder', async () => {
  const dir = tempFolder()
  const emulator = await emulate()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const run = (...args: string[]) => runCommand(dir, args, env)
  mkdirSync(join(dir, 'jobs'))
  writeFileSync(join(dir, 'jobs/a.yaml'), job('lake: "one lake" # kept fresh', '2025-01-02'))
  writeFileSync(join(dir, 'jobs/b.yaml'), job('lake: none', '2025-01-02'))
  writeFileSync(join(dir, 'jobs/c.yaml'), job('lake: s3://market/lake', '2025-01-02'))
  writeFileSync(join(dir, 'jobs/broken.yaml'), 'lake: [\n\tlake: {')
  writeFileSync(join(dir, 'jobs/d.yaml'), job('lake: other', '2025-01-02'))
  mkdirSync(join(dir, 'other'))
  writeFileSync(join(dir, 'other/manifest.json'), '{"of": "somebody"}')
  execFileSync('mkfifo', [join(dir, 'jobs/pipe.yaml')])
  expect((await run('sync', 'jobs/a.yaml')).code).toBe(0)
  const status = await run('status')
  expect(status).toMatchObject({ code: 0, err: '' })
  expect(status.out).toMatch(/Lake one lake: snapshot 1, [\s\S]*up\s+to\s+date/)
  expect(status.out).toMatch(
    /Lake none: none is not a lake: [\s\S]*Create\s+one:\s+indicator-sync\s+lake\s+sync\s+none/,
  )
  expect(status.out).toMatch(/Lake other: .*other/)
  // A bucket is not read, because that requires credentials and a network.
  expect(status.out).toMatch(/Lake s3:\/\/market\/lake: it is in a bucket[\s\S]*status\s+--job/)
  writeFileSync(join(dir, 'e.yaml'), job('', '2025-01-02'))
  expect((await run('sync', 'e.yaml', '--database', 'another.db')).code).toBe(0)
  expect((await run('status', '--database', 'another.db')).out).not.toContain('one lake')
})
