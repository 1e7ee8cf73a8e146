import type pg from 'pg'
import { StoreError } from '../../../util/errors.ts'
import { parseAddress, shownAddress } from '../../address.ts'

/**
 * Settings that change the meaning of statements and results, such as the order of dates or the form of texts. Roles and
 * databases may have other ones.
 */
const SEMANTICS = {
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
  // A statement that waited for a lock sees the writes of its former holder.
  default_transaction_isolation: 'read committed',
} as const
type SemanticSetting = keyof typeof SEMANTICS

const SEMANTIC_NAMES = Object.keys(SEMANTICS) as readonly SemanticSetting[]

const settingLiteral = (name: SemanticSetting): string =>
  name === 'search_path' || name === 'datestyle' ? SEMANTICS[name] : `'${SEMANTICS[name]}'`

/** Settings of every connection. */
const SESSION_SETTINGS = [
  ...SEMANTIC_NAMES.map((name) => `${name} = ${settingLiteral(name)}`),
  'client_min_messages = warning',
  // An idle writer keeps its lock.
  'idle_session_timeout = 0',
  // JIT compilation takes longer than any of our statements.
  'jit = off',
]
/** Default milliseconds of a statement, a wait for a lock and an idle transaction. */
const TIMEOUTS = {
  statement_timeout: 900_000,
  // Less than the minute of `query`, so that the error names the holder of the lock.
  lock_timeout: 45_000,
  idle_in_transaction_session_timeout: 300_000,
} as const

/**
 * Milliseconds that a writing transaction may be idle. A frozen process, or a lost machine, must not block others for longer.
 */
const WRITE_IDLE_MS = 15_000

/** Limits how long a writing transaction may be idle, as a column of a select. The address may set another limit. */
export function writeIdleLimit(address: string): string {
  const name = 'idle_in_transaction_session_timeout'
  const ms = parseAddress(address).searchParams.get(name) ?? WRITE_IDLE_MS
  return `set_config('${name}', '${ms}', true) as ${name}`
}

/** The settings of a new connection to an address. */
function sessionSettings(address: string): readonly string[] {
  const { searchParams } = parseAddress(address)
  const timeouts = Object.entries(TIMEOUTS).map(([name, ms]) => `${name} = ${searchParams.get(name) ?? ms}`)
  return [...SESSION_SETTINGS, ...timeouts]
}

const set = (settings: readonly string[], command = 'set'): string =>
  settings.map((setting) => `${command} ${setting}`).join('; ')

/**
 * Sets what some servers do not support, if they do. Statements end with their client, whose process may have been killed.
 * Migrations and snapshots have no time limit.
 */
const setIfSupported = (isLocal = false): string =>
  [
    ['client_connection_check_interval', '1s'],
    ['transaction_timeout', '0'],
  ]
    .map(
      ([name, value]) =>
        `do $$ begin perform set_config('${name}', '${value}', ${isLocal}); exception when invalid_parameter_value or undefined_object then null; end $$`,
    )
    .join('; ')

/** Whether a setting has an equivalent value. */
function isEquivalent(name: SemanticSetting, value: string): boolean {
  if (name === 'datestyle') return value.startsWith('ISO')
  if (name === 'extra_float_digits') return Number(value) >= 1
  // The driver sets the encoding when it connects, so a pooler sets it for each client.
  return name === 'client_encoding' || value === SEMANTICS[name]
}

/** Enables triggers and references, if the user may do so. */
const FIRE_TRIGGERS = `do $$ begin
    if current_setting('session_replication_role') = 'replica' then set session_replication_role = origin; end if;
  exception when insufficient_privilege then null; end $$`

/** Refuses a session without triggers and references. */
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
 * Whether an address is that of a pooler in transaction mode (`?pooling=transaction`): settings, prepared statements and locks of
 * a session would affect other clients.
 */
export const isPooled = (address: string): boolean =>
  parseAddress(address).searchParams.get('pooling') === 'transaction'

/** Refuses a pooler in transaction mode whose database lacks the settings. */
async function requireSettings(client: pg.ClientBase, address: string): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(
    `select ${SEMANTIC_NAMES.map((name) => `current_setting('${name}') as ${name}`).join(', ')}, current_database() as name`,
  )
  const different = SEMANTIC_NAMES.filter((name) => !isEquivalent(name, rows[0]![name]!))
  if (different.length === 0) return
  const name = `"${rows[0]!.name!.replaceAll('"', '""')}"`
  throw new StoreError(
    `${shownAddress(address)} is pooled by transactions, and its ${different.join(' and ')} are not set.`,
    {
      hint: `Once, as its owner: ${different
        .map((setting) => `alter database ${name} set ${setting} = ${settingLiteral(setting)};`)
        .join(' ')} Then restart the pooler's connections.`,
      code: 'not-set-up',
    },
  )
}

/** Sets up a new connection of a pool. */
export async function beginSession(
  client: pg.ClientBase,
  address: string,
  more: readonly string[] = [],
): Promise<void> {
  if (isPooled(address)) await requireSettings(client, address)
  else await client.query(`${set([...sessionSettings(address), ...more])}; ${setIfSupported()}; ${FIRE_TRIGGERS}`)
  await requireTriggers(client, address)
}

/** Sets up a separate connection. Behind a pooler, a transaction keeps it and its locks. */
export const beginAlone = (client: pg.ClientBase, address: string): Promise<unknown> =>
  client.query(
    isPooled(address)
      ? `begin; ${set([...sessionSettings(address), 'idle_in_transaction_session_timeout = 0'], 'set local')}; ${setIfSupported(true)}`
      : `${set(sessionSettings(address))}; ${setIfSupported()}`,
  )
