import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyDemo } from '../support/demoCopy.ts'
import { runCommand, tempFolder } from '../support/kit.ts'
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

test('docs/use-from.md begins with a function of at most ten lines', () => {
  const [first] = blocksOf('docs/use-from.md')
  const body = /^def series\([\s\S]*?(?=\n\n)/m.exec(first!.text)![0]
  expect(first!.runs).toBe(true)
  expect(body.split('\n').length).toBeLessThanOrEqual(10)
  for (const parameter of ['name', 'geo', 'start', 'end', 'resample', 'as_of']) expect(body).toContain(parameter)
})

test('docs/use-from.md joins a CSV file with --with', async () => {
  const dir = tempFolder()
  await (await copyDemo(join(dir, 'data.db'))).close()
  const { text } = blocksOf('docs/use-from.md').find(({ heading }) => heading === 'Your own CSV')!
  const sql = /"\n([^"]*)"/.exec(text)![1]!
  const [, content] = /printf '(.*)' >/.exec(text)!
  writeFileSync(
    join(dir, 'costs.csv'),
    content!.replaceAll('\\n', '\n').replaceAll('2026-11-24', '2025-11-03').replaceAll('2026-11-25', '2025-11-04'),
  )
  const done = await runCommand(dir, ['query', sql, '--database', 'data.db', '--with', 'costs.csv', '--json'])
  expect(done).toMatchObject({ code: 0, err: 'costs: day date, cost real (2 rows)\n' })
  expect(JSON.parse(done.out)).toHaveLength(2)
})
