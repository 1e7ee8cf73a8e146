import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planRequest, SHAPES } from '../../bench/responses.ts'
import { rememberZone } from '../../src/db/queries/referenceTables.ts'
import { rebuildDays } from '../../src/db/queries/values.ts'
import { NO_ROWS, type Observations } from '../../src/db/tables/rows.ts'
import { findDifferingDays } from '../../src/findings/kinds/dailyTotals.ts'
import { applyRows } from '../../src/load/apply.ts'
import { startOfDate } from '../../src/util/time/zone.ts'
import { tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'
import type { Store } from '../support/testStore.ts'
import { oracleDays } from './dayOracle.ts'

/** Zones with a day of a clock change: by an hour, by half an hour, across midnight, and by a whole day. */
const ZONES = {
  'Europe/Madrid': '2025-10-26',
  'Pacific/Chatham': '2025-09-28',
  'Australia/Lord_Howe': '2025-04-06',
  'America/Sao_Paulo': '2018-11-04',
  'America/St_Johns': '2010-11-07',
  'Pacific/Apia': '2011-12-29',
} as const
const DAY = 86_400
const EMPTIED = [
  'observation',
  'observation_revision',
  '_day',
  'series_geo',
  '_coverage',
  '_absent',
  '_cadence',
  '_withdrawal',
]

/** Creates a store with one series, whose days are counted in a zone. */
async function storeOf(zone: string): Promise<Store> {
  const store = await tempStore()
  await rememberZone(store.kysely, zone)
  store.run(`insert into indicator (kind, id, payload, first_seen_at) values ('indicator', 600, '{}', '')`, [])
  store.run(`insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 600, ?, '')`, [
    zone,
  ])
  return store
}

interface Answer {
  /** The window in quarter-hours from two days before the clock change; null for instants. */
  readonly window: readonly [number, number] | null
  readonly sound: boolean
  readonly guessed: boolean
  readonly geos: readonly number[]
  readonly step: number
  /** The periods with values; null is a value, too. */
  readonly values: readonly (number | null | undefined)[]
}

/** Loads a reply that starts with its window. */
async function answer(store: Store, zone: string, begin: number, said: Answer, n: number): Promise<void> {
  const [from, to] = (said.window ?? [0, 40]).map((quarter) => begin + quarter * 900) as [number, number]
  const instants = Array.from({ length: Math.ceil((to - from) / said.step) }, (_, i) => from + i * said.step)
  const rows = said.geos.flatMap((geo) =>
    instants.flatMap((at, i) => {
      const value = said.values[(i * 7 + geo) % said.values.length]
      return value === undefined ? [] : [{ geo, at, value }]
    }),
  )
  const observations: Observations = {
    geoIds: rows.map(({ geo }) => geo),
    at: rows.map(({ at }) => at),
    values: rows.map(({ value }) => value),
    steps: said.step,
    ...(said.guessed ? { isStepGuessed: true } : {}),
  }
  const planned = { ...planRequest(0, SHAPES.small), window: said.window && { from, to }, timeZone: zone }
  const rejects = said.sound ? [] : [{ path: '$', reason: 'x', fragment: null }]
  await store.write(async (tx) => {
    await applyRows(tx, store.engine, {
      fetchId: n + 1,
      seriesId: 1,
      planned,
      recordedMs: (begin + n) * 1000,
      outcome: 'ok',
      rows: { ...NO_ROWS, observations, rejects, rejected: rejects.length },
    })
  })
}

const stored = (store: Store): unknown[] => store.all('select * from _day order by series_id, geo_id, month, day')

const replies = fc.array(
  fc.record<Answer>({
    window: fc.oneof(
      {
        arbitrary: fc
          .tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 300 }))
          .map(([a, n]) => [a, a + n] as const),
        weight: 4,
      },
      { arbitrary: fc.constant(null), weight: 1 },
    ),
    sound: fc.boolean(),
    guessed: fc.boolean(),
    geos: fc.subarray([1, 2, 3], { minLength: 1 }),
    step: fc.constantFrom(900, 900, 3600, 3600, DAY, 10 * DAY),
    values: fc.array(
      fc.oneof(
        fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 64),
        fc.constant(null),
        fc.constant(undefined),
      ),
      { minLength: 1, maxLength: 30 },
    ),
  }),
  { minLength: 1, maxLength: 6 },
)

describe('daily totals', () => {
  test.each(Object.entries(ZONES))(
    'daily totals equal the sums of values after any replies in any order, in %s',
    async (zone, date) => {
      const store = await storeOf(zone)
      const begin = Math.floor((startOfDate(zone, date)! - 2 * DAY) / 900) * 900
      await fc.assert(
        fc.asyncProperty(replies, async (all) => {
          for (const table of EMPTIED) store.run(`delete from ${table}`, [])
          for (const [n, one] of all.entries()) {
            await answer(store, zone, begin, one, n)
            expect(stored(store)).toEqual(oracleDays(store, zone))
          }
          expect(await findDifferingDays(store)).toEqual([])
          const before = stored(store)
          await store.write((tx) => rebuildDays(tx, zone))
          expect(stored(store)).toEqual(before)
        }),
        { numRuns: cases(8) },
      )
    },
  )
})
