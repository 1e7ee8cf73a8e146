import { expect, test } from 'vitest'
import { emulate, runCommand, tempFolder } from '../../kit.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

test('the demo writes nothing into a database of a real service', async () => {
  const { url, key } = await emulate()
  const dir = jobFolder()
  await runCommand(dir, ['sync', 'job.yaml'], serviceAt(url, key))
  const { code, err } = await runCommand(dir, ['demo', '--database', 'data/indicator-sync.db'])
  expect([code, err]).toEqual([2, expect.stringMatching(/contains real data of job one/)])
  const jobs = await runCommand(dir, ['query', 'select count(*) from _run', '--format', 'csv'])
  expect(jobs.out.trim().split('\n')[1]).toBe('1')
})

test('the demo shows rows, and its own next steps', async () => {
  const result = await runCommand(tempFolder(), ['demo'])
  expect(result.code).toBe(0)
  expect(result.out).toMatch(/data\/demo\.db contains \d{2},\d{3} values of \d+ series/)
  expect(result.out.match(/──/g)!.length).toBeGreaterThanOrEqual(3)
})
