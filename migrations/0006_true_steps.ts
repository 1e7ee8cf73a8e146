import { type Kysely, sql } from 'kysely'

const ZONE = 'Europe/Madrid'
/** A day before and after the local midnights from which announced series come in quarter-hours: 2024-06-14 and 2025-10-01. */
const CHANGES = [1_718_316_000, 1_759_269_600].map((at) => ({ from: at - 86_400, to: at + 86_400 }))

interface Stretch {
  readonly series: number
  readonly from: number
  readonly to: number
}

/** Forgets that a stretch is held, so that it is asked again when it is wanted: its values stay until they are known better. */
async function forget(db: Kysely<unknown>, { series, from, to }: Stretch): Promise<void> {
  const { rows } = await sql<{ from_at: number; to_at: number; geo_id: number }>`
    select * from _coverage where series_id = ${series} and from_at < ${to} and to_at > ${from}`.execute(db)
  for (const row of rows) {
    await sql`delete from _coverage where series_id = ${series} and geo_id = ${row.geo_id} and from_at = ${row.from_at}`.execute(
      db,
    )
    const kept = [
      { ...row, to_at: from },
      { ...row, from_at: to },
    ].filter((piece) => piece.from_at < piece.to_at)
    for (const piece of kept)
      await sql`insert into _coverage (${sql.join(Object.keys(piece).map((name) => sql.ref(name)))})
        values (${sql.join(Object.values(piece))})`.execute(db)
  }
}

/**
 * Days, months and changes of resolution are the service's, whatever zone a job speaks. What may be wrong for that reason,
 * and sums that were taken for values of their own, is asked again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const elsewhere = await sql<{ id: number; grouped: 0 | 1 }>`
    select id, time_trunc is not null as grouped from series where time_zone <> ${ZONE}`.execute(db)
  for (const { id, grouped } of elsewhere.rows) {
    const stretches = grouped ? [{ from: -62_135_596_800, to: 253_402_300_800 }] : CHANGES
    for (const stretch of stretches) await forget(db, { series: id, ...stretch })
  }
  // Hourly sums (223) that were loaded over more than a day, where no single day was known by that number.
  const sums = await sql<Stretch>`
    select distinct f.series_id as series, f.from_at as "from", f.to_at as "to"
    from _fetch f join series s on s.id = f.series_id
    where f.outcome = 'ok' and f.resolution_id = 223 and f.to_at - f.from_at > 90000 and s.time_trunc is null
      and not exists (
        select 1 from _fetch d where d.series_id = f.series_id and d.outcome = 'ok' and d.resolution_id = 223
          and d.to_at - d.from_at <= 90000)`.execute(db)
  for (const stretch of sums.rows) await forget(db, stretch)
  await sql`update series set time_zone = ${ZONE} where time_zone <> ${ZONE}`.execute(db)
  await sql`update _fetch set time_zone = ${ZONE} where time_zone <> ${ZONE}`.execute(db)
  await sql`pragma user_version = 6`.execute(db)
}
