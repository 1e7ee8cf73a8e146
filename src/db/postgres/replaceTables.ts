import type { Transaction } from 'kysely'
import { StoreError } from '../../util/errors.ts'
import { tableBlocks } from '../copying.ts'
import type { Reader, Store } from '../store.ts'
import { columnList, type Database, type TableName, tableOf } from '../tables/schema.ts'
import { changedBy, runSql } from './connection/statements.ts'
import { advanceSequences, insertStatement, toArrays } from './rowArrays.ts'

/** Triggers on the texts number its rows. */
const SEARCH_ITEM: TableName = 'search_item'

/** The number of fetches, and the last one, as a text. */
const summarizeFetches = async (db: Reader['kysely']): Promise<string> =>
  JSON.stringify(
    await db
      .selectFrom('_fetch')
      .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('id').as('last')])
      .executeTakeFirst(),
  )

/** Makes a table equal to that of another database. Updates would leave a history, so changed rows are deleted and inserted. */
async function replaceTable(tx: Transaction<Database>, source: Reader, table: TableName): Promise<void> {
  await runSql(tx, `create temporary table rebuilt (like ${table})`)
  for await (const block of tableBlocks(source, table))
    await changedBy(tx, insertStatement(table, 'rebuilt'), toArrays(table, block))
  const { key } = tableOf(table)
  const sameKey = key.map((name) => `n.${name} = t.${name}`).join(' and ')
  await runSql(
    tx,
    `delete from ${table} t where not exists (
       select from rebuilt n where ${sameKey} and (${columnList(table, 'n')}) is not distinct from (${columnList(table, 't')}))`,
  )
  await runSql(
    tx,
    `insert into ${table} (${columnList(table)}) select ${columnList(table)} from rebuilt n
     where not exists (select from ${table} t where ${sameKey})`,
  )
  await runSql(tx, 'drop table rebuilt')
}

/**
 * Replaces the rows of some tables with those of another database, in one transaction. Equal rows stay, so that nothing grows.
 * Workers wait for it. If they loaded something since the other database was made, nothing is written.
 */
export function replaceTables(source: Reader, target: Store, tables: readonly TableName[]): Promise<void> {
  return target.write(async (tx) => {
    // Temporary tables have no statistics, and a nested loop over them is the slowest plan.
    await runSql(tx, 'set local enable_nestloop = off')
    await runSql(tx, 'lock table _fetch in share row exclusive mode')
    if ((await summarizeFetches(tx)) !== (await summarizeFetches(source.kysely)))
      throw new StoreError(`Data was loaded into ${target.file} while it was rebuilt; the database was not changed.`, {
        hint: 'Stop the workers, then run the command again.',
        code: 'written-meanwhile',
      })
    const replaced = tables.filter((table) => table !== SEARCH_ITEM)
    for (const table of replaced) await replaceTable(tx, source, table)
    await advanceSequences(tx, replaced)
    // Reports missing references here instead of at the commit.
    await runSql(tx, 'set constraints all immediate')
  })
}
