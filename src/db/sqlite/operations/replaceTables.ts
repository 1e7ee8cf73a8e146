import { StoreError } from '../../../util/errors.ts'
import { TABLE_NAMES, type TableName, tableOf } from '../../tables/schema.ts'
import type { Connection } from '../connection.ts'
import { listTables } from './finishCopy.ts'

/** Triggers on the texts number its rows. */
const SEARCH_ITEM: TableName = 'search_item'

/** Counts the rows of tables of other programs that refer to a missing row. */
function countDangling({ raw }: Connection): Map<string, number> {
  const foreignTables = listTables(raw).filter((table) => !(TABLE_NAMES as readonly string[]).includes(table))
  const count = raw.prepare('select count(*) from pragma_foreign_key_check(?)').pluck()
  return new Map(foreignTables.map((table) => [table, count.get(table) as number]))
}

/** Deletes the rows that are different or missing in the attached database, then inserts what is missing here. */
function replaceRows({ raw }: Connection, table: TableName): void {
  const { key, columns } = tableOf(table)
  const names = Object.keys(columns)
  const same = (compared: readonly string[]): string => compared.map((name) => `n.${name} is t.${name}`).join(' and ')
  const keySame = key.map((name) => `n.${name} = t.${name}`).join(' and ')
  raw.exec(`delete from main.${table} as t
    where not exists (select 1 from rebuilt.${table} n where ${keySame} and ${same(names)})`)
  const count = (schema: 'main' | 'rebuilt') => raw.prepare(`select count(*) from ${schema}.${table}`).pluck().get()
  // Every row left is also in the other table, so equal counts mean equal tables.
  if (count('main') === count('rebuilt')) return
  raw.exec(`insert into main.${table} (${names}) select ${names} from rebuilt.${table} n
    where not exists (select 1 from main.${table} t where ${keySame})`)
}

/**
 * Replaces the rows of some tables with those of a file. Equal rows stay, so that nothing grows. Tables of other programs stay, and
 * their rows must not lose the rows that they refer to.
 */
export async function replaceTables(
  connection: Connection,
  file: string,
  rebuilt: string,
  tables: readonly TableName[],
  write: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { raw } = connection
  raw.prepare('attach database ? as rebuilt').run(rebuilt)
  // Deleting a changed row must not delete rows of other programs that refer to it.
  raw.pragma('foreign_keys = off')
  try {
    await write(async () => {
      const before = countDangling(connection)
      for (const table of tables) if (table !== SEARCH_ITEM) replaceRows(connection, table)
      raw.exec(`insert into search (search) values ('rebuild')`)
      for (const [table, count] of countDangling(connection))
        if (count > before.get(table)!)
          throw new StoreError(
            `The table ${table} of another program refers to rows that the rebuilt database lacks; ${file} was not changed.`,
            {
              hint: `Delete these rows of ${table}, or its foreign key, and run the command again. Or rebuild into another file: indicator-sync replay --output other.db.`,
              code: 'dangling-rebuild',
            },
          )
    })
  } finally {
    raw.pragma('foreign_keys = on')
    raw.exec('detach database rebuilt')
  }
}
