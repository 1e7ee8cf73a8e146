import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * The program as tests start it: as a package has it, which needs a third of the processor that a start from the files of a
 * clone does. Whoever needs it first in a run of the tests makes it. Outside of a run, and where coverage is measured, the
 * clone itself is started.
 */

/** The folder of the run for it: there is one in a run of the tests only. */
const ROOM = 'INDICATOR_SYNC_TEST_PROGRAM'

/** What users start. In a clone it runs the built program, if that is newer than the source. */
export const CLONE_BIN = resolve('src/cli/bin.js')
/** What starts from source. */
export const SOURCE_BIN = resolve('src/cli/main.ts')

/** Makes the room, and removes it with what is in it. */
export function setup(): () => void {
  if (process.env.NODE_V8_COVERAGE || process.argv.some((word) => word.startsWith('--coverage'))) return () => undefined
  const room = mkdtempSync(join(tmpdir(), 'indicator-sync-program-'))
  // Also another user starts it in tests.
  chmodSync(room, 0o755)
  process.env[ROOM] = room
  return () => rmSync(room, { recursive: true, force: true })
}

const room = process.env[ROOM]

/** Writes what a package has into a folder. */
function build(folder: string): void {
  execFileSync(process.execPath, [resolve('build/program.ts'), join(folder, 'dist')])
  cpSync(CLONE_BIN, join(folder, 'src/cli/bin.js'))
  for (const name of ['package.json', 'CHANGELOG.md']) cpSync(name, join(folder, name))
  for (const name of ['node_modules', 'jobs', 'docs']) symlinkSync(resolve(name), join(folder, name))
}

/** Makes a folder; false where it is there already. */
function isMadeByUs(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** A folder of the run, made by who needs it first; null outside of a run, and where coverage is measured. */
export function madeOnce(name: string, make: (folder: string) => void): string | null {
  if (room === undefined) return null
  const made = join(room, name)
  if (existsSync(made)) return made
  const part = `${made}.part`
  const idle = new Int32Array(new SharedArrayBuffer(4))
  // Who makes this folder fills it; all others wait until it has its name.
  while (!isMadeByUs(part)) {
    if (existsSync(made)) return made
    Atomics.wait(idle, 0, 0, 50)
  }
  try {
    if (!existsSync(made)) {
      make(part)
      renameSync(part, made)
    }
    return made
  } finally {
    // Where it cannot be made, the next one tries, and says why it cannot.
    rmSync(part, { recursive: true, force: true })
  }
}

/** The folder of the program; null where the clone is started. */
const builtProgram = (): string | null => madeOnce('program', build)

/** What Node is started with to run a command. */
export const programBin = (): string => {
  const built = builtProgram()
  return built === null ? SOURCE_BIN : join(built, 'src/cli/bin.js')
}

/** The address of a module of the program that something is begun with, for processes of tests themselves. */
export const programModule = (name: 'index' | 'main'): string => {
  const built = builtProgram()
  const source = { index: 'src/index.ts', main: 'src/cli/main.ts' } as const
  return pathToFileURL(built === null ? resolve(source[name]) : join(built, 'dist/program', `${name}.js`)).href
}

/** What the environment of a command has besides: what one compiled, the next one of the run finds. */
export const PROGRAM_ENV: Readonly<Record<string, string>> =
  room === undefined ? {} : { NODE_COMPILE_CACHE: join(room, 'compiled') }
