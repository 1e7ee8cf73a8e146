import { expect, test } from 'vitest'
import { BEGINNING } from '../../src/db/tables/codes.ts'
import { findFindings } from '../../src/findings/findFindings.ts'
import type { FindingKind } from '../../src/findings/finding.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const DAY = 86_400_000
const seconds = (text: string): number => ms(text) / 1000
const found = async (store: Store, wanted: FindingKind, now: number) =>
  (await findFindings(store, now / 1000, { depth: 'state' })).filter(({ kind }) => kind === wanted)

test('values between the periods of a series are one finding, for a month after they were loaded', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  service.state.strays = ['2025-10-12T11:07:00Z', '2025-10-12T15:20:00Z', '2025-10-14T09:30:00Z'].map(seconds)
  const now = ms('2025-11-04T12:00:00Z')
  const yaml = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d }]'
  await service.run(store, yaml, now)
  expect(await found(store, 'off the grid', now)).toMatchObject([
    {
      subject: 'indicator 5',
      message: expect.stringMatching(/: 3 values are between the periods of the series, 2025-10-12 to 2025-10-14\./),
      command: null,
    },
  ])
  expect(await found(store, 'off the grid', now + 32 * DAY)).toEqual([])
})

test('a change to longer periods is a finding for a month', async () => {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  const change = seconds('2025-10-31T23:00:00Z')
  let now = ms('2025-11-01T12:00:00Z')
  service.state.has = (at) => at < now / 1000 && (at < change || at % 7200 === 3600)
  const yaml = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-12-31 }, lookback: 2d }]'
  await service.run(store, yaml, now)
  expect(await found(store, 'cadence changed', now)).toEqual([])
  now = ms('2025-11-25T12:00:00Z')
  await service.run(store, yaml, now)
  expect(await found(store, 'cadence changed', now)).toMatchObject([
    {
      subject: 'indicator 5',
      message: expect.stringMatching(
        /^indicator 5, geos 3, 4: has a value every 2\.0 h from 2025-11-01 on, every 60 min before\./,
      ),
      command: null,
    },
  ])
  expect(await found(store, 'cadence changed', now + 32 * DAY)).toEqual([])
})

test('an id that gets another name and unit is a finding for a month', async () => {
  const store = await tempStore()
  const now = ms('2025-11-04T12:00:00Z')
  await (await startHourlyService()).run(
    store,
    'series: [{ indicators: [5], window: { from: 2025-11-01, to: 2025-11-03 } }]',
    now,
  )
  const fetch = store.get('select max(id) from _fetch') as number
  const from = seconds('2025-11-01T23:00:00Z')
  store.run("insert into indicator (kind, id, first_seen_at) values ('indicator', 9, '')", [])
  store.run(
    "insert into indicator_unit (kind, id, from_at, magnitude, fetch_id) values ('indicator', 9, ?, 'MWh', ?), ('indicator', 9, ?, 'MW', ?)",
    [BEGINNING, fetch, from, fetch],
  )
  store.run("insert into indicator_text (kind, id, locale, name, fetch_id) values ('indicator', 9, 'es', 'Power', ?)", [
    fetch,
  ])
  store.run(
    "insert into indicator_revision (kind, id, locale, fetch_id, name, superseded_by) values ('indicator', 9, 'es', 0, 'Energy', ?)",
    [fetch],
  )
  expect(await found(store, 'id changed meaning', now + DAY)).toMatchObject([
    {
      subject: 'indicator 9',
      message: `indicator 9 was Energy (MWh) and is Power (MW) from ${formatUtc(from)} on: the service uses the id for something else. Check that the job still selects what you want. Reported for 31 days`,
      command: null,
    },
  ])
  expect(await found(store, 'id changed meaning', now + 40 * DAY)).toEqual([])
})

test('rows that refer to missing rows are one finding for each table', async () => {
  const store = await tempStore()
  store.run('pragma foreign_keys = off', [])
  for (const id of [8, 9])
    store.run("insert into indicator_text (kind, id, locale, fetch_id) values ('indicator', ?, 'es', 1)", [id])
  expect(await findFindings(store, 0)).toEqual([
    {
      kind: 'reference',
      subject: 'indicator_text',
      since_at: null,
      message: expect.stringMatching(
        /^indicator_text row \d+ refers to a missing row of indicator, and 1 more row\. Check the database with `indicator-sync doctor .*`, then rebuild it with `indicator-sync replay /,
      ),
      command: null,
      cause: null,
      geo_ids: [],
      targets: [],
    },
  ])
})
