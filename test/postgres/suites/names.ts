import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { inject } from 'vitest'
import { isAddress } from '../../../src/db/address.ts'
import { serverUrl, withClient } from '../database.ts'

/*
 * The suites were written for files. On PostgreSQL each path that is not a file stands for a database on the run's
 * server, created on first write.
 */

const server = await serverUrl()

/** The template of new databases, whose tables are created once per run. */
const TEMPLATE = `template_${inject('postgresPort')}`

function addressOf(database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

const nameOf = (path: string): string => `t_${createHash('sha256').update(resolve(path)).digest('hex').slice(0, 24)}`

/** Returns the address for a test's database path; an existing file remains a file. */
export const onServer = (name: string): string =>
  isAddress(name) || name === '' || name === ':memory:' || existsSync(name) ? name : addressOf(nameOf(name))

/** The same for a command, which is another process: an unwritten database is empty. */
export async function databaseFor(name: string): Promise<string> {
  const known = onServer(name)
  return known === name ? name : makeOnServer(name)
}

/** Databases of a file's tests, dropped after the last, because several tests may read one. */
const made = new Set<string>()

export async function dropMade(): Promise<void> {
  if (made.size === 0) return
  await withClient(server, async (client) => {
    for (const name of made) await client.query(`drop database if exists ${name} with (force)`)
  })
  made.clear()
}

let template: Promise<unknown> | undefined

/** Creates the template once per run. */
const makeTemplate = (): Promise<unknown> =>
  withClient(server, async (client) => {
    await client.query('select pg_advisory_lock(1)')
    const { rowCount } = await client.query('select from pg_database where datname = $1', [TEMPLATE])
    if (rowCount !== 0) return
    await client.query(`create database ${TEMPLATE}_new`)
    const { openStore: open } = await import('../../../src/db/postgres/open.ts')
    await (await open(addressOf(`${TEMPLATE}_new`))).close()
    await client.query(`alter database ${TEMPLATE}_new rename to ${TEMPLATE}`)
  })

/** Creates the database for a path unless it exists. */
export async function makeOnServer(path: string): Promise<string> {
  template ??= makeTemplate()
  await template
  const name = nameOf(path)
  await withClient(server, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name} template ${TEMPLATE}`)
  })
  made.add(name)
  return addressOf(name)
}
