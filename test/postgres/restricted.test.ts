import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import type { Store } from '../../src/db/store.ts'
import { TABLE_NAMES, tableOf } from '../../src/db/tables/schema.ts'
import { emulate, ms, runJob } from '../support/kit.ts'
import { migratedDatabase, withClient } from './database.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const JOB = `pace: { perSecond: 50, concurrency: 1 }
series: [{ indicators: [600, 1293], geoIds: [3], window: { from: 2025-10-01, to: 2025-11-01 }, chunk: 3d }]
`

/** Removes features that distributed engines lack: triggers, deferred keys, partial indexes. */
const RESTRICT = `do $$ declare r record; begin
  for r in select conrelid::regclass as of, conname as name from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
    and conparentid = 0
    loop execute format('alter table %s drop constraint %I', r.of, r.name); end loop;
  for r in select tgrelid::regclass as of, tgname as name from pg_trigger where not tgisinternal
    loop execute format('drop trigger %I on %s', r.name, r.of); end loop;
  for r in select inhrelid::regclass as part from pg_inherits where inhparent = 'observation'::regclass
    loop execute format('drop table %s', r.part); end loop;
  create table observation_all partition of observation default;
end $$`

/** Fails one in 23 writes to some tables, like serializable transactions. */
const REFUSE = `create sequence written;
create function refuse() returns trigger language plpgsql as $$ begin
  if nextval('written') % 23 = 0 then raise exception 'restart transaction' using errcode = '40001'; end if;
  return null;
end $$;
create trigger refuse before insert or update or delete on observation for each statement execute function refuse();
create trigger refuse before insert or update or delete on _fetch for each statement execute function refuse();
create trigger refuse before insert or update or delete on _coverage for each statement execute function refuse();`

/** Ids, which rollbacks skip, and times. */
const NUMBERS =
  /^(id|series_id|run_id|.*fetch.*|superseded_by|ms|attempts|(started|finished|created|first_seen|first_asked)_at)$/
/** Tables about writers, and the search index, which triggers maintain. */
const PASSING = ['search_item', '_lock', '_fence', '_run', '_source', '_budget']

async function rowsOf(store: Store): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {}
  for (const name of TABLE_NAMES.filter((one) => !PASSING.includes(one))) {
    const columns = Object.keys(tableOf(name).columns).filter((column) => !NUMBERS.test(column))
    const { rows } = await withClient(store.file, (client) =>
      client.query({ text: `select ${columns.map((one) => `"${one}"`)} from ${name}`, rowMode: 'array' }),
    )
    tables[name] = rows.map((row) => JSON.stringify(row)).sort()
  }
  return tables
}

test('the rows are the same without triggers, foreign keys and partial indexes, and with failing transactions', async () => {
  const stores: Store[] = []
  for (const restricted of [false, true]) {
    const url = await migratedDatabase()
    const store = await openStore(url)
    onTestFinished(() => store.close())
    if (restricted)
      await withClient(url, async (client) => {
        await client.query(RESTRICT)
        await client.query(REFUSE)
      })
    await runJob(store, await emulate({ now: NOW / 1000 }), JOB, { now: NOW })
    stores.push(store)
  }
  const [free, restricted] = stores as [Store, Store]
  const refused = await withClient(restricted.file, (client) => client.query('select last_value from written'))
  expect(Number(refused.rows[0].last_value)).toBeGreaterThan(50)
  const found = await rowsOf(restricted)
  expect(found.observation!.length).toBeGreaterThan(1_000)
  expect(found).toEqual(await rowsOf(free))
})
