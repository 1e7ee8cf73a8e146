import { BusyError, RightsError, StoreError, SyncError } from '../../util/errors.ts'
import { MAX_SMALL } from '../tables/declare.ts'

/** The SQLSTATE of an error of the server: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const sqlState = (error: unknown): string | undefined =>
  error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : undefined

/** The SQLSTATE of a mistake in the grammar. */
export const SYNTAX_ERROR = '42601'

/** The cause of an expected error. */
export const underlyingError = (error: unknown): unknown => (error instanceof SyncError ? error.cause : error)

/* Errors of the network and the driver. */
const NETWORK = ['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EPIPE', 'ENOENT']
const UNREACHABLE = ['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'EADDRNOTAVAIL']
const CUT =
  /^(Connection terminated|There was an error establishing an SSL connection|Received unexpected \w+ message from backend|Client has encountered a connection error|Client was closed)/

const LATE = /^(timeout expired|Query read timeout)/
/** All connections of the pool are in use. */
const ALL_BUSY = /^timeout exceeded when trying to connect/

/** The server's identity is not proven, or it does not encrypt. */
const TLS = /^(ERR_(TLS|SSL|OSSL)_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|HOSTNAME_)/
const PLAIN = /^The server does not support SSL connections/

/** The server requires a password, and the driver has none. */
const NO_PASSWORD = /client password must be a(?: non-empty)? string/

const isCut = (error: unknown): boolean =>
  error instanceof Error && [CUT, LATE, ALL_BUSY, PLAIN, NO_PASSWORD].some((pattern) => pattern.test(error.message))

/** The code of an error of the network or the driver; undefined for any other error. */
const networkProblem = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  if (NO_PASSWORD.test(error.message)) return 'no-password'
  if (TLS.test(code) || PLAIN.test(error.message)) return 'tls'
  if (LATE.test(error.message)) return 'ETIMEDOUT'
  if (ALL_BUSY.test(error.message)) return 'all-busy'
  if (UNREACHABLE.includes(code)) return 'EHOSTUNREACH'
  if (NETWORK.includes(code)) return code
  return CUT.test(error.message) ? 'lost' : undefined
}

/** Whether the connection is lost (25P03: after an idle transaction). An uncommitted transaction on it changed nothing. */
export function isConnectionLost(error: unknown): boolean {
  const raw = underlyingError(error)
  return (
    !['tls', 'no-password', 'all-busy', undefined].includes(networkProblem(raw)) ||
    /^(08|57P0[1235]|25P03)/.test(sqlState(raw) ?? '')
  )
}

/** Whether a wait for a lock failed: it was not released in time, or all connections wait for one. */
export const isLockWait = (error: unknown): boolean =>
  sqlState(underlyingError(error)) === '55P03' || networkProblem(underlyingError(error)) === 'all-busy'

/**
 * A conflict with another transaction: serialization, deadlock, a lock that was not released in time. A retry may succeed.
 */
const isConflict = (error: unknown): boolean =>
  isLockWait(error) || ['40001', '40P01'].includes(sqlState(underlyingError(error)) ?? '')

/**
 * A row that exists already. If another writer made it meanwhile, a retry sees it.
 */
const isDuplicate = (error: unknown): boolean => sqlState(underlyingError(error)) === '23505'

/** The maximum number of attempts after an error. */
export function attemptsFor(error: unknown): number {
  if (isConflict(error) || isConnectionLost(error)) return 8
  return isDuplicate(error) ? 3 : 1
}

const CONNECT = 'Check that the server is running, and the address: postgres://USER@HOST:PORT/DATABASE.'

const LOCKED = [
  'Other sessions held locks on the database{} for too long ({reason}).',
  'Run the command again when they have finished. Committed data is kept.',
] as const

/** A session that has a lock, with its description. */
export interface LockingSession {
  readonly pid: number
  readonly session: string
}

/** A prepared statement of one connection was used on another one, as by a pooler that changes connections after each transaction. */
const POOLED = [
  'The connection to the database{} changed between two statements ({reason}), as behind pgbouncer in transaction mode.',
  'Add pooling=transaction to the address: postgres://USER@HOST:PORT/DATABASE?pooling=transaction (docs/postgresql.md).',
] as const

/** The message and the hint, by SQLSTATE, by its class, or by the code of the network. */
const REASONS: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ECONNREFUSED: ['The server of the database{} refused the connection.', CONNECT],
  ENOENT: ['The socket of the server of the database{} does not exist ({reason}).', CONNECT],
  EHOSTUNREACH: ['The server of the database{} cannot be reached ({reason}).', CONNECT],
  ETIMEDOUT: ['The server of the database{} did not respond in time ({reason}).', CONNECT],
  ENOTFOUND: ['The host name of the database{} cannot be resolved.', CONNECT],
  EAI_AGAIN: ['The host name of the database{} cannot be resolved: DNS does not respond.', CONNECT],
  tls: [
    'The TLS connection to the database{} failed: {reason}.',
    'Set sslrootcert=FILE to the certificate of its authority and use the host name in the certificate, or choose a weaker sslmode (docs/postgresql.md).',
  ],
  'no-password': [
    'The server of the database{} requires a password, and none is set.',
    'Set it in PGPASSWORD, in ~/.pgpass (chmod 600) or in the address.',
  ],
  '28': [
    'The server refused the login to the database{}: {reason}.',
    'Check the user in the address, and the password in PGPASSWORD, in ~/.pgpass or in the address.',
  ],
  '3D000': [
    'The database{} does not exist on that server.',
    'Create it as a user with the CREATEDB privilege (createdb NAME). Then `indicator-sync migrate` creates its tables.',
  ],
  '42501': [
    'This user lacks a privilege in the database{}: {reason}.',
    'Grant it the privileges of its role; docs/postgresql.md describes the roles.',
  ],
  '40001': LOCKED,
  '40P01': LOCKED,
  '55P03': LOCKED,
  'all-busy': [
    'All connections of this command to the database{} are in use ({reason}).',
    'Run the command again. Committed data is kept. If this repeats, run fewer statements at once.',
  ],
  '53100': ['The disk of the database server{} is full.', 'Free disk space. Committed data is kept.'],
  '53300': [
    'The server of the database{} has no free connections: {reason}.',
    'Each command needs up to four connections. Raise max_connections or the limit of the role or database, or run fewer commands.',
  ],
  '57014': [
    'A statement on the database{} exceeded the time limit of the server.',
    'Select less data at once, or raise statement_timeout in the address (?statement_timeout=…, in milliseconds).',
  ],
  '26000': POOLED,
  '42P05': POOLED,
  '22003': [
    'A number is too large for the database{}: {reason}.',
    `Ids of geos, series and fetches, and steps, are at most ${MAX_SMALL} on PostgreSQL.`,
  ],
  '25006': [
    'The database{} is read-only.',
    'Use the primary server instead of a replica, and a user with default_transaction_read_only off.',
  ],
  '0A000': ['The server of the database{} lacks a required feature: {reason}.', 'Use PostgreSQL 15 or later.'],
  XX: ['The database{} is damaged, or its server has a fault: {reason}.', 'Check the server log.'],
}

/** The error of a number that does not fit the column of PostgreSQL. SQLite stores any number. */
export const createNumberTooLargeError = (column: string, number: number): StoreError =>
  new StoreError(`The ${column} ${number} is too large for PostgreSQL (largest: ${MAX_SMALL}).`, {
    hint: 'Delete the rows that have it, then run the command again.',
    code: 'number-too-large',
  })

/**
 * Turns an error of the server into an expected one; returns any other value unchanged. `holder`: the session with the lock, if
 * known.
 */
export function asStoreError(error: unknown, address?: string, holder?: LockingSession): unknown {
  // Without an address, an error of the network may concern something else.
  const code = sqlState(error) ?? (address !== undefined || isCut(error) ? networkProblem(error) : undefined)
  if (code === undefined) return error
  const name = address === undefined ? '' : ` ${address}`
  const reason = (error as Error).message
  const [message, hint] =
    (holder && [
      `${holder.session} held locks on the database{} for too long ({reason}).`,
      `Commit or roll back its transaction, or end it: select pg_terminate_backend(${holder.pid}). Then run the command again. Committed data is kept.`,
    ]) ??
    REASONS[code] ??
    REASONS[code.slice(0, 2)] ??
    (isConnectionLost(error)
      ? [`The connection to the database{} was lost (${reason}).`, 'Run the command again. Committed data is kept.']
      : [
          `The server reported an error for the database{}: ${reason}.`,
          'Run `indicator-sync doctor` to see its state.',
        ])
  const OtherError = code === '42501' ? RightsError : StoreError
  const ErrorClass = isConflict(error) ? BusyError : OtherError
  return new ErrorClass(message.replace('{}', name).replace('{reason}', reason), {
    hint,
    code: code.toLowerCase(),
    cause: error,
  })
}
