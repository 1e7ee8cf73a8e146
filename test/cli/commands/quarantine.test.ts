import { expect, test } from 'vitest'
import { startHourlyService } from '../../support/hourlyService.ts'
import { ms, runCommand, tempFolder, tempStore } from '../../support/kit.ts'
import { flawedStore } from '../flawed.ts'
import { serviceAt } from '../jobFolder.ts'

test('quarantine lists unreadable rows, and dismisses them with a reason', async () => {
  const { store } = await flawedStore()
  const quarantine = (...args: string[]) => runCommand(tempFolder(), ['quarantine', ...args, '--database', store.file])
  const list = await quarantine('list', '--json')
  expect([list.code, JSON.parse(list.out)]).toMatchObject([
    0,
    [
      {
        id: 1,
        path: expect.stringMatching(/values\[\d+\]/),
        fragment: expect.stringContaining('"x"'),
        resolved_at: null,
      },
    ],
  ])
  expect((await quarantine('list')).out).toMatch(/^id +created_at[\s\S]*\/indicators\/5\?/)
  expect(await quarantine('dismiss', '1', '--reason', ' a misprint ', '--json')).toMatchObject({ code: 0 })
  expect((await quarantine('list')).out).toBe('The quarantine is empty.\n')
  expect(store.get('select dismissed from _quarantine where resolved_at is not null')).toBe('a misprint')
})

test('a dismissal with --alike closes the entries of a series with such a reason, in any reply', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const day = (n: number) => ms(`2025-10-${10 + n}T10:00:00Z`) / 1000
  const series = (id: number) => `series: [{ indicators: [${id}], window: { last: 3d }, refresh: 1h }]`
  service.state.spoiled = (at) => [0, 1, 2].some((n) => at === day(n))
  for (const n of [1, 2, 3]) await service.run(store, series(5), `2025-10-${10 + n}T12:00:00Z`)
  await service.run(store, series(6), '2025-10-13T12:00:00Z')
  const dismiss = (...flags: string[]) =>
    runCommand(tempFolder(), ['quarantine', 'dismiss', '1', ...flags, '--reason', 'known', '--database', store.file])
  expect((await dismiss('--alike')).out).toMatch(/^8 dismissed, including identical entries; 3 still open\./)
  expect(
    store.all('select distinct target from _quarantine q join _fetch f on f.id = q.fetch_id where resolved_at is null'),
  ).toMatchObject([{ target: expect.stringContaining('/indicators/6?') }])
})

test('a dismissal says that `retry` requests the range at once, and `retry` verifies it', async () => {
  const spoiledAt = ms('2025-10-02T10:00:00Z') / 1000
  const store = await tempStore()
  const service = await startHourlyService({ spoiled: (at) => at === spoiledAt })
  await service.run(store, 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-04 } }]', Date.now())
  const run = (...args: string[]) =>
    runCommand(tempFolder(), [...args, '--database', store.file], serviceAt(service.url))
  const unverified = () => store.get("select count(*) from _coverage where state = 'unverified'")
  const dismissed = await run('quarantine', 'dismiss', '1', '--reason', 'a misprint')
  expect(dismissed.out).toBe(
    '1 dismissed, including identical entries; 0 still open.\n1 response still to be verified: a sync requests its range again when due, `indicator-sync retry` now.\n',
  )
  expect(unverified()).toBe(1)
  await run('retry')
  expect(unverified()).toBe(0)
  expect((await run('quarantine', 'list')).out).toBe('The quarantine is empty.\n')
})

test.each<[string, string[], RegExp]>([
  ['no id', ['dismiss', '--reason', 'x'], /needs at least one id/],
  ['an invalid id', ['dismiss', '0', '--reason', 'x'], /must be a whole number, 1 or more/],
  ['no reason', ['dismiss', '1'], /needs --reason/],
  ['an entry that is not open', ['dismiss', '7', '--reason', 'x'], /No open quarantine entry has the id 7/],
  ['an id that the action does not accept', ['list', '1'], /quarantine list takes no ids/],
])('quarantine with %s is refused and closes nothing', async (_, args, message) => {
  const { store } = await flawedStore()
  const done = await runCommand(tempFolder(), ['quarantine', ...args, '--database', store.file])
  expect(done).toMatchObject({ code: 2, err: expect.stringMatching(message) })
  expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(1)
})
