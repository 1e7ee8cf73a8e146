import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject, onTestFinished } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { createDatabase, withClient } from './create.ts'

export { createDatabase, withClient } from './create.ts'

/** The address of the superuser of the run's server of PostgreSQL; the first who asks waits until it is started. */
export async function serverUrl(): Promise<string> {
  const answer = await text(connect(inject('postgresPort'), '127.0.0.1'))
  if (answer.startsWith('error: ')) throw new Error(answer)
  return answer
}

/** A new database that goes with the test; a copy of another one where a template is named. */
export async function tempDatabase(template?: string): Promise<string> {
  const { url, drop } = await createDatabase(await serverUrl(), template)
  onTestFinished(drop)
  return url
}

/** The database that `migratedDatabase` copies, of a server that goes with the run. */
const MIGRATED = 'test_migrated'
/** Held by whoever makes it. */
const LOCK = 4711

/** A new database with all tables and views: a copy of one that the first test of the run made, for migrations take longer than most tests. */
export async function migratedDatabase(): Promise<string> {
  // On a server that is not ours nothing stays after the run, so that each database is migrated by itself.
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

/** A new database with the roles of docs/roles.sql, and its address for who has one of them. */
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
