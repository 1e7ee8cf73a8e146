/*
 * Builds the program after `npm ci`, so that commands start quickly; without a build they run from source. Builds nothing without
 * the development packages, or on a Node that cannot run TypeScript.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (existsSync(new URL('../node_modules/rolldown', import.meta.url))) {
  const { status } = spawnSync(process.execPath, ['build/program.ts'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) process.stderr.write('The program was not built; commands run from source.\n')
}
