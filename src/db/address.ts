import { dirname } from 'node:path'
import { StoreError } from '../base/errors.ts'

/** Whether the name of a database is an address on a server, and not a path. */
export const isAddress = (name: string): boolean => /^postgres(ql)?:\/\//i.test(name)

/** What code that does not open a database needs to know of where it lies. */
export interface DatabasePlace {
  /** Whether machines share it: their workers take requests from its queue, and they take turns to call a host. */
  readonly isShared: boolean
  /** Whether a server looks after its bytes: it checks them, and keeps its log. */
  readonly isServed: boolean
  /** The folder that it lies in, where other files go beside it; null where it lies in none. */
  readonly folder: string | null
}

const ON_SERVER: DatabasePlace = { isShared: true, isServed: true, folder: null }
const IN_FILE: Omit<DatabasePlace, 'folder'> = { isShared: false, isServed: false }

/** Where a database lies, by its name. */
export const placeOf = (name: string): DatabasePlace =>
  isAddress(name) ? ON_SERVER : { ...IN_FILE, folder: dirname(name) }

/**
 * Addresses as they were given, by the form in which they are shown. No message contains the password, but it is needed to
 * connect again.
 */
const given = new Map<string, string>()

function parse(address: string): URL {
  try {
    return new URL(address)
  } catch (error) {
    // What cannot be parsed may hold a password, so it is not repeated.
    throw new StoreError('The address of the database cannot be read.', {
      hint: 'Write it as postgres://USER@HOST:PORT/DATABASE; what is not plain letters in a password is written as %XX, or stands in PGPASSWORD or in ~/.pgpass.',
      code: 'bad-address',
      cause: error instanceof Error ? error.message.replace(address, '…') : error,
    })
  }
}

/** Parameters of an address that name files and modes; no other parameter is shown. */
const SHOWN = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/** An address without its password, for messages. `givenAddress` finds the whole address by it. */
export function shownAddress(address: string): string {
  if (given.has(address)) return address
  const url = parse(address)
  const shown = new URL(url)
  shown.password = ''
  for (const name of [...shown.searchParams.keys()]) if (!SHOWN.includes(name)) shown.searchParams.delete(name)
  given.set(shown.href, address)
  return shown.href
}

/** The whole address, as it was given, of one that is shown. */
export const givenAddress = (shown: string): string => given.get(shown) ?? shown

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
  const { password, searchParams } = parse(address)
  return decodeURIComponent(password) || (searchParams.get('password') ?? undefined)
}

/** The name of a database as it is shown: an address without its password, a path as it is. */
export const shownName = (name: string): string => (isAddress(name) ? shownAddress(name) : name)
