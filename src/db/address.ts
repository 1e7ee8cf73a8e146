import { dirname } from 'node:path'
import { StoreError } from '../base/errors.ts'

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
export const placeOf = (name: string): DatabasePlace =>
  isAddress(name) ? ON_SERVER : { ...IN_FILE, folder: dirname(name) }

/**
 * Addresses as they were given, by the form in which they are shown. No message contains the password, but it is needed to
 * connect again.
 */
const given = new Map<string, string>()

const ADDRESS_HINT =
  'Write it as postgres://USER@HOST:PORT/DATABASE; a password with other characters than letters and digits has them as %XX, or is given by PGPASSWORD or ~/.pgpass.'

export const badAddress = (message: string, hint = ADDRESS_HINT, cause?: unknown): StoreError =>
  new StoreError(message, { hint, code: 'bad-address', ...(cause === undefined ? {} : { cause }) })

/** Parameters of an address that messages show: where the server is, and how it proves itself. */
const SHOWN_PARAMETERS = ['host', 'port', 'user', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']
/** Parameters that messages do not show. */
const HIDDEN_PARAMETERS = [
  ...['password', 'options', 'pooling', 'application_name'],
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
]
const NUMBER_PARAMETERS = ['port', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
/** Parameters for other programs, which are accepted and ignored here. */
const WITHOUT_EFFECT = [
  ...['connect_timeout', 'fallback_application_name', 'gssencmode', 'client_encoding', 'tcp_user_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
]
const POOLING: readonly string[] = ['session', 'transaction']
const KNOWN_PARAMETERS: readonly string[] = [...SHOWN_PARAMETERS, ...HIDDEN_PARAMETERS, ...WITHOUT_EFFECT]

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

/** An address, parsed; refused where it has a parameter that would not be obeyed. */
function parseAddress(address: string): URL {
  let url: URL
  try {
    url = readUrl(address)
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part)
    if ([...url.searchParams.keys()].some((name) => !/^\w+$/.test(name)))
      throw new Error('There is a ? in the password.')
    if (!/^\w+:\/\//.test(address)) throw new Error('There is no // after the colon.')
    if (url.hash !== '') throw new Error('A # in a name or password is written as %23.')
  } catch (error) {
    // What cannot be read may hold a password, and is not repeated.
    const reason = error instanceof Error ? error.message.replace(address, '…') : error
    throw badAddress('The address of the database cannot be read.', ADDRESS_HINT, reason)
  }
  const names = [...url.searchParams.keys()]
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw badAddress(`The address of the database has ${twice}=… twice.`, 'Give it once.')
  for (const name of names)
    if (!KNOWN_PARAMETERS.includes(name))
      throw badAddress(
        `The address of the database has ${name}=…, which is not a known parameter.`,
        `Legal: ${[...SHOWN_PARAMETERS, ...HIDDEN_PARAMETERS].join(', ')}. The database comes after the host: postgres://USER@HOST:PORT/DATABASE.`,
      )
  for (const name of NUMBER_PARAMETERS)
    if (!/^\d{1,9}$/.test(url.searchParams.get(name) ?? '0'))
      throw badAddress(
        `The address of the database has ${name}=${url.searchParams.get(name)}, which is not a whole number.`,
        'Times are given in milliseconds: ?statement_timeout=60000.',
      )
  const pooling = url.searchParams.get('pooling')
  if (pooling !== null && !POOLING.includes(pooling))
    throw badAddress(
      `The address of the database has pooling=${pooling}, which is not a known value.`,
      `Legal: session (as without it), transaction (a pooler that hands out connections for one transaction).`,
    )
  return url
}

/** An address without its password, for messages. `givenAddress` finds the whole address by it. */
export function shownAddress(address: string): string {
  if (given.has(address)) return address
  const url = parseAddress(address)
  const shown = new URL(url)
  shown.password = ''
  for (const name of [...shown.searchParams.keys()])
    if (!SHOWN_PARAMETERS.includes(name)) shown.searchParams.delete(name)
  given.set(shown.href, address)
  return shown.href
}

/** The whole address, as it was given, of one that is shown. */
export const givenAddress = (shown: string): string => given.get(shown) ?? shown

/** The same, parsed. */
export const givenUrl = (shown: string): URL => parseAddress(givenAddress(shown))

const SERVER_VARIABLE = /^(PG[A-Z]+|HOME|APPDATA)$/
let variables: Readonly<Record<string, string | undefined>> = {}

/** Keeps the variables of an environment that concern servers, to pass them on to other processes. */
export function keepServerVariables(environment: Readonly<Record<string, string | undefined>>): void {
  variables = Object.fromEntries(Object.entries(environment).filter(([name]) => SERVER_VARIABLE.test(name)))
}

/** The variables by which a server is reached (PGHOST, PGPASSWORD …), and where files with passwords are looked for. */
export const serverVariables = (): typeof variables => variables

/** The password that an address holds, where it holds one. */
export function passwordIn(address: string): string | undefined {
  const { password, searchParams } = parseAddress(address)
  return decodeURIComponent(password) || (searchParams.get('password') ?? undefined)
}

/** The name of a database as it is shown: an address without its password, a path as it is. */
export const shownName = (name: string): string => (isAddress(name) ? shownAddress(name) : name)
