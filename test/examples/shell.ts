import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PROGRAM_ENV, programBin } from '../support/builtProgram.ts'
import { tempFolder } from '../support/kit.ts'

/** The Python interpreter of the examples, with the packages of their comments. */
export const PYTHON = process.env.PYTHON ?? 'python3'

/** Copies the examples and adds a folder with the command. */
export function examples(): { readonly dir: string; readonly bin: string } {
  const folder = tempFolder()
  cpSync('examples', join(folder, 'examples'), { recursive: true })
  appendFileSync(join(folder, 'examples/prices.yaml'), 'pace: { perSecond: 50 }\n')
  writeFileSync(join(folder, 'indicator-sync'), `#!/bin/sh\nexec '${process.execPath}' '${programBin()}' "$@"\n`, {
    mode: 0o755,
  })
  return { dir: join(folder, 'examples'), bin: folder }
}

/** Runs a program in the folder of the examples. */
export async function run(
  { dir, bin }: ReturnType<typeof examples>,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(program, args, {
    cwd: dir,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: dir, PYTHON, ...PROGRAM_ENV, ...env },
  })
  child.stdin.end()
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}
