import { type Kysely, sql } from 'kysely'

/** Who writes is held by the operating system now and only told here; calls are counted always; a source is remembered. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table _lock`.execute(db)
  await sql`create table _lock (
    name text primary key not null,
    fence integer not null,
    pid integer not null,
    host text not null,
    command text not null,
    acquired_at text not null
  ) strict, without rowid`.execute(db)

  // Beside _lock, for its rows go and this number only grows.
  await sql`create table _fence (
    name text primary key not null,
    number integer not null
  ) strict, without rowid`.execute(db)

  await sql`create table _source (
    host text primary key not null,
    base_url text not null,
    service text not null,
    first_asked_at text not null,
    wait_until integer
  ) strict, without rowid`.execute(db)

  await sql`pragma user_version = 8`.execute(db)
}
