import { expect, test } from 'vitest'
import { runCommand, tempFolder } from '../../support/kit.ts'
import { flawedStore } from '../flawed.ts'

test('gaps lists missing values with reasons as text or JSON, and fails with --fail', async () => {
  const { store, heal } = await flawedStore()
  const gaps = (...args: string[]) => runCommand(tempFolder(), ['gaps', '--database', store.file, ...args])
  const { code, out } = await gaps('--json')
  expect(code).toBe(0)
  // Unverified and failed ranges of a request for all geos are gaps of each known geo.
  expect(JSON.parse(out).sort((a: { from: string }, b: { from: string }) => (a.from < b.from ? -1 : 1))).toMatchObject([
    { indicator_id: 5, geo_id: 3, reason: 'absent', missing: 1, step_s: 3600, expected_in_day: 24 },
    { geo_id: 3, reason: 'unverified', from: '2025-10-02T00:00:00+02:00', missing: null },
    { geo_id: 3, reason: 'failed', from: '2025-10-03T00:00:00+02:00' },
  ])
  const table = await gaps('--fail')
  expect(table.code).toBe(6)
  expect(table.out).toMatch(/^series_id +kind +indicator_id/)
  for (const reason of ['absent', 'unverified', 'failed']) expect(table.out).toContain(reason)
  await heal()
  expect(await gaps('--fail')).toMatchObject({ code: 0, out: expect.stringMatching(/^No gaps: no final value/) })
  expect((await gaps('--json')).out).toBe('[]\n')
})

test('gaps accept takes a known gap off the list, and gaps reopen puts it back', async () => {
  const { store } = await flawedStore()
  const gaps = (...args: string[]) => runCommand(tempFolder(), ['gaps', '--database', store.file, ...args])
  const reasons = async () => JSON.parse((await gaps('--json')).out).map(({ reason }: { reason: string }) => reason)
  expect((await gaps('--accepted')).out).toBe('No gaps are accepted.\n')
  const day = ['--from', '2025-10-01', '--to', '2025-10-02', '--note', 'never published']
  const accepted = await gaps('accept', '5', '--geo', '3', ...day)
  expect(accepted).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Accepted 1 gap\. Undo: indicator-sync gaps reopen/),
  })
  expect(await reasons()).not.toContain('absent')
  expect((await gaps('--accepted')).out).toContain('never published')
  expect(JSON.parse((await gaps('reopen', '1', '--json')).out)).toMatchObject([{ id: 1, geo_id: 3 }])
  expect(await reasons()).toContain('absent')
})

test.each([
  ['no indicator', ['accept', '--from', '2025-10-01', '--note', 'x'], 'gaps accept needs one indicator.'],
  ['no range', ['accept', '5', '--note', 'x'], 'gaps accept needs --from.'],
  ['no note', ['accept', '5', '--from', '2025-10-01', '--note', ' '], 'gaps accept needs --note with the reason.'],
  ['an unknown time', ['accept', '5', '--from', 'soon', '--note', 'x'], '--from is "soon", which is not a time.'],
  ['an unknown indicator', ['accept', '6', '--from', '2025-10-01', '--note', 'x'], 'Indicator 6 has no gap.'],
  ['no id', ['reopen'], 'gaps reopen needs at least one id.'],
  ['an unknown id', ['reopen', '9'], 'No accepted gap has the id 9.'],
])('gaps refuses %s', async (_, args, message) => {
  const { store } = await flawedStore()
  const { code, err } = await runCommand(tempFolder(), ['gaps', ...args, '--database', store.file])
  expect(err).toContain(message)
  expect(code).toBe(2)
})
