import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { dictionaryRows } from '../../../src/db/tables/dictionary.ts'
import { TABLE_NAMES, VIEWS } from '../../../src/db/tables/schema.ts'
import { tempFolder } from '../../kit.ts'
import { onMarket } from '../../marketCopy.ts'

const market = onMarket()

test('a published copy has a manifest, a data dictionary, a search index and complete metadata', async () => {
  const folder = tempFolder()
  const out = join(folder, 'public.db')
  expect((await market.run(['publish', out])).code).toBe(0)
  expect(readdirSync(folder).sort()).toEqual(['metadata.yaml', 'public.db', 'public.db.manifest.json'])
  const db = new SQLite(out, { readonly: true })
  const described = db.prepare('select object, column_name, meaning from data_dictionary').all()
  expect(described).toHaveLength(dictionaryRows().length)
  expect(db.prepare(`select count(*) from search where search match 'precio'`).pluck().get()).toBeGreaterThan(3)
  const { databases, title } = parse(readFileSync(join(folder, 'metadata.yaml'), 'utf8'))
  expect(title).toBe('Indicators')
  expect(Object.keys(databases.public.tables).sort()).toEqual([...TABLE_NAMES, ...Object.keys(VIEWS)].sort())
  expect(databases.public.tables.observation.columns.at).toMatch(/epoch seconds, UTC/)
  // Without this setting, Datasette would sort all values for its first page.
  expect(Object.keys(databases.public.tables.observations).sort()).toEqual(['columns', 'description'])
  for (const [name, { sql, params }] of Object.entries<{ sql: string; params: string[] }>(databases.public.queries)) {
    const nothing = Object.fromEntries(params.map((parameter) => [parameter, '']))
    expect(() => db.prepare(sql).all(nothing), name).not.toThrow()
  }
  db.close()
})
