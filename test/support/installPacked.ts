import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { madeOnce } from './builtProgram.ts'

const node = process.execPath
const tsc = resolve('node_modules/typescript/bin/tsc')
/** The sources of a package; everything else is excluded from the copy. */
const SOURCES = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'CHANGELOG.md', 'LICENSE', 'README.md']
const FOLDERS = ['src', 'migrations', 'jobs', 'docs']
const APP = 'node_modules/indicator-sync'

interface LockedPackage {
  readonly dev?: boolean
}

/**
 * Creates a project that has this program as an installed package, built and packed by npm, with its runtime
 * dependencies only. Returns the folder of the package. The first test of a run creates it, the others copy it.
 */
export function installPacked(folder: string): string {
  const made = madeOnce('packed', install)
  if (made === null) install(folder)
  else cpSync(made, folder, { recursive: true, verbatimSymlinks: true })
  return join(folder, APP)
}

function install(folder: string): void {
  const copy = join(folder, 'source')
  for (const name of [...SOURCES, ...FOLDERS]) cpSync(name, join(copy, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  execFileSync(node, [tsc, '-p', 'tsconfig.build.json'], { cwd: copy })
  execFileSync(node, ['build/program.ts', join(copy, 'dist')])
  // Already built above, because npm would do the same through a shell.
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: copy, stdio: 'pipe' })
  const archive = readdirSync(copy).find((name) => name.endsWith('.tgz'))!
  const app = join(folder, APP)
  mkdirSync(app, { recursive: true })
  execFileSync('tar', ['xzf', join(copy, archive), '-C', app, '--strip-components=1'])
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  for (const [path, { dev = false }] of Object.entries(lock.packages)) {
    if (path === '' || dev || path.split('node_modules/').length > 2) continue
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    symlinkSync(resolve(path), join(folder, path))
  }
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n')
}

/** Compiles the files of a folder in the strictest mode and returns the compiler output. */
export function compileStrictly(folder: string, files: readonly string[]): string {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  try {
    return execFileSync(node, [tsc, '-p', 'tsconfig.json', '--pretty', 'false'], { cwd: folder, encoding: 'utf8' })
  } catch (error) {
    return String((error as { stdout: string }).stdout)
  }
}

/** Runs Node in a folder without the environment of the tests, and returns its output. */
export const runNode = (folder: string, args: readonly string[]): string =>
  execFileSync(node, args, { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH ?? '', HOME: folder } })
