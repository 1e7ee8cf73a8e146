import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { emulate, ms, runJob, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')

test('check finds a day whose totals differ from its values, and an implausible value', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  const yaml = 'series: [{ indicators: [600], geoIds: [3], window: { from: 2025-10-20, to: 2025-10-30 } }]'
  await runJob(store, emulator, yaml, { now: NOW })
  const found = async (deep: boolean) =>
    (await findFindings(store, NOW / 1000, { depth: deep ? 'totals' : 'values' })).filter(({ kind }) =>
      ['daily totals', 'out of range', 'overlap'].includes(kind),
    )
  expect(await found(true)).toEqual([])
  const at = ms('2025-10-22T10:00:00Z') / 1000
  store.run('update observation set value = 2e9 where at = ?', [at])
  store.run('delete from observation where at = ?', [ms('2025-10-24T10:00:00Z') / 1000])
  store.run('delete from _day where day = 26', [])
  store.run('insert into _day (series_id, geo_id, month, day, count, missing) values (1, 3, 24309, 31, 0, 0)', [])
  expect(await found(false)).toEqual([])
  expect(await found(true)).toMatchObject([
    {
      kind: 'daily totals',
      message:
        'indicator 600, geo 3: the totals of 4 days do not match their values: 2025-10-22, 2025-10-24, 2025-10-26, 2025-10-31. Another program changed values',
      command: `indicator-sync replay --database ${store.file}`,
    },
  ])
  store.run('delete from _day where day = 31', [])
  store.run('update _day set max = 2e9, hours = 26 where day = 22', [])
  expect(await found(false)).toMatchObject([
    {
      kind: 'overlap',
      message: 'indicator 600, geo 3: 1 day has more than 25 hours of values, 2025-10-22',
      command: `indicator-sync restate test.yaml --only 600 --from 2025-10-22 --to 2025-10-23 --database ${store.file}`,
    },
    {
      kind: 'out of range',
      message: 'indicator 600, geo 3: 2000000000 at 2025-10-22T10:00:00Z. Compare it with the source',
      geo_ids: [3],
    },
  ])
})
