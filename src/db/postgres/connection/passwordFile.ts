import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../../../base/errors.ts'
import { serverVariables } from '../../address.ts'

/** Whom a password is wanted for, as a line of the file says it. */
export interface Account {
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
}

const IS_WINDOWS = process.platform === 'win32'

/** The file in which the programs of PostgreSQL look for passwords; undefined where there is none for this user. */
function passwordFile({ PGPASSFILE, HOME, APPDATA }: ReturnType<typeof serverVariables>): string | undefined {
  if (PGPASSFILE) return PGPASSFILE
  const [folder, name] = IS_WINDOWS ? [APPDATA, 'postgresql/pgpass.conf'] : [HOME, '.pgpass']
  return folder ? join(folder, name) : undefined
}

/** `host:port:database:user:password`; a `:` or `\` in a field stands behind a `\`. */
const PASSWORD_LINE = /^((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):(.+)$/

const unescapedField = (field: string): string => field.replace(/\\(.)/g, '$1')

/** The password of the first line that names an account. */
export function passwordOf(text: string, { host, port, database, user }: Account): string | undefined {
  const wanted = [host.startsWith('/') ? 'localhost' : host, port, database, user]
  for (const line of text.split(/\r?\n/)) {
    const [, ...fields] = line.startsWith('#') ? [] : (PASSWORD_LINE.exec(line) ?? [])
    const fits = wanted.every(
      (want, i) => fields[i] === '*' || (fields[i] !== undefined && unescapedField(fields[i]) === want),
    )
    if (fits) return unescapedField(fields[4]!)
  }
  return undefined
}

/** The password of an account in the file of passwords. One that others may read is not used, as no program of PostgreSQL uses it. */
export function filedPassword(account: Account, variables = serverVariables()): string | undefined {
  const file = passwordFile(variables)
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (file === undefined || !found?.isFile()) return undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new StoreError(`The file of passwords cannot be read: ${(error as Error).message}.`, {
      hint: 'Give it to this user alone (chown, chmod 600), or name another one with PGPASSFILE.',
      code: 'password-file',
      cause: error,
    })
  }
  const password = passwordOf(text, account)
  if (password === undefined || IS_WINDOWS || (found.mode & 0o077) === 0) return password
  throw new StoreError(`The file of passwords ${file} may be read by others, and is not used.`, {
    hint: `Once: chmod 600 ${file}. Who could read it has the password; PGPASSFILE names another file.`,
    code: 'password-file',
  })
}
