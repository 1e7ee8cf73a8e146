import { type Kysely, sql } from 'kysely'
import { VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'
import { ABSENCES_BY_GEO, addDeclared, convertJobRanges, readColumns, run } from '../upgrade.ts'
import { viewSql } from './0001_schema.ts'

/** Reads the views of the program and those of other programs that read them, oldest first. Names are quoted where necessary. */
async function readViews(
  db: Kysely<unknown>,
): Promise<readonly { readonly name: string; readonly definition: string; readonly isOwn: boolean }[]> {
  const { rows } = await sql<{ name: string; definition: string; isOwn: boolean }>`
    with recursive own as (
      select oid from pg_class
      where relkind = 'v' and relnamespace = 'public'::regnamespace and relname = any(${Object.keys(VIEWS)})
    ), dependent as (
      select oid from own
      union
      select r.ev_class from dependent d
      join pg_depend p on p.classid = 'pg_rewrite'::regclass and p.refobjid = d.oid
      join pg_rewrite r on r.oid = p.objid
    )
    select format('%s.%I', c.relnamespace::regnamespace, c.relname) as name, pg_get_viewdef(c.oid) as definition,
      c.oid in (select oid from own) as "isOwn"
    from dependent join pg_class c using (oid) where c.relkind = 'v' order by c.oid`.execute(db)
  return rows
}

/** As for SQLite: missing periods by stored values and cadence, jobs with an identity. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const tables = await readColumns(db)
  if (tables.has('_cadence')) return
  const views = await readViews(db)
  await run(db, `drop view ${views.map(({ name }) => name).join(', ')}`)
  await run(db, 'alter table _absent rename to _absent_1')
  for (const key of ['pkey', 'series_id_fkey'])
    await run(db, `alter table _absent_1 rename constraint _absent_${key} to _absent_1_${key}`)
  await run(db, 'drop index _absent_end')
  await addDeclared(db, 'postgres')
  for (const statement of ABSENCES_BY_GEO) await run(db, statement)
  await convertJobRanges(db)
  await run(db, 'drop table _absent_1')
  for (const [name, view] of Object.entries<DatabaseView>(VIEWS))
    await run(db, `create view ${name} as ${viewSql(view)}`)
  for (const { name, definition, isOwn } of views) if (!isOwn) await run(db, `create view ${name} as ${definition}`)
}
