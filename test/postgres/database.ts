import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject, onTestFinished } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { createDatabase, withClient } from './create.ts'

export { createDatabase, withClient } from './create.ts'

/** Returns the superuser's address of the run's PostgreSQL server, which starts on first use. */
export async function serverUrl(): Promise<string> {
  const answer = await text(connect(inject('postgresPort'), '127.0.0.1'))
  if (answer.startsWith('error: ')) throw new Error(answer)
  return answer
}

/** Creates a database that is dropped after the test, optionally from a template. */
export async function tempDatabase(template?: string): Promise<string> {
  const { url, drop } = await createDatabase(await serverUrl(), template)
  onTestFinished(drop)
  return url
}

/** The template of `migratedDatabase` on the run's own server. */
const MIGRATED = 'test_migrated'
/** The advisory lock during its creation. */
const LOCK = 4711

/** Creates a database with all tables and views. Copies a template, because migrations take longer than most tests. */
export async function migratedDatabase(): Promise<string> {
  // A foreign server must stay clean, so that each database is migrated separately.
  if (process.env.INDICATOR_SYNC_TEST_POSTGRES) {
    const url = await tempDatabase()
    await (await openStore(url)).close()
    return url
  }
  const server = await serverUrl()
  await withClient(server, async (client) => {
    await client.query(`select pg_advisory_lock(${LOCK})`)
    if ((await client.query(`select from pg_database where datname = '${MIGRATED}'`)).rowCount) return
    const { url, drop } = await createDatabase(server)
    await (await openStore(url)).close()
    await client.query(`create database ${MIGRATED} template ${new URL(url).pathname.slice(1)}`)
    await drop()
  })
  return tempDatabase(MIGRATED)
}

/** Creates a database with the roles of docs/roles.sql, and returns addresses for each role. */
export async function databaseWithRoles(): Promise<{ url: string; as(role: 'writer' | 'worker' | 'reader'): string }> {
  const url = await tempDatabase()
  await withClient(url, (client) => client.query(readFileSync('docs/roles.sql', 'utf8')))
  return {
    url,
    as: (role) => {
      const one = new URL(url)
      one.searchParams.set('options', `-c role=indicator_${role}`)
      return one.href
    },
  }
}
