import type pg from 'pg'
import { StoreError } from '../../../base/errors.ts'
import { givenAddress } from '../../address.ts'
import { prepareOn } from './statements.ts'

/** Settings of every connection: names resolve in one schema only, one time zone, and a time limit for whatever hangs. */
const SETTINGS = [
  'search_path = public, compat',
  "timezone = 'UTC'",
  'client_min_messages = warning',
  // JIT compilation takes longer than any of our statements runs.
  'jit = off',
]
/** Milliseconds that a statement, a wait for a lock and an idle transaction may take, where the address says nothing else. */
const TIMEOUTS = {
  statement_timeout: 900_000,
  lock_timeout: 60_000,
  idle_in_transaction_session_timeout: 300_000,
} as const

/** What is set on a new connection to an address. */
function settingsOf(address: string): readonly string[] {
  const { searchParams } = new URL(givenAddress(address))
  const timeouts = Object.entries(TIMEOUTS).map(([name, ms]) => {
    const said = searchParams.get(name)
    return `${name} = ${said !== null && /^\d{1,9}$/.test(said) ? said : ms}`
  })
  return [...SETTINGS, ...timeouts]
}

const set = (settings: readonly string[], how = 'set'): string =>
  settings.map((setting) => `${how} ${setting}`).join('; ')

/**
 * The server ends a statement when its client is gone, for instance killed. Not every system can notice that; there it is left
 * out.
 */
const END_WITH_ASKER = `do $$ begin perform set_config('client_connection_check_interval', '1s', false);
  exception when invalid_parameter_value then null; end $$`

/** The settings without which a statement would mean something else. */
const NEEDED = ['search_path', 'timezone'] as const
const FOUND: Readonly<Record<(typeof NEEDED)[number], string>> = { search_path: 'public, compat', timezone: 'UTC' }

/**
 * Whether an address is that of a pooler which hands out a server's connection for one transaction only
 * (`?pooling=transaction`): what a session sets, prepares or locks there would affect other clients.
 */
function isPooled(address: string): boolean {
  const pooling = new URL(givenAddress(address)).searchParams.get('pooling')
  if (pooling === null || pooling === 'session' || pooling === 'transaction') return pooling === 'transaction'
  throw new StoreError(`The address of the database says pooling=${pooling}.`, {
    hint: 'Legal: session (as without it), transaction (a pooler that hands out connections for one transaction).',
    code: 'bad-address',
  })
}

/** Refuses a pooler whose database lacks the settings that sessions behind it cannot make themselves. */
async function requireSettings(client: pg.ClientBase, address: string): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(
    `select ${NEEDED.map((name) => `current_setting('${name}') as ${name}`).join(', ')}, current_database() as name`,
  )
  const wrong = NEEDED.filter((name) => rows[0]![name] !== FOUND[name])
  if (wrong.length === 0) return
  const name = `"${rows[0]!.name!.replaceAll('"', '""')}"`
  throw new StoreError(`${address} is pooled by transactions, and its ${wrong.join(' and ')} are not set.`, {
    hint: `Once, as its owner: ${SETTINGS.slice(0, NEEDED.length)
      .map((setting) => `alter database ${name} set ${setting};`)
      .join(' ')} Then restart the pooler's connections.`,
    code: 'not-set-up',
  })
}

/** Applies our settings to a new connection of a pool. */
export async function beginSession(
  client: pg.ClientBase,
  address: string,
  more: readonly string[] = [],
): Promise<void> {
  const pooled = isPooled(address)
  if (pooled) await requireSettings(client, address)
  else await client.query(`${set([...settingsOf(address), ...more])}; ${END_WITH_ASKER}`)
  prepareOn(client, !pooled)
}

/** Keeps a connection for us alone until it ends, with its locks: a pooler would take it away after a transaction. */
export const beginAlone = (client: pg.ClientBase, address: string): Promise<unknown> =>
  client.query(
    isPooled(address)
      ? `begin; ${set([...settingsOf(address), 'idle_in_transaction_session_timeout = 0'], 'set local')}`
      : set(settingsOf(address)),
  )
