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
const { existsSync } = await import('node:fs')
const { enableCompileCache } = await import('node:module')
const { setFlagsFromString } = await import('node:v8')
// Answers are large and soon thrown away: a small heap, and no compiler that works beside and keeps its memory, save half of
// what the defaults need for less than a tenth of the speed, and the network is slower than either. The same for WebAssembly,
// which reads the heads of answers and takes the types off a clone's TypeScript: compiled once and quickly, not again and well.
for (const flag of [
  '--optimize-for-size',
  '--semi-space-growth-factor=1',
  '--no-maglev',
  '--no-concurrent-recompilation',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
])
  setFlagsFromString(flag)
// What was compiled once is not compiled again by the next command; kept in the system's temporary folder.
enableCompileCache()
const built = new URL('../../dist/src/cli/main.js', import.meta.url)
const source = new URL('./main.ts', import.meta.url)
// A clone has the source and runs it as it is; a package has only what was built of it.
const { main } = await import((existsSync(source) ? source : built).href)
await main()
