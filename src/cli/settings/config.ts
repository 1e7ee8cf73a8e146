import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { isAddress, passwordIn, shownAddress } from '../../db/address.ts'
import { findProxy, type ProxySettings, proxySecrets, readProxySettings } from '../../fetch/proxies.ts'
import type { Settings } from '../../fetch/settings.ts'
import { checkKey, KEY_VARIABLE, refuseExposed } from '../../service/key.ts'
import type { Service } from '../../service/service.ts'
import { LIVE, SERVICE_NAMES, SERVICES, type ServiceName } from '../../service/services.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import { describeSystemError } from '../../util/systemErrors.ts'
import type { Args } from '../command.ts'
import { type DATABASE_FLAG, DEFAULT_DATABASE, type SERVICE_FLAGS } from '../flags.ts'
import { rememberSecret } from '../terminal/secrets.ts'
import { extractKey } from './extractKey.ts'

/** Bytes. Files that people write by hand are smaller. */
const MAX_BYTES = 1024 * 1024

/**
 * Reads a small text file or pipe, without a byte order mark. Refuses a file that is too large or endless, such as a device.
 * Throws errors of the system unchanged.
 */
function readSmall(file: string, kind: string): string {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.allocUnsafe(MAX_BYTES + 1)
    let length = 0
    for (let read = 1; read > 0 && length <= MAX_BYTES; length += read)
      read = readSync(handle, bytes, length, MAX_BYTES + 1 - length, null)
    if (length > MAX_BYTES)
      throw new InputError(`${file} is too large for a ${kind} (limit 1 MiB).`, { code: 'huge-file' })
    return bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '')
  } finally {
    closeSync(handle)
  }
}

/** A setting and its source, such as `flag --database`. */
interface Setting<T> {
  readonly value: T
  readonly from: string
}

export type SettingFlags = Partial<Args<typeof DATABASE_FLAG & typeof SERVICE_FLAGS>>

/** Every setting of a run with its source; null if it is not set. */
export interface CommandSettings {
  readonly service: Setting<Service>
  readonly baseUrl: Setting<string> | null
  /** The key as it was set: an invalid one does not stop a command that calls no service. */
  readonly key: Setting<string> | null
  /** Allows sending the key to another machine over plain HTTP. */
  readonly allowHttp: Setting<boolean>
  /** The proxies as they were set, like the key. */
  readonly proxies: ProxySettings
  readonly database: Setting<string>
}

/** Reads a text file of a kind, such as `job file`. Turns an error of the system into an InputError. */
export function readTextFile(
  file: string,
  kind: string,
  hint: string,
  code = `no-${kind.replaceAll(' ', '-')}`,
): string {
  try {
    return readSmall(file, kind)
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`The ${kind} ${file} ${describeSystemError(error)}.`, { hint, code, cause: error })
  }
}

function readEnvFile(): string {
  const hint = 'Save it as a regular file in UTF-8, readable for this user, or remove it.'
  const refuse = (fault: string): never => {
    throw new InputError(`.env ${fault}.`, { hint, code: 'no-env-file' })
  }
  // Reading a FIFO would wait for a writer.
  if (statSync('.env').isFIFO()) refuse('is a pipe, not a settings file')
  const text = readTextFile('.env', 'settings file', hint, 'no-env-file')
  return text.includes('\0') ? refuse('is not UTF-8 but looks like UTF-16') : text
}

type Environment = ReadonlyMap<string, Setting<string>>

/** Reads the variables of the process and of `.env` in the current folder. Real variables win; empty ones are unset. */
export function environment(): Environment {
  const fromFile = existsSync('.env') ? parseEnv(readEnvFile()) : {}
  const settings = new Map<string, Setting<string>>()
  for (const [name, value] of Object.entries(fromFile)) if (value) settings.set(name, { value, from: '.env' })
  for (const [name, value] of Object.entries(process.env))
    if (value) settings.set(name, { value, from: `variable ${name}` })
  return settings
}

/** Removes what may be a password or a token from a refused address. */
const withoutSecrets = (address: string): string =>
  address.replace(/^([a-z][a-z\d+.-]*:\/*)?.*@/is, '$1…@').replace(/([?#]).*$/s, '$1…')

function checkUrl({ value, from }: Setting<string>): Setting<string> {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol) || `${url.username}${url.search}${url.hash}` !== '')
    throw new InputError(
      `The base URL ${JSON.stringify(withoutSecrets(value))} (from ${from}) is not the address of a service.`,
      { hint: 'Use https://HOST or https://HOST/PATH, without user, query or fragment.', code: 'bad-base-url' },
    )
  return { value: value.replace(/\/+$/, ''), from }
}

/** Returns a setting from its flag, else from its variable. Refuses an empty flag, as in `--database "$UNSET"`. */
function pick(env: Environment, name: 'service' | 'base-url' | 'database', flag: string | undefined) {
  if (flag === undefined) return env.get(`INDICATOR_SYNC_${name.toUpperCase().replace('-', '_')}`)
  if (flag.trim() !== '') return { value: flag, from: `flag --${name}` }
  throw new InputError(`--${name} is empty.`, { hint: `Pass a value, or omit --${name}.`, code: 'empty-flag' })
}

function findService({ value, from }: Setting<string>): Setting<Service> {
  if (!SERVICE_NAMES.includes(value as ServiceName))
    throw new InputError(
      `${JSON.stringify(value)} (from ${from}) is not a known service; expected one of: ${SERVICE_NAMES.join(', ')}.${didYouMean(value, SERVICE_NAMES)}`,
      { code: 'unknown-service' },
    )
  return { value: SERVICES[value as ServiceName], from }
}

/** Reads the service and the database, for a command that must not know the key. */
export function readPublicSettings(
  flags: Pick<SettingFlags, 'service' | 'database'>,
  env = environment(),
): Pick<CommandSettings, 'service' | 'database'> {
  return {
    service: findService(pick(env, 'service', flags.service) ?? { value: 'generic', from: 'default' }),
    database: checkDatabase(pick(env, 'database', flags.database) ?? { value: DEFAULT_DATABASE, from: 'default' }),
  }
}

/** Reads the settings of proxies, and remembers their passwords as secrets. */
export function readProxies(env = environment()): ProxySettings {
  const proxies = readProxySettings((name) => env.get(name))
  for (const secret of proxySecrets(proxies)) rememberSecret(secret)
  return proxies
}

/** Reads all settings: flags override variables, variables override `.env`. */
export function readSettings(flags: SettingFlags): CommandSettings {
  const env = environment()
  const { service, database } = readPublicSettings(flags, env)
  const { baseUrl, name } = service.value
  const url = pick(env, 'base-url', flags.baseUrl)
  const keyHint = 'Pass a readable file that contains the API key as --api-key-file.'
  const file = flags.apiKeyFile
  const keyText =
    file === undefined
      ? env.get(KEY_VARIABLE)
      : { value: readTextFile(file, 'key file', keyHint), from: `file ${file}` }
  const key = keyText ? { ...keyText, value: extractKey(keyText.value) } : null
  for (const secret of [keyText?.value, key?.value]) if (secret) rememberSecret(secret)
  const profileUrl = baseUrl ? { value: baseUrl, from: `profile ${name}` } : null
  const allowHttp = env.get('INDICATOR_SYNC_ALLOW_HTTP') ?? { value: '', from: 'default' }
  return {
    service,
    baseUrl: url ? checkUrl(url) : profileUrl,
    key,
    allowHttp: { ...allowHttp, value: /^(1|true|yes|on)$/i.test(allowHttp.value) },
    proxies: readProxies(env),
    database,
  }
}

/** Names that cannot be databases, each with the reason. */
const NOT_DATABASES: readonly (readonly [RegExp, string])[] = [
  [/^:memory:$|^file:/i, 'is not a file'],
  [/[\\/]$/, 'is a folder'],
  [/\.lock$/i, 'is the lock file of a database'],
  [/-(?:wal|shm|journal)$/i, 'is the write-ahead log of a database'],
]

/** Addresses of other servers, and connection strings of other programs. */
const OTHER_SERVER = /^(?!file:)[a-z][a-z\d+.-]+:\/\/|(?:^|\s)(?:host|dbname|user|password)\s*=/i

/** Refuses a name that is neither a file nor a PostgreSQL address. Moves the password of an address to PGPASSWORD. */
function checkDatabase(database: Setting<string>): Setting<string> {
  const { value, from } = database
  if (isAddress(value)) {
    const password = passwordIn(value)
    if (password !== undefined) {
      rememberSecret(password)
      // The driver and child processes read it.
      process.env.PGPASSWORD = password
    }
    return { value: shownAddress(value), from }
  }
  // The address of another server may contain a password, so it is not repeated.
  const fault = OTHER_SERVER.test(value)
    ? `The database (from ${from}) is neither a file nor a PostgreSQL address.`
    : NOT_DATABASES.filter(([pattern]) => pattern.test(value)).map(
        ([, reason]) => `The database ${JSON.stringify(value)} (from ${from}) ${reason}.`,
      )[0]
  if (fault === undefined) return database
  throw new InputError(fault, {
    hint: `Use a file, such as ${DEFAULT_DATABASE}, or a server: postgres://USER@HOST/DATABASE.`,
    code: 'bad-database',
  })
}

/**
 * Returns the base URL, the key and the proxies, for a command that calls the service. Throws if one is
 * not set, or if the key would be sent in clear text. `reason` begins the message.
 */
export function requireService(
  { service: { value: service }, baseUrl, key, allowHttp, proxies }: CommandSettings,
  reason = '',
): Settings {
  if (!baseUrl)
    throw new InputError(`${reason}No base URL is set, and service ${service.name} has no default.`, {
      hint: `Pass --service ${LIVE} for the live service, or set INDICATOR_SYNC_BASE_URL. \`indicator-sync demo\` works without a service.`,
      code: 'no-base-url',
    })
  if (!key)
    throw new InputError(`${reason}No API key is set.`, {
      hint: 'Set INDICATOR_SYNC_API_KEY in the environment or in .env, or pass --api-key-file.',
      code: 'no-key',
    })
  // Throws if the address of the proxy is not valid.
  findProxy(baseUrl.value, proxies)
  const settings = {
    service,
    baseUrl: baseUrl.value,
    key: checkKey(key.value, key.from, service.apiKey),
    allowHttp: allowHttp.value,
    proxies,
  }
  refuseExposed(settings)
  return settings
}
