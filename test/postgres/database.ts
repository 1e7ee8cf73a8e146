import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject, onTestFinished } from 'vitest'
import { createDatabase } from './create.ts'

export { createDatabase, withClient } from './create.ts'

/** The address of the superuser of the run's server of PostgreSQL; the first who asks waits until it is started. */
export async function serverUrl(): Promise<string> {
  const said = await text(connect(inject('postgresPort'), '127.0.0.1'))
  if (said.startsWith('error: ')) throw new Error(said)
  return said
}

/** A new database that goes with the test; a copy of another one where a template is named. */
export async function tempDatabase(template?: string): Promise<string> {
  const { url, drop } = await createDatabase(await serverUrl(), template)
  onTestFinished(drop)
  return url
}
