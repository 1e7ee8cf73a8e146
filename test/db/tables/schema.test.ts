import { expect, test } from 'vitest'
import { rememberZone } from '../../../src/db/queries/referenceTables.ts'
import { TABLE_NAMES, tableOf, VIEWS } from '../../../src/db/tables/schema.ts'
import { tempStore } from '../../support/kit.ts'

test('migrations create exactly the declared tables, all of them STRICT', async () => {
  const store = await tempStore()
  const made = store.all(
    `select name, strict from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%' and name not like '_migration%'`,
  ) as { name: string; strict: number }[]
  expect(made.map(({ name }) => name).sort()).toEqual([...TABLE_NAMES].sort())
  for (const { name, strict } of made) {
    expect(strict, name).toBe(1)
    const { columns, key } = tableOf(name as never)
    const real = store.all('select name, lower(type) as store, "notnull" as required, pk from pragma_table_info(?)', [
      name,
    ]) as {
      name: string
      store: string
      required: number
      pk: number
    }[]
    expect(
      real.map((column) => [column.name, column.store]),
      name,
    ).toEqual(Object.entries(columns).map(([column, { store }]) => [column, store]))
    for (const { name: column, required, pk } of real)
      expect(required === 0 && pk === 0, `${name}.${column}`).toBe(columns[column]!.isNullable)
    const keyed = real.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    expect(
      keyed.map((column) => column.name),
      name,
    ).toEqual(key)
  }
})

test('every view has its described columns and can be queried', async () => {
  const store = await tempStore()
  await rememberZone(store.kysely, 'Europe/Madrid')
  const views = store.all(`select name from pragma_table_list where type = 'view'`) as { name: string }[]
  expect(views.map(({ name }) => name).sort()).toEqual(Object.keys(VIEWS).sort())
  for (const [name, { columns }] of Object.entries(VIEWS)) {
    expect(store.all('select name from pragma_table_info(?)', [name]), name).toEqual(
      Object.keys(columns).map((column) => ({ name: column })),
    )
    expect(store.all(`select * from ${name}`)).toEqual([])
  }
})
