import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { parseDatabase, passwordIn, shownAddress } from '../../db/address.ts'
import { checkKey } from '../../service/key.ts'
import { LIVE, SERVICE_NAMES, SERVICES, type Service, type ServiceName } from '../../service/services.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import { describeSystemError } from '../../util/systemErrors.ts'
import { DEFAULT_DATABASE } from '../flags.ts'
import { rememberSecret } from '../terminal/secrets.ts'

/** What people write by hand is shorter. */
const MOST_BYTES = 1024 * 1024

/**
 * The text of a small file, which may be a pipe, without a byte order mark. Refuses one that is too large or endless, such as a
 * device. Throws the error of the system.
 */
export function readSmall(file: string, what: string): string {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.allocUnsafe(MOST_BYTES + 1)
    let length = 0
    for (let more = 1; more > 0 && length <= MOST_BYTES; length += more)
      more = readSync(handle, bytes, length, MOST_BYTES + 1 - length, null)
    if (length > MOST_BYTES)
      throw new InputError(`${file} is too large for a ${what} (limit 1 MiB).`, { code: 'huge-file' })
    return bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '')
  } finally {
    closeSync(handle)
  }
}

/** Whether there is a database to be read under a name. */
export const isThere = async (name: string): Promise<boolean> =>
  parseDatabase(name).folder === null
    ? (await (await import('../../db/open.ts')).schemaState(name)).exists
    : existsSync(name)

/** A setting with the place it came from, for `doctor`. */
export interface Setting<T> {
  readonly value: T
  readonly from: string
}

/** The flags that settings can come from. */
export interface SettingFlags {
  readonly service?: string | undefined
  readonly baseUrl?: string | undefined
  readonly apiKeyFile?: string | undefined
  readonly database?: string | undefined
}

/** Where every setting of a run came from; what is missing is null. */
export interface Settings {
  readonly service: Setting<Service>
  readonly baseUrl: Setting<string> | null
  /** As it was given. `requireService` checks it: a wrong one does not stop a command that calls no service. */
  readonly key: Setting<string> | null
  /** Whether the key may be sent unencrypted to another machine. */
  readonly allowHttp: Setting<boolean>
  readonly database: Setting<string>
}

function readEnv(file: string): string {
  const refuse = (what: string): InputError =>
    new InputError(`${file} ${what}.`, { hint: 'Save it as a regular file in UTF-8.', code: 'no-env-file' })
  try {
    // A FIFO would wait for a writer for ever.
    if (statSync(file).isFIFO()) throw refuse('is a pipe, not a settings file')
    const text = readSmall(file, 'settings file')
    if (text.includes('\0')) throw refuse('is not UTF-8 but looks like UTF-16')
    return text
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`${file} ${describeSystemError(error)}.`, {
      hint: 'Make it readable for this user, or remove it.',
      code: 'no-env-file',
      cause: error,
    })
  }
}

/** The environment with what a `.env` file in the working directory adds; real variables win. */
export function environment(directory = process.cwd()): ReadonlyMap<string, Setting<string>> {
  const file = join(directory, '.env')
  const written = existsSync(file) ? parseEnv(readEnv(file)) : {}
  const rows: [string, Setting<string>][] = [
    ...Object.entries(written).map(
      ([name, value]) => [name, { value: value ?? '', from: '.env' }] satisfies [string, Setting<string>],
    ),
    ...Object.entries(process.env).map(
      ([name, value]) => [name, { value: value ?? '', from: `variable ${name}` }] satisfies [string, Setting<string>],
    ),
  ]
  return new Map(rows.filter(([, { value }]) => value !== ''))
}

/** A refused address for a message, without what may be a password or a token. */
const withoutSecrets = (address: string): string =>
  address.replace(/^([a-z][a-z\d+.-]*:\/*)?.*@/is, '$1…@').replace(/([?#]).*$/s, '$1…')

function checkUrl({ value, from }: Setting<string>): Setting<string> {
  const url = URL.canParse(value) ? new URL(value) : null
  if (
    !url ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw new InputError(
      `The base URL ${JSON.stringify(withoutSecrets(value))} (from ${from}) is not the address of a service.`,
      {
        hint: 'Use https://HOST or https://HOST/PATH, without user, query or fragment.',
        code: 'bad-base-url',
      },
    )
  return { value: value.replace(/\/+$/, ''), from }
}

function readKeyFile(file: string): Setting<string> {
  try {
    return { value: readSmall(file, 'key'), from: `file ${file}` }
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`The key file ${file} ${describeSystemError(error)}.`, {
      hint: 'Pass a readable file that contains the API key as --api-key-file.',
      code: 'no-key-file',
      cause: error,
    })
  }
}

/** The value of a flag that must not be empty: `--database "$UNSET"` means nothing. */
function requireFilled(name: string, value: string): string {
  if (value.trim() === '')
    throw new InputError(`--${name} is empty.`, {
      hint: `Pass a value, or omit --${name}.`,
      code: 'empty-flag',
    })
  return value
}

/** The variables of settings, by the name of the flag that replaces them. */
const SETTING_VARIABLES = {
  service: 'INDICATOR_SYNC_SERVICE',
  'base-url': 'INDICATOR_SYNC_BASE_URL',
  database: 'INDICATOR_SYNC_DATABASE',
} as const

/** A setting from its flag, else from its variable; null where neither is set. */
const pick = (
  env: ReturnType<typeof environment>,
  name: keyof typeof SETTING_VARIABLES,
  flag: string | undefined,
): Setting<string> | null =>
  flag === undefined
    ? (env.get(SETTING_VARIABLES[name]) ?? null)
    : { value: requireFilled(name, flag), from: `flag --${name}` }

/** The same for a command that must not know the key: of the file `.env` this one line is kept. */
const pickAlone = (
  name: keyof typeof SETTING_VARIABLES,
  flag: string | undefined,
  directory: string,
): Setting<string> | null => pick(flag === undefined ? environment(directory) : new Map(), name, flag)

/** Where the database is, for a command that must not know the key. */
export const databaseSetting = (flag: string | undefined, directory = process.cwd()): Setting<string> =>
  databaseNamed(pickAlone('database', flag, directory))

/** Returns the service of a name; `generic` without one. */
function serviceNamed(named: Setting<string> | null): Setting<Service> {
  const { value, from } = named ?? { value: 'generic', from: 'default' }
  if (!SERVICE_NAMES.includes(value as ServiceName))
    throw new InputError(
      `${JSON.stringify(value)} (from ${from}) is not a known service; expected one of: ${SERVICE_NAMES.join(', ')}.${didYouMean(value, SERVICE_NAMES)}`,
      { code: 'unknown-service' },
    )
  return { value: SERVICES[value as ServiceName], from }
}

/** The service, for a command that must not know the key. */
export const serviceSetting = (directory = process.cwd()): Setting<Service> =>
  serviceNamed(pickAlone('service', undefined, directory))

/** Puts the settings together: flags over variables over `.env` over defaults. */
export function readSettings(flags: SettingFlags, directory = process.cwd()): Settings {
  const env = environment(directory)
  const service = serviceNamed(pick(env, 'service', flags.service))
  const { baseUrl, name } = service.value
  const url = pick(env, 'base-url', flags.baseUrl)
  const given = flags.apiKeyFile === undefined ? env.get('INDICATOR_SYNC_API_KEY') : readKeyFile(flags.apiKeyFile)
  // Whatever it is, it is not printed.
  if (given) rememberSecret(given.value)
  const plain = env.get('INDICATOR_SYNC_ALLOW_HTTP')
  return {
    service,
    baseUrl: url ? checkUrl(url) : baseUrl ? { value: baseUrl, from: `profile ${name}` } : null,
    key: given ? { ...given, value: given.value.trim() } : null,
    allowHttp: { value: /^(1|true|yes|on)$/i.test(plain?.value ?? ''), from: plain?.from ?? 'default' },
    database: databaseNamed(pick(env, 'database', flags.database)),
  }
}

/** Names that are not those of a database, with what they are. */
const NOT_DATABASES: readonly (readonly [RegExp, string])[] = [
  [/^:memory:$|^file:/i, 'is not a file'],
  [/[\\/]$/, 'is a directory'],
  [/\.lock$/i, 'is the lock file of a database'],
  [/-(?:wal|shm|journal)$/i, 'is the write-ahead log of a database'],
]

/** Addresses of other servers, and what other programs take for one of PostgreSQL. */
const OTHER_SERVER = /^(?!file:)[a-z][a-z\d+.-]+:\/\/|(?:^|\s)(?:host|dbname|user|password)\s*=/i

/** The database of a name; without one that of the default. */
const databaseNamed = (named: Setting<string> | null): Setting<string> =>
  checkDatabase(named ?? { value: DEFAULT_DATABASE, from: 'default' })

/** Refuses a name under which SQLite stores nothing, or something other than a file. From here on, the address of a server has no password. */
function checkDatabase(database: Setting<string>): Setting<string> {
  if (parseDatabase(database.value).folder === null) {
    const password = passwordIn(database.value)
    if (password !== undefined) {
      rememberSecret(password)
      // The driver and other processes of ours find it there.
      process.env.PGPASSWORD = password
    }
    return { ...database, value: shownAddress(database.value) }
  }
  if (OTHER_SERVER.test(database.value))
    // It may hold a password, and is not repeated.
    throw new InputError(`The database (from ${database.from}) is neither a file nor a PostgreSQL address.`, {
      hint: `Use a file, such as ${DEFAULT_DATABASE}, or a server: postgres://USER@HOST/DATABASE.`,
      code: 'bad-database',
    })
  const [, what] = NOT_DATABASES.find(([form]) => form.test(database.value)) ?? []
  if (what === undefined) return database
  throw new InputError(`The database ${JSON.stringify(database.value)} (from ${database.from}) ${what}.`, {
    hint: `Use a file, such as ${DEFAULT_DATABASE}, or a server: postgres://USER@HOST/DATABASE.`,
    code: 'bad-database',
  })
}

/** What a command needs that goes to the service. */
export interface Reached {
  readonly service: Service
  readonly baseUrl: string
  readonly key: string
  readonly allowHttp: boolean
}

/** The base URL and the key, for a command that goes to the service. */
export function requireService({ service, baseUrl, key, allowHttp }: Settings): Reached {
  if (!baseUrl)
    throw new InputError(`No base URL is set, and service ${service.value.name} has no default.`, {
      hint: `Pass --service ${LIVE} for the live service, or set INDICATOR_SYNC_BASE_URL. \`indicator-sync demo\` works without a service.`,
      code: 'no-base-url',
    })
  if (!key)
    throw new InputError('No API key is set.', {
      hint: 'Set INDICATOR_SYNC_API_KEY in the environment or in .env, or pass --api-key-file.',
      code: 'no-key',
    })
  return {
    service: service.value,
    baseUrl: baseUrl.value,
    key: checkKey(key.value, key.from, service.value.apiKey),
    allowHttp: allowHttp.value,
  }
}
