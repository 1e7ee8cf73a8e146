import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCli, runCommand, tempFolder } from '../../support/kit.ts'
import { testSignals } from '../../support/systems.ts'

testSignals('the emulator serves a script at the given address, prints the URL, and ends on a signal', async () => {
  const folder = tempFolder()
  writeFileSync(
    join(folder, 'script.yaml'),
    `- id: 9001
  geos: [3]
  resolutions: [{ from: 2025-10-31T23:00:00Z, every: day, tiempo: 77 }]
  actions: [{ do: withdraw, at: 2025-11-01T00:00:00Z, from: 2025-11-02T00:00:00Z, to: 2025-11-03T00:00:00Z }]
`,
  )
  const args = ['emulator', '--host', '127.0.0.2', '--script', 'script.yaml', '--now', '2025-11-04T12:00:00Z']
  let answered: unknown
  const { code, out } = await runCli(folder, args, {}, async (child) => {
    let text = ''
    while (!/ sync .*demo\.yaml/.test(text)) text += String((await once(child.stdout!, 'data'))[0])
    const [, url] = /BASE_URL=(\S+)/.exec(text)!
    const [, key] = /API_KEY=(\S+)/.exec(text)!
    const response = await fetch(`${url}/indicators/9001?start_date=2025-11-01&end_date=2025-11-04`, {
      headers: { 'x-api-key': key! },
    })
    answered = await response.json()
    child.kill('SIGTERM')
  })
  expect(out).toContain('http://127.0.0.2:')
  expect(answered).toMatchObject({ indicator: { tiempo: [{ id: 77 }], values: [{}, {}, {}] } })
  expect(code).toBe(143)
})

test('an unavailable address is reported in one sentence', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const folder = tempFolder()
  const of = (...args: string[]) => runCommand(folder, ['emulator', ...args])
  expect(await of('--port', String(port))).toMatchObject({
    code: 2,
    err: expect.stringContaining('another program uses the port'),
  })
  expect(await of('--host', '203.0.113.7')).toMatchObject({
    code: 2,
    err: expect.stringContaining('does not have that address'),
  })
  for (const bad of ['70000', '-1', '8.5'])
    expect(await of(`--port=${bad}`), bad).toMatchObject({ code: 2, err: expect.stringContaining('0 to 65535') })
})

test('a mistake in a script is reported with its position', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'bad.yaml'), '- { id: 1, geos: [3], resolutions: [{ from: soon, every: week }] }')
  writeFileSync(join(folder, 'worse.yaml'), '- { id: 1')
  const bad = await runCommand(folder, ['emulator', '--script', 'bad.yaml'])
  expect(bad).toMatchObject({ code: 2, err: expect.stringContaining('bad.yaml: 0.resolutions.0.from') })
  expect(await runCommand(folder, ['emulator', '--script', 'worse.yaml'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('worse.yaml is not valid YAML'),
  })
  const none = await runCommand(folder, ['emulator', '--faults', 'none.yaml'])
  expect(none).toMatchObject({ code: 2, err: expect.stringContaining('The file of faults none.yaml does not exist') })
  expect(none.err).not.toContain('job')
  expect(none.err).toContain('docs/emulator.md')
})

test('lists as YAML keys cause no parser warnings in scripts and jobs', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'odd.yaml'), '- ? [a, b]\n  : 1\n')
  writeFileSync(join(folder, 'job.yaml'), 'name: one\n? [a, b]\n: 1\ncatalogue: true\n')
  for (const args of [
    ['emulator', '--script', 'odd.yaml'],
    ['validate', 'job.yaml'],
  ]) {
    const { code, err } = await runCli(folder, args)
    expect(code, args[0]).toBe(2)
    expect(err, args[0]).not.toMatch(/Warning|stringified/)
  }
})

testSignals('the emulator with its embedded data runs until it is stopped', async () => {
  const result = await runCli(tempFolder(), ['emulator', '--now', '2025-11-04T12:00:00Z'], {}, (child) =>
    child.stdout!.once('data', () => child.kill('SIGINT')),
  )
  // Exit code 130: ended by SIGINT.
  expect(result).toMatchObject({
    code: 130,
    out: expect.stringContaining('INDICATOR_SYNC_BASE_URL=http://127.0.0.1:'),
  })
  const [, job] = /indicator-sync sync (.+)/.exec(result.out)!
  expect(existsSync(job!), 'the job that is named exists, wherever the command is called').toBe(true)
})
