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
const { existsSync, mkdirSync } = await import('node:fs')
const { enableCompileCache } = await import('node:module')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
// The next command uses what this one compiles: the cache is in the system's temporary folder. The folder of the cache is made here,
// which fails at once where there is no temporary folder; Node would make that one too, or never stop trying.
const cache = join(tmpdir(), 'node-compile-cache')
try {
  if (!existsSync(cache)) mkdirSync(cache)
  enableCompileCache(cache)
} catch {
  // Without a cache everything works, only slower.
}
// A clone has the source and runs it as it is; a package has only what was built of it.
const source = new URL('./main.ts', import.meta.url)
const [folder, ending] = existsSync(source) ? ['.', 'ts'] : ['../../dist/program', 'js']
const { main } = await import(new URL(`${folder}/main.${ending}`, import.meta.url).href)
await main()
