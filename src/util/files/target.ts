import {
  type BigIntStats,
  closeSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { InputError, StoreError } from '../errors.ts'
import { describeSystemError } from '../systemErrors.ts'
import { partFileName } from './partFiles.ts'

/** A checked destination of a file. */
export interface Target {
  /** The path as the user wrote it, for messages. */
  readonly asWritten: string
  /** The path with resolved links, so that a link stays one. */
  readonly file: string
  /** Whether it is a device or pipe, which is never replaced. */
  readonly isStream: boolean
  readonly policy: ReplacePolicy
}

/** Which files may be replaced. */
export interface ReplacePolicy {
  /** What is written, for messages: `an export`. */
  readonly product: string
  /** `--overwrite`; undefined for commands without this flag. */
  readonly overwrite?: boolean
  /** Files that are read to make this one. */
  readonly sources?: readonly string[]
  /** Removes what killed commands left beside the file, before the checks. */
  readonly tidy?: (file: string) => void
  /** Whether an existing database may be replaced (default: no). */
  readonly isReplaceableDatabase?: (file: string) => boolean
}

/** Files beside a database that are part of it. */
const LOGGED = ['-wal', '-shm', '-journal'] as const
const COMPANIONS = [...LOGGED, '.lock'] as const
const SQLITE = Buffer.from('SQLite format 3\0', 'latin1')

const at = (file: string): BigIntStats | null => statSync(file, { bigint: true, throwIfNoEntry: false }) ?? null
const refuseTarget = (message: string, hint: string, code = 'target-exists'): never => {
  throw new InputError(message, { hint, code })
}

/** The first bytes of a file, or all of a shorter one. */
export function readHead(file: string, bytes: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const head = Buffer.alloc(bytes)
    return head.subarray(0, readSync(handle, head, 0, bytes, 0))
  } finally {
    closeSync(handle)
  }
}

/** The path with resolved links. The file may be missing, its folder not. */
function truePath(asWritten: string): string {
  const path = resolve(asWritten)
  const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  try {
    return link ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (link)
      return refuseTarget(
        `Cannot write ${asWritten}: it is a broken symbolic link.`,
        'Remove it, or choose another file.',
      )
    throw code === 'ENOENT'
      ? new InputError(`Cannot write ${asWritten}: its folder does not exist.`, {
          hint: 'Choose a file in an existing, writable folder.',
          code: 'cannot-write',
          cause: error,
        })
      : asWriteError(error, asWritten)
  }
}

/** Refuses names of settings and of files that belong to a database. */
function checkName(asWritten: string, file: string, { product, isReplaceableDatabase }: ReplacePolicy): void {
  for (const path of [resolve(asWritten), file]) {
    if (/^\.env(\.|$)/i.test(basename(path)))
      refuseTarget(
        `Cannot write ${product} to ${asWritten}: the name is reserved for settings and keys.`,
        'Choose another file.',
      )
    for (const end of COMPANIONS)
      if (path.toLowerCase().endsWith(end) && at(path.slice(0, -end.length)) !== null)
        refuseTarget(
          `Cannot write ${asWritten}: it belongs to the database ${path.slice(0, -end.length)}.`,
          'Choose another file.',
          'database',
        )
  }
  for (const end of LOGGED)
    if (at(`${file}${end}`) !== null && (isReplaceableDatabase || at(file) !== null))
      refuseTarget(
        `Cannot write ${asWritten}: ${asWritten}${end} exists, so it is or was a database in use.`,
        'Choose another file. Nothing was changed.',
        'database',
      )
}

/** Refuses an existing file, unless it may be replaced. */
function checkExisting(asWritten: string, file: string, existing: BigIntStats, policy: ReplacePolicy): void {
  const { product, overwrite, isReplaceableDatabase } = policy
  if (existing.isDirectory())
    refuseTarget(`Cannot write ${product} to ${asWritten}: it is a folder.`, 'Choose a file in it.', 'folder')
  if (!existing.isFile()) refuseTarget(`Cannot write ${asWritten}: it is a device or a socket.`, 'Choose a file.')
  if (readHead(file, SQLITE.length).equals(SQLITE) && !isReplaceableDatabase?.(file))
    refuseTarget(
      `Cannot write ${product} to ${asWritten}: it is a database.`,
      'Choose another file, or delete the database first.',
      'database',
    )
  if (!overwrite)
    refuseTarget(
      `Cannot write ${asWritten}: it exists.`,
      `Choose another file${overwrite === undefined ? '' : ', or pass --overwrite'}.`,
    )
}

/** Checks that a file may be written to a path. Throws InputError if something would be lost. */
export function prepareTarget(asWritten: string, policy: ReplacePolicy): Target {
  if (asWritten.trim() === '') refuseTarget('The file name is empty.', 'Pass a file name.', 'empty-flag')
  if (/[\\/]$/.test(asWritten))
    refuseTarget(`Cannot write ${policy.product} to ${asWritten}: it is a folder.`, 'Choose a file in it.', 'folder')
  const file = truePath(asWritten)
  policy.tidy?.(file)
  const existing = at(file)
  for (const source of policy.sources ?? []) {
    const stat = at(source)
    if (stat && stat.dev === existing?.dev && stat.ino === existing.ino)
      refuseTarget(`Cannot write ${asWritten}: it is the source database.`, 'Choose another file.', 'same-file')
  }
  checkName(asWritten, file, policy)
  if (existing && !policy.isReplaceableDatabase && (existing.isFIFO() || existing.isCharacterDevice()))
    return { asWritten, file, isStream: true, policy }
  if (existing) checkExisting(asWritten, file, existing, policy)
  return { asWritten, file, isStream: false, policy }
}

/** Moves a complete file to its target. The policy also applies to a file that appeared after the check. */
export function moveIntoPlace(part: string, { asWritten, policy }: Target): void {
  // Tidying would remove the complete file, which is beside its target.
  const { tidy: _, ...checks } = policy
  renameSync(part, prepareTarget(asWritten, checks).file)
}

/** Writes a file or database beside its target, and moves it there when it is complete. Returns the result of `write`. */
export async function writeInPlace<T>(target: Target, write: (part: string) => T | Promise<T>): Promise<T> {
  const part = partFileName(target.file)
  try {
    const result = await write(part)
    moveIntoPlace(part, target)
    return result
  } finally {
    for (const end of ['', ...LOGGED]) rmSync(`${part}${end}`, { force: true })
  }
}

/** Turns an error of writing a file into an expected one: a StoreError if the disk is full or broken. */
export function asWriteError(error: unknown, asWritten: string): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error
  const message = `Cannot write ${asWritten}: it ${describeSystemError(error)}.`
  if (['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(String(error.code)))
    return new StoreError(message, {
      hint: 'Free disk space and run the command again. The previous file was not changed.',
      code: 'disk',
      cause: error,
    })
  const hint = 'Choose a file in an existing, writable folder.'
  return new InputError(message, { hint, code: 'cannot-write', cause: error })
}
