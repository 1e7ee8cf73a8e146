import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * The program that tests start: bundled like the package, which starts with a third of the CPU time of a clone. The
 * first test of a run that needs it builds it. Outside a run, and with coverage, the clone is started.
 */

/** The variable with the folder of the bundle, set only in a test run. */
const ROOM = 'INDICATOR_SYNC_TEST_PROGRAM'

/** The entry point of users, which in a clone prefers a newer build to the source. */
export const CLONE_BIN = resolve('src/cli/bin.js')
/** The entry point from source. */
export const SOURCE_BIN = resolve('src/cli/main.ts')

/** Creates the folder and returns a function to delete it. */
export function setup(): () => void {
  if (process.env.NODE_V8_COVERAGE || process.argv.some((word) => word.startsWith('--coverage'))) return () => undefined
  const room = mkdtempSync(join(tmpdir(), 'indicator-sync-program-'))
  // Some tests start it as another user.
  chmodSync(room, 0o755)
  process.env[ROOM] = room
  return () => rmSync(room, { recursive: true, force: true })
}

const room = process.env[ROOM]

/** Writes the contents of a package into a folder. */
function build(folder: string): void {
  execFileSync(process.execPath, [resolve('build/program.ts'), join(folder, 'dist')])
  cpSync(CLONE_BIN, join(folder, 'src/cli/bin.js'))
  for (const name of ['package.json', 'CHANGELOG.md']) cpSync(name, join(folder, name))
  for (const name of ['node_modules', 'jobs', 'docs']) symlinkSync(resolve(name), join(folder, name))
}

/** Creates a folder; false if it exists. */
function isMadeByUs(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns a folder that the first caller of a run creates; null outside a run and with coverage. */
export function madeOnce(name: string, make: (folder: string) => void): string | null {
  if (room === undefined) return null
  const made = join(room, name)
  if (existsSync(made)) return made
  const part = `${made}.part`
  const idle = new Int32Array(new SharedArrayBuffer(4))
  // The process that creates the folder fills it; others wait until it is renamed.
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
    // After a failure, the next process tries and reports the error.
    rmSync(part, { recursive: true, force: true })
  }
}

/** The folder of the bundle; null if the clone is started. */
const builtProgram = (): string | null => madeOnce('program', build)

/** The entry point of commands. */
export const programBin = (): string => {
  const built = builtProgram()
  return built === null ? SOURCE_BIN : join(built, 'src/cli/bin.js')
}

/** Returns the URL of a program module for processes of tests. */
export const programModule = (name: 'index' | 'main'): string => {
  const built = builtProgram()
  const source = { index: 'src/index.ts', main: 'src/cli/main.ts' } as const
  return pathToFileURL(built === null ? resolve(source[name]) : join(built, 'dist/program', `${name}.js`)).href
}

/** Additional environment of a command: a compile cache shared by the commands of a run. */
export const PROGRAM_ENV: Readonly<Record<string, string>> =
  room === undefined ? {} : { NODE_COMPILE_CACHE: join(room, 'compiled') }
