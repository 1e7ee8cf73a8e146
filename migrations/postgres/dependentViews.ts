import { type Kysely, sql } from 'kysely'
import { VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'
import { StoreError } from '../../src/util/errors.ts'
import { run } from '../upgrade.ts'
import { viewSql } from './0001_schema.ts'

/** A view of the program, or a view of another program that reads its views or tables. */
interface StoredView {
  /** With its schema, quoted where necessary. */
  readonly name: string
  readonly definition: string
  readonly isOwn: boolean
  readonly isMaterialized: boolean
  /** Such as `security_invoker=true`. */
  readonly options: readonly string[] | null
  /** The statements that grant the privileges of others. */
  readonly grants: readonly string[]
}

/** Reads the views of the program, and all views that read them or some tables, oldest first. */
async function readViews(db: Kysely<unknown>, tables: readonly string[]): Promise<readonly StoredView[]> {
  const { rows } = await sql<StoredView>`
    with recursive own as (
      select oid from pg_class
      where relkind = 'v' and relnamespace = 'public'::regnamespace and relname = any(${Object.keys(VIEWS)})
    ), dependent as (
      select oid from own
      union
      select oid from pg_class where relnamespace = 'public'::regnamespace and relname = any(${tables})
      union
      select i.inhrelid from pg_inherits i where i.inhparent::regclass::text = any(${tables})
      union
      select r.ev_class from dependent d
      join pg_depend p on p.classid = 'pg_rewrite'::regclass and p.refobjid = d.oid
      join pg_rewrite r on r.oid = p.objid
    )
    select format('%s.%I', c.relnamespace::regnamespace, c.relname) as name, pg_get_viewdef(c.oid) as definition,
      c.oid in (select oid from own) as "isOwn", c.relkind = 'm' as "isMaterialized", c.reloptions as options,
      array(
        select format('grant %s on %s.%I to %s%s', a.privilege_type, c.relnamespace::regnamespace, c.relname,
          case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end,
          case when a.is_grantable then ' with grant option' else '' end)
        from aclexplode(c.relacl) a where a.grantee <> c.relowner
      ) as grants
    from dependent join pg_class c using (oid) where c.relkind in ('v', 'm') order by c.oid`.execute(db)
  return rows
}

/**
 * Does work without the views of the program, then creates them as they are declared. Views of other programs that read them, or
 * the `tables`, are created again, with their privileges. Refuses materialized views, whose rows and indexes would be lost.
 */
export async function withoutViews(
  db: Kysely<unknown>,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const views = await readViews(db, tables)
  const kept = views.find(({ isMaterialized }) => isMaterialized)
  if (kept)
    throw new StoreError(`The materialized view ${kept.name} reads tables or views that the migration changes.`, {
      hint: 'Drop it, run the command again, then create it again. Nothing was changed.',
      code: 'materialized-view',
    })
  if (views.length > 0) await run(db, `drop view ${views.map(({ name }) => name).join(', ')}`)
  await work()
  for (const [name, view] of Object.entries<DatabaseView>(VIEWS))
    await run(db, `create view ${name} as ${viewSql(view)}`)
  for (const { name, definition, isOwn, options } of views)
    if (!isOwn) await run(db, `create view ${name}${options ? ` with (${options.join(', ')})` : ''} as ${definition}`)
  for (const { grants } of views) for (const grant of grants) await run(db, grant)
}
