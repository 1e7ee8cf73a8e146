#!/usr/bin/env node
// Runs on any Node, however old, so that an unsupported one gets a sentence instead of a crash.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `indicator-sync needs Node 22.18 or newer; this is Node ${process.versions.node}. ` +
      'In a clone run `npm ci` and use `npx indicator-sync`, which brings its own; otherwise install a newer Node.\n',
  )
  process.exit(2)
}
const { existsSync, mkdirSync } = await import('node:fs')
const { enableCompileCache } = await import('node:module')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
// What stays up beside others keeps small what is young. Said before the cache is opened: what was compiled under other options is of
// no use.
if (process.argv[2] === 'serve') (await import('node:v8')).setFlagsFromString('--semi-space-growth-factor=1')
// What was compiled once is not compiled again by the next command; kept in the system's temporary folder. Where that is none,
// Node would make it wherever it is said to be, or try for ever.
const cache = join(tmpdir(), 'node-compile-cache')
try {
  if (!existsSync(cache)) mkdirSync(cache)
  enableCompileCache(cache)
} catch {
  // It is as well without.
}
// A clone has the source and runs it as it is; a package has only what was built of it.
const source = new URL('./main.ts', import.meta.url)
const [folder, ending] = existsSync(source) ? ['.', 'ts'] : ['../../dist/program', 'js']
const load = (name) => import(new URL(`${folder}/${name}.${ending}`, import.meta.url).href)
const { canShrinkHeap, shrinkHeap } = await load('heap')
const { isFetching, main } = await load('main')
if (isFetching(process.argv) && canShrinkHeap()) shrinkHeap()
await main()
