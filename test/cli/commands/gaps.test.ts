import { expect, test } from 'vitest'
import { startHourlyService } from '../../support/hourlyService.ts'
import { ms, runCommand, runJob, tempFolder, tempStore } from '../../support/kit.ts'
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

const GEOS = Array.from({ length: 12 }, (_, i) => 8741 + i)

/** A store of a series that lacks the same two hours of twelve geos. */
async function storeWithGaps() {
  const store = await tempStore()
  const service = await startHourlyService({ geos: GEOS })
  const lost = ['2025-10-02T10:00:00Z', '2025-10-04T10:00:00Z'].map((at) => ms(at) / 1000)
  service.state.has = (at) => !lost.includes(at)
  const yaml = 'name: test\nseries: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d }]'
  await runJob(store, service, yaml, { now: ms('2025-11-04T12:00:00Z') })
  return store
}

test('gaps --limit 0 names every geo, and says how many ranges its rows stand for', async () => {
  const store = await storeWithGaps()
  const gaps = (...args: string[]) => runCommand(tempFolder(), ['gaps', '--database', store.file, ...args])
  expect(JSON.parse((await gaps('--json')).out)).toHaveLength(24)
  const first = await gaps('--limit', '1')
  expect(first.out).toContain(' 12 geos ')
  expect(first.err).toBe('Showing the first 1 of 2 rows, which stand for 24 ranges. Use --limit 0 to show all.\n')
  const all = await gaps('--limit', '0')
  expect(all.out.split(GEOS.join(', '))).toHaveLength(3)
  expect(all.out).toMatch(/^2 rows for 24 ranges: /m)
})

test('check names the first geos of a finding, and all of them with --all or --json', async () => {
  const store = await storeWithGaps()
  const check = async (...args: string[]) =>
    (await runCommand(tempFolder(), ['check', '--database', store.file, ...args])).out.replaceAll(/\s+/g, ' ')
  const all = GEOS.join(', ')
  expect(await check()).toContain(`geos ${GEOS.slice(0, 10).join(', ')} and 2 more: 24 periods`)
  expect(await check('--all')).toContain(`geos ${all}: 24 periods`)
  expect(JSON.parse(await check('--json'))).toMatchObject([
    { kind: 'gap', geo_ids: GEOS, targets: [], message: expect.stringContaining(`geos ${all}: 24 periods`) },
  ])
})
