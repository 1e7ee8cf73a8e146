import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandGroups } from '../../build/manText.ts'
import { TABLE_NAMES } from '../../src/db/tables/schema.ts'
import { FINDING_KINDS } from '../../src/findings/finding.ts'
import { LAKE_TABLES } from '../../src/lake/lakeTables.ts'
import { ASSUMPTIONS } from '../../src/service/assumptions/assumptions.ts'
import { ROUTES } from '../../src/service/routes.ts'

const read = (page: string): string => readFileSync(page, 'utf8')
/** Returns the distinct words in backquotes, sorted. */
const quotedIn = (text: string): string[] =>
  [...new Set([...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!))].sort()

describe('docs/schema.md', () => {
  const [, table = ''] = read('docs/schema.md').split('| source | tables |\n|---|---|')
  const rows = [...table.split('\n\n')[0]!.matchAll(/^\| (.*) \| (.*) \|$/gm)]

  test('docs/schema.md names every route', () => {
    const named = quotedIn(rows.map(([, routes]) => routes).join()).filter((word) => word.startsWith('/'))
    expect(named).toEqual(
      Object.values(ROUTES)
        .map(({ path }) => path)
        .sort(),
    )
  })

  test('docs/schema.md names every data table with its source, and no other', () => {
    expect(quotedIn(rows.map(([, , tables]) => tables).join())).toEqual(
      TABLE_NAMES.filter((name) => !name.startsWith('_')).sort(),
    )
  })
})

test('docs/monitoring.md names every kind of finding', () => {
  const [, section = ''] = read('docs/monitoring.md').split('## What `check` finds')
  const [, table = ''] = section.split('\n## ')[0]!.split('|---|---|---|')
  const named = [...table.matchAll(/^\| `([^`]+)` /gm)].map(([, name]) => name)
  expect(named, 'its table has a row for each kind, in the order of FINDING_KINDS').toEqual([...FINDING_KINDS])
})

describe('docs/lake.md', () => {
  const [, table = ''] = read('docs/lake.md').split('## Tables')
  const rows = [...table.split('\n## ')[0]!.matchAll(/^\| (`.*?) \| (.*?) \|/gm)]

  test('docs/lake.md names every table of a lake', () => {
    expect(quotedIn(rows.map(([, tables]) => tables).join())).toEqual(Object.keys(LAKE_TABLES).sort())
  })

  test('docs/lake.md names every column of the tables that it describes', () => {
    const listed = rows.filter(([, , columns]) => columns!.includes('`series_id`'))
    expect(listed.map(([, name]) => name)).toEqual(['`observation`', '`observation_revision`', '`day`'])
    for (const [, name, columns] of listed) {
      const { columns: declared } = LAKE_TABLES[name!.slice(1, -1) as keyof typeof LAKE_TABLES]
      expect(quotedIn(columns!)).toEqual(declared.map((column) => column.name).sort())
    }
  })
})

test('docs/first-day.md says what to do about each assumption, by whether it matters', () => {
  const [, mattering = '', others = ''] = read('docs/first-day.md').split(
    /^## (?:Deviations that matter|Other deviations)$/m,
  )
  const named = (section: string) =>
    [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, ids]) => quotedIn(ids!)).sort()
  const ids = (matters: boolean) => ASSUMPTIONS.filter((one) => one.matters === matters).map(({ id }) => id)
  expect(named(mattering)).toEqual(ids(true).sort())
  expect(named(others)).toEqual(ids(false).sort())
})

test('docs/postgresql.md lists only commands that use a database', async () => {
  const [, table = ''] = read('docs/postgresql.md').split('| command | on PostgreSQL |\n|---|---|\n')
  const rows = [...table.split('\n\n')[0]!.matchAll(/^\| (.*?) \| /gm)].map(([, commands]) => commands!)
  const commands = (await commandGroups()).values()
  const onDatabase = [...commands].flat().filter(({ flags }) => 'database' in flags)
  expect(rows.length).toBeGreaterThan(5)
  for (const command of quotedIn(rows.join()))
    expect(onDatabase.map(({ name }) => name)).toContain(command.split(' ')[0])
})
