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
// Answers are large and soon thrown away: a small heap needs a third less memory than the defaults for a tenth of the speed,
// and the network is slower than either (docs/decisions/006-speed.md). Such options are for the command line of Node: commands
// that fetch begin once more in this same process with them, where the system can do that and nobody has set others.
const HEAP = ['--max-semi-space-size=4', '--optimize-for-size']
const FETCHING = ['sync', 'backfill', 'restate', 'retry', 'schedule', 'replay', 'demo']
const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
if (
  process.argv.some((word) => FETCHING.includes(word)) &&
  !/semi[-_]space|optimize[-_]for[-_]size/.test(given) &&
  process.execve &&
  process.platform !== 'win32' &&
  !process.send
)
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...HEAP, ...process.argv.slice(1)],
    process.env,
  )
const { existsSync, mkdirSync } = await import('node:fs')
const { enableCompileCache } = await import('node:module')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
// What was compiled once is not compiled again by the next command; kept in the system's temporary folder. Where that is none,
// Node would make it wherever it is said to be, or try for ever.
const cache = join(tmpdir(), 'node-compile-cache')
try {
  if (!existsSync(cache)) mkdirSync(cache)
  enableCompileCache(cache)
} catch {
  // It is as well without.
}
const built = new URL('../../dist/src/cli/main.js', import.meta.url)
const source = new URL('./main.ts', import.meta.url)
// A clone has the source and runs it as it is; a package has only what was built of it.
const { main } = await import((existsSync(source) ? source : built).href)
await main()
