import { expect, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { portable } from '../../src/db/portable.ts'
import { TABLE_NAMES, tableOf, VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'
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
    for (const [name, { columns }] of Object.entries<DatabaseView>(VIEWS)) {
      const { rows } = await client.query(
        'select attname from pg_attribute where attrelid = $1::text::regclass and attnum > 0 order by attnum',
        [name],
      )
      expect(
        rows.map(({ attname }) => attname),
        name,
      ).toEqual(Object.keys(columns))
    }
  })
})

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
