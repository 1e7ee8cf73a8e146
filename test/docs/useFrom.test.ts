import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyDemo } from '../support/demoCopy.ts'
import { tempFolder } from '../support/kit.ts'
import { blocksOf } from './blocks.ts'

test('the SQL examples of docs/schema.md and docs/use-from.md return rows', async () => {
  const store = await copyDemo(join(tempFolder(), 'market.db'))
  const blocks = ['docs/schema.md', 'docs/use-from.md'].flatMap(blocksOf)
  expect(blocks.length).toBeGreaterThan(8)
  const statements = blocks.flatMap(({ language, text }) =>
    language === 'sql'
      ? [text]
      : [...text.matchAll(/(?:"""\s*|sqlite_query\('demo', ')(select [^"']*from observations[^"']*)(?:"""|'\))/g)].map(
          ([, sql]) => sql!,
        ),
  )
  expect(statements.length).toBeGreaterThan(3)
  for (const sql of statements) {
    const bounded = sql.replace('$__from / 1000', '0').replace('$__to / 1000', '9999999999').replace(';', '')
    expect(store.all(bounded).length, sql).toBeGreaterThan(0)
  }
  await store.close()
})
