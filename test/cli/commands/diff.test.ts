import { expect, test } from 'vitest'
import { emulate, runCommand } from '../../support/kit.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

test('diff lists the changes of a run, with every row in CSV', async () => {
  const { url, key } = await emulate()
  const dir = jobFolder()
  await runCommand(dir, ['sync', 'job.yaml'], serviceAt(url, key))
  const shown = await runCommand(dir, ['diff', '--run', '1', '--limit', '2'])
  expect(shown.out).toMatch(/: 744 values new, 2 texts new\.$/m)
  expect(shown.err).toMatch(/first 2 of 746/)
  const all = await runCommand(dir, ['diff', '--run', '1', '--format', 'csv'])
  expect(all.out.trim().split('\n')).toHaveLength(747)
  const few = await runCommand(dir, ['diff', '--run', '1', '--format', 'csv', '--limit', '2'])
  expect(few.out.trim().split('\n')).toHaveLength(3)
  const none = await runCommand(dir, ['diff', '--from', '+1d', '--to', '+2d', '--json'])
  expect(JSON.parse(none.out)).toEqual([])
  const never = await runCommand(dir, ['diff', '--from', '2025-02-30T00:00:00.000Z'])
  expect(never).toMatchObject({ code: 2, err: expect.stringContaining('is not a valid date') })
  const wrong = await runCommand(dir, ['diff', '--run', '9'])
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/Run 9 does not exist/)])
})

test('an indicator counts as new in the run that first selected it', async () => {
  const { url, key } = await emulate()
  const dir = jobFolder({
    'job.yaml': 'name: both\ncatalogue: true\nseries: [{ indicators: [600], geoIds: [3], window: { last: 2d } }]\n',
  })
  await runCommand(dir, ['sync', 'job.yaml'], serviceAt(url, key))
  const { out } = await runCommand(dir, ['diff', '--run', '1', '--format', 'csv'])
  expect(out).toMatch(/^catalogue,new,indicator,600,/m)
})
