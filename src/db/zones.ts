import type { Kysely } from 'kysely'
import { transitions } from '../base/zone.ts'
import type { Database } from '../tables/schema.ts'

/** Writes the clock changes of a zone, once; the views turn instants into local time with them. */
export async function rememberZone(db: Kysely<Database>, zone: string): Promise<void> {
  const held = await db
    .selectFrom('time_zone_offset')
    .select('zone')
    .where('zone', '=', zone)
    .limit(1)
    .executeTakeFirst()
  if (held) return
  const rows = transitions(zone)
  await db
    .insertInto('time_zone_offset')
    .values(
      rows.map(({ at, offset }, i) => ({
        zone,
        // The first row reaches back for good and the last one ahead, so that every instant lies in one of them.
        from_at: i === 0 ? -62_135_596_800 : at,
        to_at: rows[i + 1]?.at ?? 253_402_300_800,
        offset_s: offset,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
