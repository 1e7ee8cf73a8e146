import type { Transaction } from 'kysely'
import { StoreError } from '../../util/errors.ts'
import { type Row, tableBlocks } from '../copying.ts'
import type { Reader, Store } from '../store.ts'
import { type Database, type TableName, tableOf } from '../tables/schema.ts'
import { changedBy, queryRows, runSql } from './connection/statements.ts'
import { advanceSequences, arraySources, columnList, packed } from './rowArrays.ts'

/** Follows its texts by itself, with numbers of its own. */
const BY_ITSELF: readonly TableName[] = ['search_item']

/** How many fetches a database has, and the last of them. */
async function recordedFetches(db: Reader['kysely']): Promise<string> {
  const of = await db
    .selectFrom('_fetch')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('id').as('last')])
    .executeTakeFirst()
  return JSON.stringify([of?.count ?? 0, of?.last ?? null])
}

/**
 * Deletes the rows between two keys that are missing or different in the given ones, then writes what is missing. An update would
 * leave a history.
 */
async function writeBlock(
  tx: Transaction<Database>,
  table: TableName,
  rows: readonly Row[],
  after: Row | undefined,
): Promise<void> {
  const { key, columns } = tableOf(table)
  const count = Object.keys(columns).length
  const bound = (first: number): string =>
    `(${key.map((name, i) => `$${first + i}::${columns[name]!.store === 'integer' ? 'bigint' : 'text'}`)})`
  const range = `(${key.map((name) => `t.${name}`)}) <= ${bound(count + 1)}
    ${after ? `and (${key.map((name) => `t.${name}`)}) > ${bound(count + 1 + key.length)}` : ''}`
  const same = key.map((name) => `n.${name} = t.${name}`).join(' and ')
  const last = rows.at(-1)!
  const parameters = [
    ...packed(table, rows),
    ...key.map((name) => last[name]),
    ...(after ? key.map((name) => after[name]) : []),
  ]
  const given = `${arraySources(table)} n (${columnList(table)})`
  await changedBy(
    tx,
    `delete from ${table} t where ${range} and not exists (
       select from ${given} where ${same} and (${columnList(table, 'n')}) is not distinct from (${columnList(table, 't')}))`,
    parameters,
  )
  await changedBy(
    tx,
    `insert into ${table} (${columnList(table)}) select ${columnList(table, 'n')} from ${given}
     where not exists (select from ${table} t where ${range} and ${same})`,
    parameters,
  )
}

/** Deletes what lies behind the last row that was given; everything where none was. */
async function deleteRest(tx: Transaction<Database>, table: TableName, last: Row | undefined): Promise<void> {
  const { key } = tableOf(table)
  const rest = last ? `where (${key}) > (${key.map((_, i) => `$${i + 1}`)})` : ''
  await changedBy(tx, `delete from ${table} ${rest}`, last ? key.map((name) => last[name]) : [])
}

/**
 * Replaces the rows of some tables with those of another database, in one transaction. Equal rows stay as they are, so that
 * nothing grows. Workers wait for it; where they have loaded something since the other database was made, nothing is written.
 */
export function replaceTables(source: Reader, target: Store, tables: readonly TableName[]): Promise<void> {
  return target.write(async (tx) => {
    // A plan that goes through a list for each row is the slowest of all, and lists have no statistics.
    await runSql(tx, 'set local enable_nestloop = off')
    await runSql(tx, 'lock table _fetch in share row exclusive mode')
    if ((await recordedFetches(tx)) !== (await recordedFetches(source.kysely)))
      throw new StoreError(`Data was loaded into ${target.file} while it was rebuilt; the database was not changed.`, {
        hint: 'Stop the workers, then run the command again.',
        code: 'written-meanwhile',
      })
    const replaced = tables.filter((table) => !BY_ITSELF.includes(table))
    for (const table of replaced) {
      let last: Row | undefined
      for await (const block of tableBlocks(source, table)) {
        await writeBlock(tx, table, block, last)
        last = block.at(-1)!
      }
      await deleteRest(tx, table, last)
    }
    await advanceSequences(tx, replaced)
    // References to nothing are found here, where they can be reported, and not at the end.
    await queryRows(tx, 'set constraints all immediate')
  })
}
