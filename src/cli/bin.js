#!/usr/bin/env node
// Runs on any Node, to refuse an unsupported one with a message.
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
// Keeps the compiled code for the next command. Without a temporary folder, `mkdirSync` fails; Node itself would create that folder.
const cache = join(tmpdir(), 'node-compile-cache')
try {
  if (!existsSync(cache)) mkdirSync(cache)
  enableCompileCache(cache)
} catch {
  // Everything works without a cache, only slower.
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
  // The time of a folder changes when a file is removed from it. Undefined: the file was just removed.
  return ['package-lock.json', ...paths].every(
    (path) => (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < mtimeMs,
  )
}

const { main } = await import(isBuilt() ? pathToFileURL(built).href : './main.ts')
await main()
