import {
  type BigIntStats,
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { InputError, StoreError } from './errors.ts'

/** Where a file is to be put, looked at before anything is made. */
export interface Target {
  /** As the user wrote it, for messages. */
  readonly said: string
  /** The true path: links are resolved, so that a link stays one. */
  readonly file: string
  /** What stands there now and may be replaced; null when nothing does. */
  readonly stands: BigIntStats | null
  /** A device or pipe, which is written into and never replaced. */
  readonly sink: boolean
  readonly how: Claim
}

/** Who may be replaced. */
export interface Claim {
  /** What is written, for messages: `an export`. */
  readonly what: string
  /** Replaces a file that is not known to be ours; never a database, a folder or what belongs to one. Left out where it cannot be said. */
  readonly overwrite?: boolean
  /** Files that are read to make this one. */
  readonly sources?: readonly string[]
  /** Removes what killed commands left beside the file, before anything is refused. */
  readonly tidy?: (file: string) => void
  /** Whether a file that stands there is of the same kind and was written by this program. */
  readonly ours: (file: string) => boolean
  /**
   * For what is a database itself. Answers whether the database at a path is a published copy: `yes`, `changed` since it was
   * made, or `no`. Without it no database is ever replaced.
   */
  readonly copy?: (file: string) => 'yes' | 'changed' | 'no'
}

/** What lies beside a database and is part of it. */
const LOGGED = ['-wal', '-shm', '-journal'] as const
const BESIDE = [...LOGGED, '.lock'] as const
const SQLITE = Buffer.from('SQLite format 3\0', 'latin1')
/** How logs begin: the write-ahead log in either order of bytes, and the rollback journal. */
const LOGS = ['377f0682', '377f0683', 'd9d505f920a163d7'].map((hex) => Buffer.from(hex, 'hex'))

const at = (file: string): BigIntStats | null => statSync(file, { bigint: true, throwIfNoEntry: false }) ?? null
const refuse = (message: string, hint: string, code = 'target-exists'): never => {
  throw new InputError(message, { hint, code })
}

/** The first bytes of a file, fewer where it is shorter. */
export function headOf(file: string, bytes: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const head = Buffer.alloc(bytes)
    return head.subarray(0, readSync(handle, head, 0, bytes, 0))
  } finally {
    closeSync(handle)
  }
}

/** Whether a file is a database of SQLite. */
export const isDatabase = (file: string): boolean => headOf(file, SQLITE.length).equals(SQLITE)

/** The true path of a file that need not be there; its folder must. */
function truePath(said: string): string {
  const path = resolve(said)
  const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  try {
    return link ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (link) return refuse(`${said} is a link that leads nowhere.`, 'Remove it, or name another file.')
    throw new InputError(`${said} cannot be written: ${code === 'ENOENT' ? 'its folder is not there' : code}.`, {
      hint: 'Name a file in a folder that is there and may be written.',
      code: 'cannot-write',
      cause: error,
    })
  }
}

/** Refuses names that are part of something else, whether a file of that name is there or not. */
function checkName(said: string, file: string, { what, copy }: Claim): void {
  for (const path of [resolve(said), file]) {
    if (/^\.env(\.|$)/i.test(basename(path)))
      refuse(`${said} is where settings and keys are kept; ${what} does not go there.`, 'Name another file.')
    for (const end of BESIDE)
      if (path.toLowerCase().endsWith(end) && at(path.slice(0, -end.length)) !== null)
        refuse(`${said} belongs to the database ${path.slice(0, -end.length)}.`, 'Name another file.', 'database')
  }
  for (const end of LOGGED)
    if (at(`${file}${end}`) !== null && (copy || at(file) !== null))
      refuse(
        `${said}${at(file) ? ` is there already, with ${end}: it` : `${end} is there: ${said}`} is a database in use, or was one.`,
        'Name another file; nothing was touched.',
        'database',
      )
}

/** Refuses what stands at a path, unless it may be replaced. */
function checkStanding(said: string, file: string, stands: BigIntStats, claim: Claim): void {
  const { what, overwrite, ours, copy } = claim
  const instead = overwrite === undefined ? 'Name another file.' : 'Name another file, or replace it: --overwrite.'
  if (stands.isDirectory()) refuse(`${said} is a folder; ${what} is a file.`, 'Name a file in it.', 'folder')
  if (!stands.isFile()) refuse(`${said} is a device or a socket.`, 'Name a file.')
  const head = headOf(file, SQLITE.length)
  if (LOGS.some((magic) => head.subarray(0, magic.length).equals(magic)))
    refuse(`${said} is the log of a database.`, 'Name another file.', 'database')
  if (head.equals(SQLITE)) {
    const state = copy ? copy(file) : 'no'
    if (state === 'no')
      refuse(
        copy
          ? `${said} is a database, and not a copy that \`publish\` made; only such a copy is replaced.`
          : `${said} is a database; ${what} does not replace one.`,
        'Name another file. If it can go, remove it yourself.',
        'database',
      )
    if (state === 'changed' && !overwrite) refuse(`${said} was written after it was published.`, instead)
    return
  }
  if (overwrite || ours(file)) return
  refuse(
    `${said} is there already and is not known as ${what} of the same form that this program wrote.`,
    `It was not touched. ${instead}`,
  )
}

/** Looks whether a file may be put at a path, and refuses where something would be lost. */
export function claim(said: string, how: Claim): Target {
  if (said.trim() === '') refuse('The name of the file is empty.', 'Name it.', 'empty-flag')
  if (/[\\/]$/.test(said)) refuse(`${said} names a folder; ${how.what} is a file.`, 'Name a file in it.', 'folder')
  const file = truePath(said)
  how.tidy?.(file)
  const stands = at(file)
  for (const source of how.sources ?? []) {
    const own = at(source)
    if (own && own.dev === stands?.dev && own.ino === stands.ino)
      refuse(`${said} is the database itself.`, 'Name another file.', 'same-file')
  }
  checkName(said, file, how)
  if (stands && !how.copy && (stands.isFIFO() || stands.isCharacterDevice()))
    return { said, file, stands, sink: true, how }
  if (stands) checkStanding(said, file, stands, how)
  return { said, file, stands, sink: false, how }
}

/** File systems without a second name for a file say one of these. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']

/** Puts a whole file in its place in one step; answers false, and does nothing, where something else stands there than was looked at. */
export function tryPut(part: string, { file, stands }: Target): boolean {
  const now = stands ? at(file) : null
  if (stands && now) {
    if (!(['dev', 'ino', 'size', 'mtimeNs'] as const).every((field) => now[field] === stands[field])) return false
    renameSync(part, file)
    return true
  }
  try {
    // A second name, unlike a new one, is refused where anything stands.
    linkSync(part, file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!NO_LINKS.includes(code)) throw error
    if (lstatSync(file, { throwIfNoEntry: false })) return false
    renameSync(part, file)
    return true
  }
  rmSync(part)
  return true
}

/** Puts a whole file in its place. What came there since the place was looked at is replaced only when it is ours as well. */
export function put(part: string, target: Target): void {
  let now = target
  // What is to be put there lies beside it: it is not tidied.
  const { tidy: _, ...how } = target.how
  for (let tries = 0; tries < 10; tries++) {
    if (tryPut(part, now)) return
    now = claim(target.said, how.overwrite === undefined ? how : { ...how, overwrite: false })
  }
  refuse(`${target.said} changes all the time.`, 'Name another file.', 'target-changed')
}

const WHY_NOT: Readonly<Record<string, string>> = {
  EIO: 'the disk failed',
  EFBIG: 'it may not grow as large as it has to (ulimit -f, or the largest file of the disk)',
}

/** Says in a sentence why a file could not be written: what the user can mend, or a disk that is full or broken. */
export function asWriteError(error: unknown, said: string): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error
  const code = String(error.code)
  if (['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(code))
    return new StoreError(`${said} cannot be written: ${WHY_NOT[code] ?? 'the disk is full'} (${code}).`, {
      hint: 'Make room and run the command again; what stood there was not touched.',
      code: 'disk',
      cause: error,
    })
  return new InputError(`${said} cannot be written: ${code}.`, {
    hint: 'Name a file in a folder that is there and may be written.',
    code: 'cannot-write',
    cause: error,
  })
}
