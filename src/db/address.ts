import { dirname } from 'node:path'
import { StoreError } from '../util/errors.ts'

/** The file of commands without `--database`. */
export const DEFAULT_DATABASE = 'data/indicator-sync.db'

/** Whether the name of a database is the address of a server, as opposed to a path. */
export const isAddress = (name: string): boolean => /^postgres(ql)?:/i.test(name)

/** The folder of a database file; null for a server. */
export const databaseFolder = (name: string): string | null => (isAddress(name) ? null : dirname(name))

const ADDRESS_HINT =
  'Use postgres://USER@HOST:PORT/DATABASE. Write special characters of a password as %XX, or put the password into PGPASSWORD or ~/.pgpass.'

export const createAddressError = (message: string, hint = ADDRESS_HINT, cause?: unknown): StoreError =>
  new StoreError(message, { hint, code: 'bad-address', ...(cause === undefined ? {} : { cause }) })

const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'options',
  'pooling',
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
]
const NUMBER_PARAMETERS = ['port', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
/** Parameters for other programs, which are ignored. */
const WITHOUT_EFFECT = [
  'connect_timeout',
  'fallback_application_name',
  'gssencmode',
  'client_encoding',
  'tcp_user_timeout',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
]
const POOLING: readonly string[] = ['session', 'transaction']
const KNOWN_PARAMETERS: readonly string[] = [...PARAMETERS, ...WITHOUT_EFFECT]

/** A user without a host. It is legal if the host comes from elsewhere, but not in a URL. */
const withoutHost = /^(postgres(?:ql)?:\/\/)([^@/?#:]*)(?::([^@/?#]*))?@(?=[/?]|$)([^?]*)\??(.*)$/i

function readUrl(address: string): URL {
  const [, scheme, user, password, path, rest] = withoutHost.exec(address) ?? []
  if (scheme === undefined) return new URL(address)
  const recode = (text: string): string => encodeURIComponent(decodeURIComponent(text))
  const parameters = [
    `user=${recode(user!)}`,
    ...(password ? [`password=${recode(password)}`] : []),
    ...(rest ? [rest] : []),
  ]
  return new URL(`${scheme}${path || '/'}?${parameters.join('&')}`)
}

/** Parses an address. Refuses unknown parameters. */
export function parseAddress(address: string): URL {
  let url: URL
  try {
    url = readUrl(address)
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part)
    if ([...url.searchParams.keys()].some((name) => !/^\w+$/.test(name))) throw new Error('The password contains a ?.')
    if (!/^\w+:\/\//.test(address)) throw new Error('There is no // after the colon.')
    if (url.hash !== '') throw new Error('Write # in a user name or password as %23.')
  } catch (error) {
    // An invalid address may contain a password, so it is not repeated.
    const reason = error instanceof Error ? error.message.replace(address, '…') : error
    throw createAddressError('The database URL is not valid.', ADDRESS_HINT, reason)
  }
  const names = [...url.searchParams.keys()]
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw createAddressError(`The database URL contains ${twice}=… twice.`, 'Keep one.')
  for (const name of names)
    if (!KNOWN_PARAMETERS.includes(name))
      throw createAddressError(
        `The database URL contains the unknown parameter ${name}=….`,
        `Known parameters: ${PARAMETERS.join(', ')}. The database follows the host: postgres://USER@HOST:PORT/DATABASE.`,
      )
  for (const name of NUMBER_PARAMETERS)
    if (!/^\d{1,9}$/.test(url.searchParams.get(name) ?? '0'))
      throw createAddressError(
        `The database URL contains ${name}=${url.searchParams.get(name)}; expected a whole number.`,
        'Use milliseconds: ?statement_timeout=60000.',
      )
  const pooling = url.searchParams.get('pooling')
  if (pooling !== null && !POOLING.includes(pooling))
    throw createAddressError(
      `The database URL contains the unknown value pooling=${pooling}.`,
      `Use session (default), or transaction for a pooler in transaction mode.`,
    )
  return url
}

/** An address without its password, for messages. */
export function shownAddress(address: string): string {
  const url = parseAddress(address)
  url.password = ''
  if (url.searchParams.has('password')) url.searchParams.delete('password')
  return url.href
}

/** The password in an address; undefined if there is none. */
export function passwordIn(address: string): string | undefined {
  const { password, searchParams } = parseAddress(address)
  return decodeURIComponent(password) || (searchParams.get('password') ?? undefined)
}
