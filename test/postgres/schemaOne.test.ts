import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { restoreSchemaOne, writeSchemaOne } from '../fixtures/schemaOne.ts'
import { tempFolder } from '../support/kit.ts'
import { withClient } from './create.ts'
import { tempDatabase } from './database.ts'

/** Counts of rows that a migration must keep. */
const KEPT = {
  series: 'select count(*) from series',
  values: 'select count(*) from observation where value is not null',
  'rows without value': 'select count(*) from observation where value is null',
  'revised and withdrawn values': 'select count(*) from observation_revision',
  'unverified windows': `select count(*) from _coverage where state = 'unverified'`,
  absences: 'select count(*) from _absent',
  'changes of resolution': 'select count(*) from _resolution',
  'open rejects': 'select count(*) from _quarantine where resolved_at is null',
  'dismissed rejects': 'select count(*) from _quarantine where dismissed is not null',
  'failed requests': `select count(*) from _fetch where outcome in ('refused', 'transient')`,
  runs: 'select count(*) from _run',
  jobs: 'select count(distinct job) from _job_range',
  replies: 'select count(*) from _reply',
  'texts of the catalogue': 'select count(*) from indicator_text',
  contents: 'select count(*) from content',
  'revisions of contents': 'select count(*) from content_revision',
  archives: 'select count(*) from archive',
  widgets: 'select count(*) from widget',
}

test('the databases of schema 1 hold the same rows of all kinds that a migration must keep', async () => {
  const file = join(tempFolder(), 'schema-1.db')
  writeSchemaOne(file)
  const sqlite = new SQLite(file, { readonly: true })
  onTestFinished(() => void sqlite.close())
  const url = await tempDatabase()
  await restoreSchemaOne(url)
  await withClient(url, async (client) => {
    for (const [what, query] of Object.entries(KEPT)) {
      const { rows } = await client.query<{ readonly count: string }>(query)
      const count = sqlite.prepare(query).pluck().get()
      expect({ what, count: Number(rows[0]!.count) }).toEqual({ what, count })
      expect({ what, isKept: Number(count) > 0 }).toEqual({ what, isKept: true })
    }
  })
})
