#!/usr/bin/env node
// Runs on any Node, however old, so that an unsupported one gets a sentence instead of a crash.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `indicator-sync needs Node 22.18 or newer, but this is Node ${process.versions.node}: ` +
      'install a newer one, or run `npm ci` in a clone, where `npx indicator-sync` brings its own.\n',
  )
  process.exit(2)
}
const { existsSync, mkdirSync, readdirSync, statSync } = await import('node:fs')
const { enableCompileCache } = await import('node:module')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
const { pathToFileURL } = await import('node:url')
// The next command uses what this one compiles: the cache is in the system's temporary folder. The folder of the cache is made here,
// which fails at once where there is no temporary folder; Node would make that one too, or never stop trying.
const cache = join(tmpdir(), 'node-compile-cache')
try {
  if (!existsSync(cache)) mkdirSync(cache)
  enableCompileCache(cache)
} catch {
  // Without a cache everything works, only slower.
}
const root = join(import.meta.dirname, '../..')
const built = join(root, 'dist/program/main.js')

/** Whether the built program exists and is newer than every source file. A package has no source files. */
function isBuilt() {
  if (!existsSync(join(root, 'src/cli/main.ts'))) return true
  if (!existsSync(built)) return false
  const { mtimeMs } = statSync(built)
  const paths = ['src', 'migrations'].flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)),
  ])
  // Also a folder, whose time changes when a file is removed from it; undefined if a file has just gone.
  return ['package-lock.json', ...paths].every(
    (path) => (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < mtimeMs,
  )
}

const { main } = await import(isBuilt() ? pathToFileURL(built).href : './main.ts')
await main()
