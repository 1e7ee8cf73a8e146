import { expect, test } from 'vitest'
import { dictionaryRows } from '../../../src/db/tables/dictionary.ts'
import { TABLE_NAMES, tableOf } from '../../../src/db/tables/schema.ts'
import { onDemo } from '../../support/demoCopy.ts'
import { onlyInFile, tempStore } from '../../support/kit.ts'

const demo = onDemo()

/** Compares texts by their code units, as SQLite does. */
const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b)

test.skipIf(onlyInFile('file'))('the dictionary of a database lists each table, view and column once', async () => {
  const store = await tempStore()
  const real = store.all(
    `select t.name || '.' || c.name as name from pragma_table_list t join pragma_table_info(t.name) c
     where t.schema = 'main' and t.type in ('table', 'view') and t.name not like 'sqlite_%' and t.name not like '_migration%'`,
  ) as { name: string }[]
  const described = dictionaryRows().filter(({ column_name }) => column_name !== '')
  expect(described.map(({ object, column_name }) => `${object}.${column_name}`).sort()).toEqual(
    real.map(({ name }) => name).sort(),
  )
  // The dictionary is also a table of the database.
  const byName = 'order by object, position'
  expect(store.all(`select * from data_dictionary ${byName}`)).toEqual(
    dictionaryRows().sort((a, b) => compareText(a.object, b.object) || a.position - b.position),
  )
})

test('values have their declared types and are NULL only in nullable columns', () => {
  const store = demo.store()
  let filled = 0
  for (const table of TABLE_NAMES)
    for (const [name, { store: declared, isNullable }] of Object.entries(tableOf(table).columns)) {
      const types = (store.all(`select distinct typeof("${name}") as type from ${table}`) as { type: string }[]).map(
        ({ type }) => type,
      )
      for (const type of types) expect([declared, ...(isNullable ? ['null'] : [])], `${table}.${name}`).toContain(type)
      filled += types.some((type) => type !== 'null') ? 1 : 0
    }
  expect(filled).toBeGreaterThan(150)
})

test('descriptions use the words of the field', () => {
  const unclear = /\b(by itself|by themselves|held|wanted|brought|told|asked?|doubt|in hand)\b/i
  expect(dictionaryRows().filter(({ meaning }) => unclear.test(meaning))).toEqual([])
})

test('the dictionary contains the units of columns', () => {
  const units = new Map(dictionaryRows().map(({ object, column_name, unit }) => [`${object}.${column_name}`, unit]))
  expect(units.get('observation.at')).toBe('epoch seconds, UTC')
  expect(units.get('observation.step_s')).toBe('s')
  expect(units.get('observations.local_date')).toBe('local day, YYYY-MM-DD')
  expect(units.get('geo.id')).toBeNull()
})
