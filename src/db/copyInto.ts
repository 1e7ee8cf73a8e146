import { copyingOf } from './copying.ts'
import { openStore } from './open.ts'
import type { Reader } from './store.ts'
import { OWN_TABLES } from './tableBlocks.ts'
import { TABLE_NAMES, type TableName } from './tables/schema.ts'

/** Texts find the numbers by which they are searched there, and keep them. */
const COPIED_FIRST: readonly TableName[] = ['search_item']

const COPIED = [
  ...COPIED_FIRST,
  ...TABLE_NAMES.filter((name) => !COPIED_FIRST.includes(name) && !OWN_TABLES.includes(name)),
]

/**
 * Makes a file equal to an open database as it is now; creates it where there is none. Others may write to the database
 * meanwhile.
 */
export async function copyInto(source: Reader, file: string): Promise<void> {
  if (source.copying) return source.copying.copyInto(file)
  await source.engine.beginSnapshot()
  const copy = await openStore(file, { durability: 'none' })
  try {
    await copyingOf(copy).takeTables(source, COPIED)
  } finally {
    await copy.close()
  }
}
