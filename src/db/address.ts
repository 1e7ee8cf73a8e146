import { dirname } from 'node:path'
import { StoreError } from '../util/errors.ts'

/** Whether the name of a database is an address on a server, and not a path. */
export const isAddress = (name: string): boolean => /^postgres(ql)?:/i.test(name)

/** What follows from where a database is, for code that does not open it. */
export interface DatabasePlace {
  /** Whether machines share it: their workers take requests from its queue, and they take turns to call a host. */
  readonly isShared: boolean
  /** Whether a server looks after its bytes: it checks them, and keeps its log. */
  readonly isServed: boolean
  /** Its folder, where other files go beside it; null where it has none. */
  readonly folder: string | null
}

const ON_SERVER: DatabasePlace = { isShared: true, isServed: true, folder: null }
const IN_FILE: Omit<DatabasePlace, 'folder'> = { isShared: false, isServed: false }

/** What follows from where a database is, by its name. */
export const parseDatabase = (name: string): DatabasePlace =>
  isAddress(name) ? ON_SERVER : { ...IN_FILE, folder: dirname(name) }

const ADDRESS_HINT =
  'Use postgres://USER@HOST:PORT/DATABASE. Write special characters of a password as %XX, or put the password into PGPASSWORD or ~/.pgpass.'

export const badAddress = (message: string, hint = ADDRESS_HINT, cause?: unknown): StoreError =>
  new StoreError(message, { hint, code: 'bad-address', ...(cause === undefined ? {} : { cause }) })

const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
  ...['options', 'pooling', 'application_name'],
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
]
const NUMBER_PARAMETERS = ['port', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
/** Parameters for other programs, which are accepted and ignored here. */
const WITHOUT_EFFECT = [
  ...['connect_timeout', 'fallback_application_name', 'gssencmode', 'client_encoding', 'tcp_user_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
]
const POOLING: readonly string[] = ['session', 'transaction']
const KNOWN_PARAMETERS: readonly string[] = [...PARAMETERS, ...WITHOUT_EFFECT]

/** A user without a host, which is legal where the host is given elsewhere, but not in a URL. */
const withoutHost = /^(postgres(?:ql)?:\/\/)([^@/?#:]*)(?::([^@/?#]*))?@(?=[/?]|$)([^?]*)\??(.*)$/i

function readUrl(address: string): URL {
  const [, scheme, user, password, path, rest] = withoutHost.exec(address) ?? []
  if (scheme === undefined) return new URL(address)
  const again = (text: string): string => encodeURIComponent(decodeURIComponent(text))
  const parameters = [
    `user=${again(user!)}`,
    ...(password ? [`password=${again(password)}`] : []),
    ...(rest ? [rest] : []),
  ]
  return new URL(`${scheme}${path || '/'}?${parameters.join('&')}`)
}

/** Parses an address; refuses a parameter that would not be obeyed. */
export function parseAddress(address: string): URL {
  let url: URL
  try {
    url = readUrl(address)
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part)
    if ([...url.searchParams.keys()].some((name) => !/^\w+$/.test(name))) throw new Error('The password contains a ?.')
    if (!/^\w+:\/\//.test(address)) throw new Error('There is no // after the colon.')
    if (url.hash !== '') throw new Error('Write # in a user name or password as %23.')
  } catch (error) {
    // What cannot be read may hold a password, and is not repeated.
    const reason = error instanceof Error ? error.message.replace(address, '…') : error
    throw badAddress('The database URL is not valid.', ADDRESS_HINT, reason)
  }
  const names = [...url.searchParams.keys()]
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw badAddress(`The database URL contains ${twice}=… twice.`, 'Keep one.')
  for (const name of names)
    if (!KNOWN_PARAMETERS.includes(name))
      throw badAddress(
        `The database URL contains the unknown parameter ${name}=….`,
        `Known parameters: ${PARAMETERS.join(', ')}. The database follows the host: postgres://USER@HOST:PORT/DATABASE.`,
      )
  for (const name of NUMBER_PARAMETERS)
    if (!/^\d{1,9}$/.test(url.searchParams.get(name) ?? '0'))
      throw badAddress(
        `The database URL contains ${name}=${url.searchParams.get(name)}; expected a whole number.`,
        'Use milliseconds: ?statement_timeout=60000.',
      )
  const pooling = url.searchParams.get('pooling')
  if (pooling !== null && !POOLING.includes(pooling))
    throw badAddress(
      `The database URL contains the unknown value pooling=${pooling}.`,
      `Use session (default), or transaction for a pooler in transaction mode.`,
    )
  return url
}

/** An address without its password, for messages; it needs PGPASSWORD or a file of passwords to connect again. */
export function shownAddress(address: string): string {
  const url = parseAddress(address)
  url.password = ''
  // What is not deleted stays as it was written.
  if (url.searchParams.has('password')) url.searchParams.delete('password')
  return url.href
}

/** The password that an address holds, where it holds one. */
export function passwordIn(address: string): string | undefined {
  const { password, searchParams } = parseAddress(address)
  return decodeURIComponent(password) || (searchParams.get('password') ?? undefined)
}
