import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCommand } from '../../support/kit.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

test('validate and plan report windows that omit the published values of tomorrow', async () => {
  const entries = [
    '{ indicators: [600, 1293, 1001], window: { last: 2y } }',
    '{ indicators: [1739], window: { from: 2025-01-01 } }',
    '{ indicators: [600], geoIds: [1], window: { from: 2025-01-01, to: 2025-02-01 } }',
    '{ indicators: [612], window: { from: -2y, to: +1d } }',
    '{ indicators: [1293], geoIds: [3], window: { last: 2y } }',
    '{ indicators: [460, 1775], window: { from: -1y, to: now } }',
    '{ indicators: [541], window: { from: 2025-01-01, to: today } }',
    '{ indicators: [613], window: { from: -2y, to: +2d } }',
    '{ indicators: [602], window: { from: -2y, to: -1d } }',
    '{ indicators: [544, 805, 1776], window: { last: 2y } }',
  ]
  const dir = jobFolder({ 'job.yaml': `name: one\nseries:\n${entries.map((entry) => `  - ${entry}\n`).join('')}` })
  const hints = [
    "series[0].window leaves out tomorrow's values, which are published today for 600, 1001; use { from: -2y, to: +2d }.",
    "series[1].window leaves out tomorrow's values, which are published today for 1739; use to: +2d.",
    "series[3].window leaves out tomorrow's values, which are published today for 612; use { from: -2y, to: +2d }.",
    "series[5].window leaves out tomorrow's values, which are published today for 460, 1775; use { from: -1y, to: +2d }.",
    "series[6].window leaves out tomorrow's values, which are published today for 541; use to: +2d.",
  ]
  const validated = await runCommand(dir, ['validate', 'job.yaml'])
  expect(validated).toMatchObject({ code: 0, err: hints.map((hint) => `job.yaml: warning: ${hint}\n`).join('') })
  expect((await runCommand(dir, ['plan', 'job.yaml'])).out).toContain(`\n\n${hints.join('\n\n')}\n\none: `)
})

test('validate, plan and sync report empty windows and windows that begin in the future', async () => {
  const entry = (window: string): string => `  - { indicators: [613], window: ${window} }\n`
  const windows = ['{ from: 2952-01-01 }', '{ from: -2d, to: 2025-01-01 }', '{ from: +1d, to: +2d }']
  const dir = jobFolder({ 'job.yaml': `name: one\nseries:\n${windows.slice(0, 2).map(entry).join('')}` })
  writeFileSync(join(dir, 'tomorrow.yaml'), `name: two\nseries:\n${entry(windows[2]!)}`)
  const future = 'series[0].window begins in the future, at 2952-01-01T00:00.'
  const past = /series\[1\]\.window ends at 2025-01-01T00:00, before it begins at 20/
  const validated = await runCommand(dir, ['validate', 'job.yaml'])
  const emulator = await emulate()
  const env = serviceAt(emulator.url, emulator.key)
  for (const text of [
    validated.err,
    (await runCommand(dir, ['plan', 'job.yaml'])).out,
    (await runCommand(dir, ['sync', 'job.yaml'], env)).out,
  ]) {
    expect(text).toContain(future)
    expect(text).toMatch(past)
    expect(text).not.toContain('up to date')
  }
  expect(validated.code).toBe(0)
  expect(await runCommand(dir, ['validate', 'tomorrow.yaml'])).toMatchObject({ code: 0, err: '' })
})

test('all mistakes of job files are reported before any request', async () => {
  const dir = jobFolder({ 'job.yaml': 'name: x\nseris: []\nwidgets: {}\n', 'other.yaml': '' })
  for (const command of ['validate', 'sync', 'plan']) {
    const { code, out, err } = await runCommand(dir, [command, 'job.yaml', 'other.yaml'], serviceAt('http://x'))
    expect(code).toBe(2)
    expect(out + err).toMatch(/job\.yaml:2:1 {2}seris.*Did you mean "series"/)
    expect(out + err).toMatch(/other\.yaml:1:1.*is empty/)
  }
})
