import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { json, serve, tempFolder } from '../../support/kit.ts'

/** `script` gives a command a terminal, which closes when `script` is killed. */
const SCRIPT = ['/usr/bin/script', '/bin/script'].find((file) => existsSync(file))
const JOB =
  'name: one\npace: { perSecond: 50, concurrency: 1 }\nseries:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-02-01 }, chunk: 1d }\n'

test.skipIf(process.platform !== 'linux' || !SCRIPT)(
  'a sync whose terminal closes stops in order, although it cannot write to the terminal',
  async () => {
    const dir = tempFolder()
    writeFileSync(join(dir, 'job.yaml'), JOB)
    let terminal: ChildProcess | undefined
    const server = await serve((_request, response, call) => {
      const value = { value: call, datetime: `2025-01-0${call}T00:00:00.000+01:00`, geo_id: 3 }
      const body = { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [value] } }
      if (call === 1) return json(response, body)
      terminal!.kill('SIGKILL')
    })
    // The inner shell remains and records the exit code. The system ends the outer one, then signals the others.
    const command = `(trap '' HUP; "$NODE" "$BIN" sync job.yaml; echo $? > code.part; mv code.part code); true`
    terminal = spawn(SCRIPT!, ['-qec', command, '/dev/null'], {
      cwd: dir,
      stdio: ['pipe', 'ignore', 'inherit'],
      env: {
        ...process.env,
        SHELL: '/bin/sh',
        NODE: process.execPath,
        BIN: resolve('src/cli/bin.js'),
        INDICATOR_SYNC_BASE_URL: server.url,
        INDICATOR_SYNC_API_KEY: 'k'.repeat(64),
      },
    })
    onTestFinished(() => void terminal?.kill('SIGKILL'))
    await expect.poll(() => existsSync(join(dir, 'code')), { timeout: 60_000 }).toBe(true)
    expect(readFileSync(join(dir, 'code'), 'utf8')).toBe('129\n')
    const db = new SQLite(join(dir, 'data/indicator-sync.db'))
    expect(db.prepare('select outcome from _run').pluck().all()).toEqual(['stopped'])
    expect(db.prepare('select count(*) from observation').pluck().get()).toBe(1)
    expect(db.prepare('select count(*) from _lock').pluck().get()).toBe(0)
    db.close()
  },
)
