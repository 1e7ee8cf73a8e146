import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { dictionaryRows } from '../../../src/db/tables/dictionary.ts'
import { onDemo } from '../../support/demoCopy.ts'
import { tempFolder } from '../../support/kit.ts'

const demo = onDemo()

test('a published copy has a manifest, a data dictionary and a search index', async () => {
  const folder = tempFolder()
  const out = join(folder, 'public.db')
  expect((await demo.run(['publish', out])).code).toBe(0)
  expect(readdirSync(folder).sort()).toEqual(['public.db', 'public.db.manifest.json'])
  const db = new SQLite(out, { readonly: true })
  const described = db.prepare('select object, column_name, meaning from data_dictionary').all()
  expect(described).toHaveLength(dictionaryRows().length)
  expect(db.prepare(`select count(*) from search where search match 'precio'`).pluck().get()).toBeGreaterThan(3)
  db.close()
})
