import { expect, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { TABLE_NAMES, tableOf, VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'
import { tempDatabase, withClient } from './database.ts'

const TYPES = { integer: 'bigint', real: 'double precision', text: 'text', blob: 'bytea' } as const

test('migrations create the declared tables and views', async () => {
  const url = await tempDatabase()
  await (await openStore(url)).close()
  await withClient(url, async (client) => {
    for (const name of TABLE_NAMES) {
      const { rows } = await client.query(
        `select attname as name, format_type(atttypid, null) as type, attnotnull as filled
         from pg_attribute where attrelid = $1::text::regclass and attnum > 0 order by attnum`,
        [name],
      )
      const declared = Object.entries(tableOf(name).columns).map(([column, { store, isNullable, isSmall }]) => ({
        name: column,
        type: isSmall ? 'integer' : TYPES[store],
        filled: !isNullable,
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

test('timestamps and dates in views have native types, and at_local is the local time', async () => {
  const url = await tempDatabase()
  await (await openStore(url)).close()
  const types = {
    at_utc: 'timestamp with time zone',
    at_local: 'timestamp without time zone',
    local_date: 'date',
    valid_from: 'timestamp with time zone',
    valid_to: 'timestamp with time zone',
  }
  await withClient(url, async (client) => {
    const { rows } = await client.query(
      `select table_name as view, column_name as name, data_type as type from information_schema.columns
       where table_schema = 'public' and table_name = any($1) and column_name = any($2)`,
      [Object.keys(VIEWS), Object.keys(types)],
    )
    expect(rows.length).toBeGreaterThan(15)
    for (const { view, name, type } of rows)
      expect(`${view}.${name}: ${type}`).toBe(`${view}.${name}: ${types[name as keyof typeof types]}`)
    await client.query(`
      insert into indicator (kind, id, first_seen_at) values ('indicator', 600, '');
      insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 600, 'Europe/Madrid', '');
      insert into time_zone_offset values ('Europe/Madrid', 0, 1761440400, 7200, ''), ('Europe/Madrid', 1761440400, 9999999999, 3600, '');
      insert into series_geo (series_id, geo_id) values (1, 0);
      set session_replication_role = replica;
      insert into observation (series_id, geo_id, at, value, step_s, fetch_id) select 1, 0, 1761429600 + 3600 * n, n, 3600, 1 from generate_series(0, 24) n`)
    const { rows: days } = await client.query(
      `select to_char(date_trunc('day', at_local), 'YYYY-MM-DD') as day, count(*)::int as hours, count(distinct at_utc)::int as instants,
         count(distinct at_local)::int as clocks, bool_and(local_date = at_local::date) as same
       from observations where at_utc >= '2025-10-26T00:00+02:00' and local_date < '2025-10-27' group by 1`,
    )
    expect(days).toEqual([{ day: '2025-10-26', hours: 25, instants: 25, clocks: 24, same: true }])
  })
})
