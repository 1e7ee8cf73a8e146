import { type Kysely, sql } from 'kysely'

/** The same name in the first language where it is held, else in the first one by name that has it. */
const inFirst = (table: string, where: string): string => `coalesce(
      (select t.name from ${table} t where ${where} and t.locale = 'es'),
      (select t.name from ${table} t where ${where} and t.name is not null order by t.locale limit 1)
    )`

/** Names come in the first language of the service, and no longer in the last one of the alphabet. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['coverage', 'gaps', 'freshness', 'archive_publications']) {
    const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where name = ${name}`.execute(db)
    // Taken as it is: nothing else of it changes.
    const view = rows[0]!.sql
      .replaceAll(
        /\(select t\.name from (indicator_text|geo_text) t where ([^()]+) order by t\.locale desc limit 1\)/g,
        (_text, table: string, where: string) => inFirst(table, where),
      )
      .replaceAll(
        `t.id = e.id order by t.locale desc limit 1)`,
        `t.id = e.id and t.name is not null order by t.locale = 'es' desc, t.locale limit 1)`,
      )
    await sql.raw(`drop view ${name}`).execute(db)
    await sql.raw(view).execute(db)
  }
  await sql`pragma user_version = 13`.execute(db)
}
