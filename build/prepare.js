/*
 * Builds the program after `npm ci`, so that commands start quickly; without it they run from source. An installation without
 * the packages for development, or on a Node that cannot run TypeScript, stays without it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (existsSync(new URL('../node_modules/rolldown', import.meta.url))) {
  const { status } = spawnSync(process.execPath, ['build/program.ts'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) process.stderr.write('The program was not built; commands run from source.\n')
}
