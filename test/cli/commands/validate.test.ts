import { expect, test } from 'vitest'
import { runCommand } from '../../kit.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

test('a setting that is legal and hardly meant is a warning with its number, not a mistake', async () => {
  const dir = jobFolder({
    'job.yaml': SERIES.replace('[1739]', `[${Array.from({ length: 400 }, (_, i) => i + 1)}]`).replace(
      'from: 2025-01-01, to: 2025-02-01 }',
      'from: 1989-12-31, to: 2024-01-01 }, chunk: 1d',
    ),
  })
  const { code, err } = await runCommand(dir, ['validate', 'job.yaml'])
  expect(err).toMatch(/series\[0\]\.window\.from is before 1990/)
  expect(err).toMatch(/needs 4,967,600 requests, which take 2 days/)
  expect(code).toBe(0)
})

test('all mistakes of job files are reported before anything is sent', async () => {
  const dir = jobFolder({ 'job.yaml': 'name: x\nseris: []\nwidgets: {}\n', 'other.yaml': '' })
  for (const command of ['validate', 'sync', 'plan']) {
    const { code, out, err } = await runCommand(dir, [command, 'job.yaml', 'other.yaml'], serviceAt('http://x'))
    expect(code).toBe(2)
    expect(out + err).toMatch(/job\.yaml:2:1 {2}seris.*Did you mean "series"/)
    expect(out + err).toMatch(/other\.yaml:1:1.*is empty/)
  }
})
