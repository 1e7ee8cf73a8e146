import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import type { Magnitude } from '../../service/magnitudes.ts'
import { InputError } from '../../util/errors.ts'
import { checkZone, transitions, useTransitions } from '../../util/time/zone.ts'
import type { Reader, Store } from '../store.ts'
import { dictionaryRows } from '../tables/dictionary.ts'
import type { Database } from '../tables/schema.ts'
import { rebuildDays } from './values.ts'

/** The version of the zone data of this runtime, such as 2025b. */
const ZONE_DATA = process.versions.tz ?? process.versions.icu ?? 'unknown'

/** Whether the stored clock changes of a zone have this version of the zone data. */
async function isStored(db: Kysely<Database>, zone: string, version: string): Promise<boolean> {
  const stored = await db
    .selectFrom('time_zone_offset')
    .select('zone_data')
    .where('zone', '=', zone)
    .limit(1)
    .executeTakeFirst()
  return stored?.zone_data === version
}

/** Stores the clock changes of a zone for this version of the zone data. Views use them for local time. */
export async function rememberZone(db: Kysely<Database>, zone: string, version = ZONE_DATA): Promise<void> {
  if (await isStored(db, zone, version)) return
  const rows = transitions(zone)
  const before = await readZoneChanges(db, zone)
  await db.deleteFrom('time_zone_offset').where('zone', '=', zone).execute()
  await db
    .insertInto('time_zone_offset')
    .values(
      rows.map(({ at, offset }, i) => ({
        zone,
        // The first row has no start and the last one no end, so that every instant is in a row.
        from_at: i === 0 ? -62_135_596_800 : at,
        to_at: rows[i + 1]?.at ?? 253_402_300_800,
        offset_s: offset,
        zone_data: version,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  // If the clock changes differ, values are in other days.
  if ((await readZoneChanges(db, zone)) !== before) await rebuildDays(db, zone)
}

/**
 * Stores the clock changes of a zone in a separate transaction if necessary. Otherwise it uses the stored ones.
 */
export async function ensureZone(store: Pick<Store, 'kysely' | 'write'>, zone: string): Promise<void> {
  if (!(await useStored(store.kysely, zone))) await store.write((tx) => rememberZone(tx, zone))
}

/** Uses the stored clock changes of a zone, if they have the zone data of this runtime. */
async function useStored(db: Kysely<Database>, zone: string): Promise<boolean> {
  if (!(await isStored(db, zone, ZONE_DATA))) return false
  const stored = await db
    .selectFrom('time_zone_offset')
    .select(['from_at', 'offset_s'])
    .where('zone', '=', zone)
    .orderBy('from_at')
    .execute()
  useTransitions(
    zone,
    stored.map(({ from_at, offset_s }) => ({ at: Math.max(from_at, 0), offset: offset_s })),
  )
  return true
}

/** Uses the stored clock changes of all zones. */
export async function useStoredZones({ kysely }: Pick<Store, 'kysely'>): Promise<void> {
  const zones = await kysely.selectFrom('time_zone_offset').select('zone').distinct().execute()
  for (const { zone } of zones) await useStored(kysely, zone)
}

/** The stored clock changes of a zone, as a text. */
const readZoneChanges = async (db: Kysely<Database>, zone: string): Promise<string> =>
  JSON.stringify(
    await db
      .selectFrom('time_zone_offset')
      .select(['from_at', 'to_at', 'offset_s'])
      .where('zone', '=', zone)
      .orderBy('from_at')
      .execute(),
  )

/** Updates the clock changes of zones with other zone data than this runtime's. */
export async function refreshZones(db: Kysely<Database>, version = ZONE_DATA): Promise<void> {
  const outdated = await db
    .selectFrom('time_zone_offset')
    .select('zone')
    .distinct()
    .where(({ eb, or }) => or([eb('zone_data', 'is', null), eb('zone_data', '<>', version)]))
    .execute()
  // Unknown zones stay.
  for (const { zone } of outdated.filter((row) => isKnownZone(row.zone)))
    await db.transaction().execute((tx) => rememberZone(tx, zone, version))
}

function isKnownZone(zone: string): boolean {
  try {
    checkZone(zone)
    return true
  } catch (error) {
    if (error instanceof InputError) return false
    throw error
  }
}

/** Stores the units of a service's quantities, if they changed. */
export async function ensureMagnitudes(
  store: Pick<Store, 'kysely' | 'write'>,
  magnitudes: readonly Magnitude[] = [],
): Promise<void> {
  const rows = magnitudes.map(({ isAssumed, ...row }) => ({ ...row, assumed: isAssumed ? (1 as const) : (0 as const) }))
  const stored = await store.kysely.selectFrom('magnitude').selectAll().orderBy('id').execute()
  if (
    isDeepStrictEqual(
      stored,
      rows.toSorted((a, b) => a.id - b.id),
    )
  )
    return
  await store.write(async (tx) => {
    await tx.deleteFrom('magnitude').execute()
    if (rows.length > 0) await tx.insertInto('magnitude').values(rows).execute()
  })
}

/** Sets the language of names in views, exports, recipes and on the page. */
export const writeLanguage = (db: Kysely<Database>, value: string) =>
  db
    .insertInto('setting')
    .values({ name: 'language', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()

/** Reads the chosen language of names; undefined if nobody chose one. */
export async function readLanguage({ kysely }: Pick<Reader, 'kysely'>): Promise<string | undefined> {
  const row = await kysely.selectFrom('setting').select('value').where('name', '=', 'language').executeTakeFirst()
  return row?.value
}

/** Replaces the data dictionary. */
export async function writeDictionary(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('data_dictionary').execute()
    await transaction.insertInto('data_dictionary').values(dictionaryRows()).execute()
  })
}
