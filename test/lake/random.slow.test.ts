import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rememberZone } from '../../src/db/queries/referenceTables.ts'
import { rebuildDays } from '../../src/db/queries/values.ts'
import { checkLake } from '../../src/lake/checkLake.ts'
import { openFolderPlace } from '../../src/lake/places/folder.ts'
import { syncLake } from '../../src/lake/syncLake.ts'
import { withdraw } from '../../src/load/timelines/withdraw.ts'
import { writeDays } from '../../src/load/writeDays.ts'
import { tempFolder } from '../support/kit.ts'
import { IN_FULL } from '../support/randomCases.ts'
import { openReader, openStore, type Store } from '../support/testStore.ts'
import { differences } from './same.ts'

const ZONES = ['Europe/Madrid', 'Pacific/Chatham', 'America/New_York', 'Atlantic/Canary']
/** Critical doubles: two equal ones, one cent apart, beside a number that absorbs it, and the extremes. */
const VALUES = [
  ...[0, -0, 1, 1, 2.5, 2.51, 1e16, 1e16 + 2, -1e16, 5e-324, 2 ** 53, 2 ** 63, -(2 ** 63), 1.7976931348623157e308],
  ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, null],
]
const GEOS = [0, 3, 8741, Number.MAX_SAFE_INTEGER]
/** Critical days: ends of years in UTC and local time, days of 23 and 25 hours, a leap day, and distant ones. */
const STARTS = [
  '2023-12-31',
  '2024-12-30',
  '2025-03-29',
  '2025-10-25',
  '2024-02-28',
  '2025-05-01',
  '1969-12-31',
  '2261-12-31',
]
const STEPS = [900, 3600, 86_400]

interface Answer {
  readonly series: number
  readonly geos: readonly number[]
  readonly start: string
  readonly days: number
  readonly step: number
  /** The index of each value, and which values are missing. */
  readonly values: readonly number[]
}

type Action =
  | ({ readonly do: 'answer' | 'replay' } & Answer)
  | { readonly do: 'zone'; readonly series: number; readonly zone: string }
  | { readonly do: 'text' | 'listed'; readonly series: number; readonly name: string }
  | { readonly do: 'put back' | 'save' | 'nothing' }

const answer = {
  series: fc.integer({ min: 1, max: 4 }),
  geos: fc.uniqueArray(fc.constantFrom(...GEOS), { minLength: 1, maxLength: 3 }),
  start: fc.constantFrom(...STARTS),
  days: fc.integer({ min: 1, max: 3 }),
  step: fc.constantFrom(...STEPS),
  values: fc.array(fc.integer({ min: 0, max: VALUES.length }), { minLength: 1, maxLength: 7 }),
}
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('answer' as const), ...answer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replay' as const), ...answer }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('zone' as const), series: answer.series, zone: fc.constantFrom(...ZONES) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('text' as const, 'listed' as const),
      series: answer.series,
      name: fc.string(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('put back' as const, 'save' as const, 'nothing' as const) }),
  },
)

const MOMENT = Date.parse('2026-01-01T00:00:00Z')
const stamp = (second: number): string => new Date(MOMENT + second * 1000).toISOString()

/**
 * Creates a database with four series of two indicators: two steps of one, its grouped values, and an offer with the
 * same id.
 */
async function begin(file: string): Promise<string> {
  const store = await openStore(file, { durability: 'none' })
  await store.write(async (tx) => {
    for (const zone of ZONES) await rememberZone(tx, zone)
  })
  store.run(
    `insert into _run (id, command, job, version, started_at, outcome, requests, failed, bytes, rows_new, rows_unchanged,
       rows_revised, rows_withdrawn, rows_rejected) values (1, 'sync', 'x', 'x', ?, 'done', 0, 0, 0, 0, 0, 0, 0, 0)`,
    [stamp(0)],
  )
  for (const geo of GEOS) store.run('insert into geo (id) values (?)', [geo])
  for (const [id, kind, indicator, trunc, agg] of [
    [1, 'indicator', 600, null, null],
    [2, 'indicator', 600, 'hour', 'average'],
    [3, 'offer_indicator', 600, null, null],
    [4, 'indicator', 601, null, null],
  ] as const) {
    store.run(
      `insert into indicator (kind, id, payload, first_seen_at) values (?, ?, '{}', '') on conflict do nothing`,
      [kind, indicator],
    )
    store.run(
      `insert into series (id, kind, indicator_id, time_trunc, time_agg, time_zone, created_at) values (?, ?, ?, ?, ?, ?, '')`,
      [id, kind, indicator, trunc, agg, ZONES[id - 1]!],
    )
  }
  store.tidy()
  await store.close()
  return file
}

/** Loads a reply like a fetch. A replay stores different values under the id of an existing fetch. */
async function load(
  store: Store,
  { do: how, series, geos, start, days, step, values }: Answer & { do: string },
): Promise<void> {
  const from = Date.parse(`${start}T00:00:00Z`) / 1000 - 5 * 3600
  const window = { from, to: from + days * 86_400 }
  const rows = { geoIds: [] as number[], at: [] as number[], values: [] as (number | null)[], steps: step }
  for (const geo of [...geos].sort((a, b) => a - b))
    for (let at = from, i = 0; at < window.to; at += step, i++) {
      const which = values[(i + geo) % values.length]!
      if (which === VALUES.length) continue
      rows.geoIds.push(geo)
      rows.at.push(at)
      rows.values.push(VALUES[which]!)
    }
  await store.write(async (tx) => {
    const last = (store.get('select max(id) from _fetch') as number | null) ?? 0
    const id = how === 'replay' && last > 0 ? last : last + 1
    if (id > last)
      store.run(
        `insert into _fetch (id, run_id, entry, route, target, params, series_id, from_at, to_at, started_at, finished_at, outcome,
           attempts, ms, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside)
         values (?, 1, 'series[0]', 'indicator', '/', '{}', ?, ?, ?, ?, ?, 'ok', 1, 1, 1, 0, 0, 0, 0, 0, 0)`,
        [id, series, window.from, window.to, stamp(id), stamp(id)],
      )
    const { inserted, revised, incompleteGeos } = await store.engine.upsertObservations(tx, series, id, window, rows)
    for (const geo of new Set(rows.geoIds))
      store.run('insert into series_geo (series_id, geo_id) values (?, ?) on conflict do nothing', [series, geo])
    const zone = store.get(`select time_zone from series where id = ${series}`) as string
    const reply = {
      seriesId: series,
      fetchId: id,
      zone,
      window,
      observations: rows,
      incompleteGeos,
      fetchedAt: window.to,
    }
    // Values that may still be revised are withdrawn at once.
    const { withdrawn } = await withdraw(tx, { ...reply, settledBefore: 0, isRestate: false })
    const gone = [...withdrawn.values()].reduce((sum, { length }) => sum + length, 0)
    const changed = { observations: rows, window, isComplete: true, hasWithdrawn: gone > 0 }
    await writeDays({ tx, engine: store.engine, seriesId: series, zone, fetchId: id }, changed)
    store.run(
      'update _fetch set rows_new = rows_new + ?, rows_revised = rows_revised + ?, rows_withdrawn = rows_withdrawn + ? where id = ?',
      [inserted, revised, gone, id],
    )
  })
}

async function act(store: Store, action: Action): Promise<void> {
  switch (action.do) {
    case 'answer':
    case 'replay':
      return load(store, action)
    case 'zone': {
      const was = store.get(`select time_zone from series where id = ${action.series}`) as string
      store.run('update series set time_zone = ? where id = ?', [action.zone, action.series])
      return store.write(async (tx) => {
        for (const zone of new Set([was, action.zone])) await rebuildDays(tx, zone)
      })
    }
    case 'text':
      return void store.run(
        `insert into indicator_text (kind, id, locale, name, fetch_id) select kind, indicator_id, 'es', ?, 1 from series where id = ?
         on conflict do update set name = excluded.name`,
        [action.name, action.series],
      )
    case 'listed':
      return void store.run(`update indicator set withdrawn_at = ?, composited = 1 where id = 600`, [
        stamp(action.series),
      ])
  }
}

/** Runs the steps, syncs the lake after each, and returns differences from the database. */
async function attack(template: string, actions: readonly Action[]): Promise<string[]> {
  const dir = tempFolder()
  const file = join(dir, 'own.db')
  const lake = join(dir, 'lake')
  const saved = join(dir, 'saved.db')
  copyFileSync(template, file)
  for (const [i, action] of actions.entries()) {
    const store = await openStore(file, { durability: 'none' })
    await act(store, action)
    store.tidy()
    await store.close()
    if (action.do === 'save') copyFileSync(file, saved)
    if (action.do === 'put back' && existsSync(saved)) copyFileSync(saved, file)
    // Sometimes two changes happen between two syncs.
    if (i % 3 === 1) continue
    const reader = openReader(file)
    try {
      await syncLake(reader, openFolderPlace(lake), { program: 'test', nowMs: Date.now, graceMs: 0, full: i % 5 === 4 })
      const { found } = await differences(lake, reader)
      const { findings } = await checkLake(openFolderPlace(lake))
      if (found.length + findings.length > 0)
        return [`step ${i}, ${action.do}`, ...found, ...findings.map(({ what }) => what)]
    } finally {
      await reader.close()
    }
  }
  rmSync(dir, { recursive: true })
  return []
}

test('a sync makes the lake equal to the database after random changes', async () => {
  const template = await begin(join(tempFolder(), 'begin.db'))
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 9 }), async (actions) => {
      expect(await attack(template, actions)).toEqual([])
    }),
    { numRuns: IN_FULL ? 40 : 2 },
  )
})
