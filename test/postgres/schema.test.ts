import { Migrator } from 'kysely/migration'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { portable } from '../../src/db/portable.ts'
import { MIGRATIONS, readMigrations } from '../../src/db/postgres/migrations.ts'
import { failures } from '../../src/state/failures.ts'
import { TABLE_NAMES, tableOf, VIEWS } from '../../src/tables/schema.ts'
import type { DatabaseView } from '../../src/tables/sql/views.ts'
import { bareStore } from '../cluster/bare.ts'
import { FAILED_EARLIER } from '../db/failedEarlier.ts'
import { tempDatabase, withClient } from './database.ts'

const TYPES = { integer: 'bigint', real: 'double precision', text: 'text', blob: 'bytea' } as const

test('the migrations make the tables and views that are declared', async () => {
  const url = await tempDatabase()
  await (await openStore(url)).close()
  await withClient(url, async (client) => {
    for (const name of TABLE_NAMES) {
      const { rows } = await client.query(
        `select attname as name, format_type(atttypid, null) as type, attnotnull as filled
         from pg_attribute where attrelid = $1::text::regclass and attnum > 0 order by attnum`,
        [name],
      )
      const declared = Object.entries(tableOf(name).columns).map(([column, { store, nullable }]) => ({
        name: column,
        type: TYPES[store],
        filled: !nullable,
      }))
      expect(rows, name).toEqual(declared)
    }
    await client.query('set search_path = public, compat')
    const definition = async (view: string): Promise<string> =>
      (await client.query('select pg_get_viewdef($1::text::regclass) as sql', [view])).rows[0].sql
    for (const [name, { sql, postgres, columns }] of Object.entries<DatabaseView>(VIEWS)) {
      await client.query(`create view declared as ${portable(postgres ?? sql)}`)
      expect(await definition(name), name).toBe(await definition('declared'))
      const { rows } = await client.query(
        "select attname from pg_attribute where attrelid = 'declared'::regclass and attnum > 0 order by attnum",
      )
      expect(
        rows.map(({ attname }) => attname),
        name,
      ).toEqual(Object.keys(columns))
      await client.query('drop view declared')
    }
  })
})

/** Makes the tables and views of an earlier schema. */
async function migrateTo(url: string, name: string) {
  const { kysely } = bareStore(`${url}?options=-csearch_path%3Dpublic,compat`)
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: readMigrations },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  })
  expect((await migrator.migrateTo(name)).error).toBeUndefined()
  return kysely
}

test.each(Object.keys(MIGRATIONS).filter((name) => Number.parseInt(name, 10) < 5))(
  'versions without any text leave a database of schema %s',
  async (name) => {
    const url = await tempDatabase()
    const kysely = await migrateTo(url, name)
    await withClient(url, (client) =>
      client.query(`set search_path = public, compat;
        insert into indicator (kind, id, first_seen_at) values ('indicator', 600, 'then');
        insert into indicator_text (kind, id, locale, fetch_id) values ('indicator', 600, 'es', 1);
        update indicator_text set name = 'Uno', fetch_id = 2;
        update indicator_text set description = 'D', fetch_id = 3`),
    )
    const versions = () =>
      kysely.selectFrom('indicator_revision').select(['name', 'fetch_id']).orderBy('fetch_id').execute()
    expect(await versions()).toHaveLength(2)
    await (await openStore(url)).close()
    expect(await versions()).toEqual([{ name: 'Uno', fetch_id: 2 }])
    await withClient(url, (client) =>
      client.query(`set search_path = public, compat;
        insert into indicator_text (kind, id, locale, fetch_id) values ('indicator', 600, 'en', 5);
        update indicator_text set name = 'One', fetch_id = 6 where locale = 'en'`),
    )
    expect(await versions()).toHaveLength(1)
  },
)

test.each(Object.keys(MIGRATIONS).filter((name) => Number.parseInt(name, 10) < 7))(
  'what failed in a database of schema %s is told with its message and without a code',
  async (name) => {
    const url = await tempDatabase()
    await migrateTo(url, name)
    await withClient(url, (client) => client.query(`set search_path = public, compat; ${FAILED_EARLIER}`))
    const store = await openStore(url)
    onTestFinished(() => store.close())
    expect(await failures(store)).toMatchObject([{ target: '/indicators', message: 'It failed.', code: null }])
  },
)

test.each([
  ['select a is not b, c is not null, d is b', 'select a is distinct from b, c is not null, d is not distinct from b'],
  ['select \':x\' as "a:b", x::text, :x -- :x', 'select \':x\' as "a:b", x::text, $x -- :x'],
  ['from a cross join b on b.x = a.x cross join c', 'from a  join b on b.x = a.x cross join c'],
  ['select * from (select 1) where 1.5 > 1', 'select * from (select 1) as unnamed_1 where 1.5::float8 > 1'],
  ['select * from (select 1) q, (values (2)) v', 'select * from (select 1) q, (values (2)) v'],
  ["select date('now'), t.date, round(1)", "select compat.date('now'), t.date, compat.round(1)"],
])('%s becomes what PostgreSQL knows', (written, expected) => {
  expect(portable(written, (name) => `$${name}`)).toBe(expected)
})
