import { ensureMagnitudes, rememberZone } from '../../../src/db/queries/referenceTables.ts'
import { rebuildDays } from '../../../src/db/queries/values.ts'
import { MAGNITUDES } from '../../../src/service/magnitudes.ts'
import { tempStore } from '../../support/kit.ts'
import type { Store } from '../../support/testStore.ts'

export const at = (text: string): number => Date.parse(text) / 1000

export interface Series {
  readonly id: number
  /** The indicator: 7 is a power; the others are in INDICATORS. */
  readonly of?: number
  readonly trunc?: string
  readonly agg?: string
  readonly zone?: string
  readonly values: readonly (readonly [at: number, value: number | null, step: number])[]
}

const INDICATORS = {
  7: [20, 'Potencia'],
  8: [13, 'Energía'],
  9: [23, 'Precio'],
  10: [null, null],
  11: [99, 'Temperatura'],
} as const

/** Creates a database with given series. */
export async function filled(...all: Series[]): Promise<Store> {
  const store = await tempStore()
  store.run('pragma foreign_keys = off', [])
  const insert = (table: string, row: Record<string, unknown>) =>
    store.run(
      `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
      Object.values(row),
    )
  await ensureMagnitudes(store, MAGNITUDES)
  for (const [id, [magnitude_id, magnitude]] of Object.entries(INDICATORS))
    insert('indicator', {
      kind: 'indicator',
      id: Number(id),
      magnitude_id,
      magnitude,
      first_seen_at: '',
      payload: '{}',
    })
  for (const [locale, name] of [
    ['ca', 'Demanda'],
    ['en', 'Demand'],
    ['es', 'La demanda'],
    ['fr', 'La demande'],
  ])
    insert('indicator_text', { kind: 'indicator', id: 7, locale, name, fetch_id: 1 })
  insert('geo', { id: 3 })
  for (const [locale, name] of [
    ['en', 'Spain'],
    ['fr', 'Espagne'],
  ])
    insert('geo_text', { id: 3, locale, name })
  for (const { id, of = 7, trunc = null, agg = trunc && 'average', zone = 'Europe/Madrid', values } of all) {
    await rememberZone(store.kysely, zone)
    insert('series', {
      id,
      kind: 'indicator',
      indicator_id: of,
      time_trunc: trunc,
      time_agg: agg,
      time_zone: zone,
      created_at: '',
    })
    insert('series_geo', { series_id: id, geo_id: 3 })
    for (const [instant, value, step_s] of values)
      insert('observation', { series_id: id, geo_id: 3, at: instant, value, step_s, fetch_id: 1 })
    await rebuildDays(store.kysely, zone)
  }
  return store
}

export const every = (from: string, to: string, step: number, value: (n: number) => number | null): Series['values'] =>
  Array.from({ length: (at(to) - at(from)) / step }, (_, i) => [at(from) + i * step, value(i), step] as const)
