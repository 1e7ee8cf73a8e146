import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type pg from 'pg'
import type PgConnectionString from 'pg-connection-string'
import { StoreError } from '../../../util/errors.ts'
import { loadPackage } from '../../../util/package.ts'
import { createAddressError, parseAddress } from '../../address.ts'

// biome-ignore lint/style/noProcessEnv: the driver itself reads these variables.
const variables = process.env

/** Settings of TLS in the address or the variables (PGSSLMODE …). */
const CERTIFICATE_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const
const IDENTITY_SETTINGS = ['sslmode', ...CERTIFICATE_FILES] as const
const MODES: readonly string[] = ['disable', 'require', 'verify-ca', 'verify-full']

/** The certificate authorities of Node. */
const SYSTEM_AUTHORITIES = 'system'

function requireReadable(name: string, file: string): void {
  try {
    readFileSync(file)
  } catch (error) {
    throw new StoreError(`Cannot read the file of ${name}: ${(error as Error).message}.`, {
      hint: 'Use the absolute path of a file that this user can read.',
      code: 'tls-file',
      cause: error,
    })
  }
}

/** Sets TLS from the address or the variables. Refuses modes that the driver understands differently. */
function setTls({ searchParams }: URL, isSocket: boolean): void {
  if (!isSocket)
    for (const name of IDENTITY_SETTINGS) {
      const variable = variables[`PG${name.toUpperCase()}`]
      if (variable && !searchParams.has(name) && (name === 'sslmode' || searchParams.has('sslmode')))
        searchParams.set(name, variable)
    }
  const mode = searchParams.get('sslmode')
  const root = searchParams.get('sslrootcert')
  if (mode !== null && !MODES.includes(mode))
    throw createAddressError(
      `sslmode=${mode} is not supported.`,
      'Use disable, require, verify-ca or verify-full. Modes that fall back to an unencrypted connection are not supported.',
    )
  if (root === SYSTEM_AUTHORITIES) {
    if (mode !== 'verify-full')
      throw createAddressError(
        'sslrootcert=system needs sslmode=verify-full.',
        'Otherwise any certificate of a public authority would be accepted.',
      )
    searchParams.delete('sslrootcert')
  } else if (mode === 'verify-ca' && root === null)
    throw createAddressError(
      'sslmode=verify-ca needs sslrootcert.',
      'Set sslrootcert=FILE, or use sslmode=verify-full, which trusts public authorities.',
    )
  for (const name of CERTIFICATE_FILES) {
    const file = searchParams.get(name)
    if (file) requireReadable(name, file)
  }
  // Otherwise the driver makes some modes stricter.
  if (mode !== null) searchParams.set('uselibpqcompat', 'true')
}

/**
 * The settings of the driver for an address. Modes of TLS have the meaning of libpq, and modes that permit connections without
 * encryption are refused. The driver reads the other variables (PGHOST, PGPASSWORD, PGPASSFILE …).
 */
export function driverConfig(address: string): pg.ClientConfig {
  const url = parseAddress(address)
  const { searchParams } = url
  searchParams.delete('pooling')
  const port = searchParams.get('port') || url.port || variables.PGPORT || '5432'
  if (!/^\d{1,5}$/.test(port)) throw createAddressError(`PGPORT ${port} is not a number.`)
  const host = searchParams.get('host') || decodeURIComponent(url.hostname) || variables.PGHOST
  setTls(url, host?.startsWith('/') ?? false)
  const { parseIntoClientConfig } = loadPackage<typeof PgConnectionString>('pg-connection-string')
  const config = parseIntoClientConfig(url.href)
  // The parser does not decode %2F, %3F and others in the name of a database.
  const database = decodeURIComponent(url.pathname.slice(1))
  return {
    ...config,
    user: config.user || variables.PGUSER || userInfo().username,
    ...(database === '' ? {} : { database }),
  }
}
