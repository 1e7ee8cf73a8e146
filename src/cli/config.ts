import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { checkKey } from '../api/key.ts'
import { SERVICE_NAMES, SERVICES, type Service, type ServiceName } from '../api/services.ts'
import { InputError } from '../base/errors.ts'
import { didYouMean } from '../base/suggest.ts'
import { rememberSecret } from './secrets.ts'

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
  readonly key: Setting<string> | null
  readonly database: Setting<string>
}

export const DEFAULT_DATABASE = 'data/indicator-sync.db'

/** The environment with what a `.env` file in the working directory adds; real variables win. */
function environment(directory: string): ReadonlyMap<string, Setting<string>> {
  const file = join(directory, '.env')
  const written = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
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

function checkUrl({ value, from }: Setting<string>): Setting<string> {
  const url = URL.canParse(value) ? new URL(value) : null
  if (
    !url ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw new InputError(`The base address ${JSON.stringify(value)} (from ${from}) is no address of a service.`, {
      hint: 'Give it as https://host or https://host/path, without user, query or fragment.',
      code: 'bad-base-url',
    })
  return { value: value.replace(/\/+$/, ''), from }
}

function readKeyFile(file: string): Setting<string> {
  try {
    return { value: checkKey(readFileSync(file, 'utf8')), from: `file ${file}` }
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`The key file ${file} cannot be read.`, { code: 'no-key-file', cause: error })
  }
}

/** The value of a flag that must not be empty: `--database "$UNSET"` means nothing. */
function filled(name: string, value: string): string {
  if (value.trim() === '')
    throw new InputError(`--${name} is empty.`, {
      hint: `Give it a value, or leave --${name} out.`,
      code: 'empty-flag',
    })
  return value
}

/** Puts the settings together: flags over variables over `.env` over defaults. */
export function readSettings(flags: SettingFlags, directory = process.cwd()): Settings {
  const env = environment(directory)
  const pick = (flag: string | undefined, name: string, variable: string): Setting<string> | null =>
    flag === undefined ? (env.get(variable) ?? null) : { value: filled(name, flag), from: `flag --${name}` }
  const named = pick(flags.service, 'service', 'INDICATOR_SYNC_SERVICE') ?? { value: 'generic', from: 'default' }
  if (!SERVICE_NAMES.includes(named.value as ServiceName))
    throw new InputError(
      `There is no service profile ${JSON.stringify(named.value)} (from ${named.from}); legal: ${SERVICE_NAMES.join(', ')}.${didYouMean(named.value, SERVICE_NAMES)}`,
      { code: 'unknown-service' },
    )
  const service: Service = SERVICES[named.value as ServiceName]
  const url = pick(flags.baseUrl, 'base-url', 'INDICATOR_SYNC_BASE_URL')
  const given = flags.apiKeyFile === undefined ? env.get('INDICATOR_SYNC_API_KEY') : readKeyFile(flags.apiKeyFile)
  const key = given ? { value: checkKey(given.value), from: given.from } : null
  if (key) rememberSecret(key.value)
  return {
    service: { value: service, from: named.from },
    baseUrl: url ? checkUrl(url) : service.baseUrl ? { value: service.baseUrl, from: `profile ${service.name}` } : null,
    key,
    database: pick(flags.database, 'database', 'INDICATOR_SYNC_DATABASE') ?? {
      value: DEFAULT_DATABASE,
      from: 'default',
    },
  }
}

/** The base address and the key, for a command that goes to the service. */
export function requireService({ service, baseUrl, key }: Settings): {
  service: Service
  baseUrl: string
  key: string
} {
  if (!baseUrl)
    throw new InputError('No base address is set, and the profile generic has none of its own.', {
      hint: 'Set INDICATOR_SYNC_BASE_URL or --base-url, or use --service esios for the live service. To try without a service: indicator-sync demo.',
      code: 'no-base-url',
    })
  if (!key)
    throw new InputError('No API key is set.', {
      hint: 'Set INDICATOR_SYNC_API_KEY (a .env file will do) or --api-key-file.',
      code: 'no-key',
    })
  return { service: service.value, baseUrl: baseUrl.value, key: key.value }
}
