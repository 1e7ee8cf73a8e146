import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { inject } from 'vitest'
import { isAddress } from '../../../src/db/address.ts'
import { serverUrl, withClient } from '../database.ts'

/*
 * The suites were written for files. Run over PostgreSQL, each path that is no file stands for a database on the server of the run, which
 * is made when it is first written.
 */

const server = await serverUrl()

/** The name of the database that is copied for each new one: the tables are made once a run. */
const TEMPLATE = `template_${inject('postgresPort')}`

function addressOf(database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

const nameOf = (path: string): string => `t_${createHash('sha256').update(resolve(path)).digest('hex').slice(0, 24)}`

/** What a test calls a database, as a name that can be opened: what is a file stays one. */
export const onServer = (name: string): string =>
  isAddress(name) || name === '' || name === ':memory:' || existsSync(name) ? name : addressOf(nameOf(name))

/** The same for a command, which is another process: it is empty where nobody has written it yet. */
export async function databaseFor(name: string): Promise<string> {
  const known = onServer(name)
  return known === name ? name : makeOnServer(name)
}

/** What the tests of a file have made: several of them may read one, so all go with the last. */
const made = new Set<string>()

export async function dropMade(): Promise<void> {
  if (made.size === 0) return
  await withClient(server, async (client) => {
    for (const name of made) await client.query(`drop database if exists ${name} with (force)`)
  })
  made.clear()
}

let template: Promise<unknown> | undefined

/** Makes the database of the template once a run, whoever comes first. */
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

/** Makes the database that stands for a path, where there is none. */
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
