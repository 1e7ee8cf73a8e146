import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { PROGRAM_ENV, programBin } from '../../support/builtProgram.ts'
import { emulate, runCommand } from '../../support/kit.ts'
import { testShell } from '../../support/systems.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

test('init writes the starter files and never overwrites any', async () => {
  const dir = jobFolder({})
  expect((await runCommand(dir, ['init', 'mine'])).out).toMatch(/written .*nightly\.yaml/)
  // Copies of the file will contain a key, so that only its owner may read it.
  expect(statSync(join(dir, 'mine/.env.example')).mode & 0o077).toBe(0)
  const again = await runCommand(dir, ['init', "it's mine"])
  expect(again.out).toContain(`\n  cd 'it'\\''s mine'\n`)
  expect((await runCommand(dir, ['init'])).out).not.toContain('cd ')
  expect((await runCommand(dir, ['validate', 'mine/jobs/nightly.yaml'])).code).toBe(0)
  writeFileSync(join(dir, 'mine/.env.example'), 'mine')
  expect((await runCommand(dir, ['init', 'mine'])).out).toMatch(/kept .*\.env\.example/)
  expect(readFileSync(join(dir, 'mine/.env.example'), 'utf8')).toBe('mine')
})

testShell('the steps that init prints work line by line, and write only into its folder', async () => {
  const emulator = await emulate({ now: Date.now() / 1000 })
  const dir = jobFolder({})
  const { out } = await runCommand(dir, ['init', 'my-market'])
  const lines = out.slice(out.indexOf('Next:')).split('\n').slice(1)
  expect(lines[0]).toBe('  cd my-market')
  // Without the long history, and with the embedded service.
  const job = join(dir, 'my-market/jobs/nightly.yaml')
  writeFileSync(
    job,
    readFileSync(job, 'utf8')
      .replaceAll('2021-06-01', '-3d')
      .replaceAll('last: 1y', 'last: 3d')
      .replace(/^pace:.*/m, 'pace: { perSecond: 50 }'),
  )
  writeFileSync(join(dir, 'indicator-sync'), `#!/bin/sh\nexec '${process.execPath}' '${programBin()}' "$@"\n`, {
    mode: 0o755,
  })
  const shell = spawn('sh', ['-e', '-c', lines.join('\n')], {
    cwd: dir,
    env: { PATH: `${dir}:${process.env.PATH}`, HOME: dir, ...PROGRAM_ENV, ...serviceAt(emulator.url, emulator.key) },
  })
  const [stdout, stderr, [status]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  expect({ code: status, err: stderr.slice(-500) }).toMatchObject({ code: 0 })
  expect(stdout).toMatch(/nightly: done/)
  expect(readdirSync(dir).sort()).toEqual(['indicator-sync', 'my-market'])
  expect(readdirSync(join(dir, 'my-market')).sort()).toEqual(['.env', '.env.example', 'data', 'jobs'])
})
