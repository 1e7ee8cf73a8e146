import type pg from 'pg'
import { StoreError } from '../../../util/errors.ts'
import { parseAddress, shownAddress } from '../../address.ts'
import { prepareOn } from './statements.ts'

/**
 * The settings without which a statement, or an answer, would mean something else. A role and a database may have others: digits
 * that are left out, dates in another order, bytes and texts written in another way.
 */
const MEANING = {
  search_path: 'public, compat',
  timezone: 'UTC',
  client_encoding: 'UTF8',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // Whoever waits for a lock sees what the one before him wrote.
  default_transaction_isolation: 'read committed',
} as const
type Meaning = keyof typeof MEANING

const MEANING_NAMES = Object.keys(MEANING) as readonly Meaning[]

const settingLiteral = (name: Meaning): string =>
  name === 'search_path' || name === 'datestyle' ? MEANING[name] : `'${MEANING[name]}'`

/** Settings of every connection: names resolve in one schema only, one time zone, and a time limit for whatever hangs. */
const SESSION_SETTINGS = [
  ...MEANING_NAMES.map((name) => `${name} = ${settingLiteral(name)}`),
  'client_min_messages = warning',
  // A writer that is idle keeps its lock.
  'idle_session_timeout = 0',
  // JIT compilation takes longer than any of our statements runs.
  'jit = off',
]
/** Milliseconds that a statement, a wait for a lock and an idle transaction may take, where the address says nothing else. */
const TIMEOUTS = {
  statement_timeout: 900_000,
  // Less than the minute that `query` waits for a row: the error names who has the lock.
  lock_timeout: 45_000,
  idle_in_transaction_session_timeout: 300_000,
} as const

/**
 * Milliseconds that a transaction that writes may be idle: it waits for nothing but its own computation, and others wait for its
 * locks. So a process that is frozen, or whose machine is gone, holds them up no longer.
 */
const WRITE_IDLE_MS = 15_000

/** Limits how long a transaction that writes may be idle, as a column of a select in it; the address may say something else. */
export function writeIdleLimit(address: string): string {
  const name = 'idle_in_transaction_session_timeout'
  const ms = parseAddress(address).searchParams.get(name) ?? WRITE_IDLE_MS
  return `set_config('${name}', '${ms}', true) as ${name}`
}

/** What is set on a new connection to an address. */
function sessionSettings(address: string): readonly string[] {
  const { searchParams } = parseAddress(address)
  const timeouts = Object.entries(TIMEOUTS).map(([name, ms]) => `${name} = ${searchParams.get(name) ?? ms}`)
  return [...SESSION_SETTINGS, ...timeouts]
}

const set = (settings: readonly string[], how = 'set'): string =>
  settings.map((setting) => `${how} ${setting}`).join('; ')

/**
 * Settings that some servers and systems do not know: there they are left out. A statement ends when its client is gone, whose
 * process may have been killed. A migration, and a view that stays the same while it is read, have no limit of time.
 */
const setWhereKnown = (isLocal = false): string =>
  [
    ['client_connection_check_interval', '1s'],
    ['transaction_timeout', '0'],
  ]
    .map(
      ([name, value]) =>
        `do $$ begin perform set_config('${name}', '${value}', ${isLocal}); exception when invalid_parameter_value or undefined_object then null; end $$`,
    )
    .join('; ')

/** Whether a setting is as it has to be; a date is read by its form, and digits more do no harm. */
function means(name: Meaning, found: string): boolean {
  if (name === 'datestyle') return found.startsWith('ISO')
  if (name === 'extra_float_digits') return Number(found) >= 1
  // The driver itself asks for these when it connects, so a pooler sets them for each of its clients.
  return name === 'client_encoding' || found === MEANING[name]
}

/** Without the rights to change it, the role stays. A replica fires no triggers and checks no references. */
const FIRE_TRIGGERS = `do $$ begin
    if current_setting('session_replication_role') = 'replica' then set session_replication_role = origin; end if;
  exception when insufficient_privilege then null; end $$`

/** Refuses a session in which the triggers and references of the tables have no effect. */
async function requireTriggers(client: pg.ClientBase, address: string): Promise<void> {
  const { rows } = await client.query<{ role: string; name: string }>(
    `select current_setting('session_replication_role') as role, quote_ident(session_user) as name`,
  )
  const { role, name } = rows[0]!
  if (role !== 'replica') return
  throw new StoreError(
    `${shownAddress(address)} has session_replication_role = replica, which disables triggers and references.`,
    {
      hint: `As a superuser, run: alter role ${name} reset session_replication_role; or reset it for the database, or remove it from the options of the address.`,
      code: 'not-set-up',
    },
  )
}

/**
 * Whether an address is that of a pooler which hands out a server's connection for one transaction only
 * (`?pooling=transaction`): what a session sets, prepares or locks there would affect other clients.
 */
const isPooled = (address: string): boolean => parseAddress(address).searchParams.get('pooling') === 'transaction'

/** Refuses a pooler whose database lacks the settings that sessions behind it cannot make themselves. */
async function requireSettings(client: pg.ClientBase, address: string): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(
    `select ${MEANING_NAMES.map((name) => `current_setting('${name}') as ${name}`).join(', ')}, current_database() as name`,
  )
  const wrong = MEANING_NAMES.filter((name) => !means(name, rows[0]![name]!))
  if (wrong.length === 0) return
  const name = `"${rows[0]!.name!.replaceAll('"', '""')}"`
  throw new StoreError(
    `${shownAddress(address)} is pooled by transactions, and its ${wrong.join(' and ')} are not set.`,
    {
      hint: `Once, as its owner: ${wrong
        .map((setting) => `alter database ${name} set ${setting} = ${settingLiteral(setting)};`)
        .join(' ')} Then restart the pooler's connections.`,
      code: 'not-set-up',
    },
  )
}

/** Applies our settings to a new connection of a pool. */
export async function beginSession(
  client: pg.ClientBase,
  address: string,
  more: readonly string[] = [],
): Promise<void> {
  const pooled = isPooled(address)
  if (pooled) await requireSettings(client, address)
  else await client.query(`${set([...sessionSettings(address), ...more])}; ${setWhereKnown()}; ${FIRE_TRIGGERS}`)
  await requireTriggers(client, address)
  prepareOn(client, !pooled)
}

/** Keeps a connection for us alone until it ends, with its locks: a pooler would take it away after a transaction. */
export const beginAlone = (client: pg.ClientBase, address: string): Promise<unknown> =>
  client.query(
    isPooled(address)
      ? `begin; ${set([...sessionSettings(address), 'idle_in_transaction_session_timeout = 0'], 'set local')}; ${setWhereKnown(true)}`
      : `${set(sessionSettings(address))}; ${setWhereKnown()}`,
  )
