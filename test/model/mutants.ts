/*
 * Undoes repairs one by one in copies of the program: `npm run test:model -- --mutants`. The model must find every
 * fault.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { MUTANTS, type Mutant } from './repairs.ts'

/** The result for a mutant: the first sequence that found it, or none; `stale`: its text no longer exists. */
export interface Fate {
  readonly mutant: Mutant
  readonly seed: number | null
  readonly stale: boolean
  readonly said: string
}

/** Runs the sequences in a directory and returns the first that fails. */
function firstFailure(
  folder: string,
  seeds: number,
  without: string,
  but: readonly number[],
): Promise<{ seed: number | null; said: string }> {
  const args = [
    'test/model/nightly.ts',
    '--from',
    '1',
    '--seeds',
    String(seeds),
    '--without',
    without,
    '--but',
    but.join(),
  ]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  child.stdout.on('data', (data) => {
    out += data
  })
  child.stderr.on('data', (data) => {
    out += data
  })
  return new Promise((done) =>
    child.on('close', (code) => {
      const found = /^seed (\d+): (.*)$/m.exec(out)
      if (found) done({ seed: Number(found[1]), said: found[2]! })
      else done({ seed: code === 0 ? null : 0, said: code === 0 ? '' : (out.split('\n')[0] ?? '') })
    }),
  )
}

/** Undoes every repair (or those whose name contains a word) and prints which sequence reveals it. */
export async function runMutants(
  seeds: number,
  word: string,
  without: string,
  but: readonly number[],
  tell: (fate: Fate) => void,
): Promise<Fate[]> {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-mutants-'))
  const fates: Fate[] = []
  try {
    for (const part of ['src', 'migrations', 'test', 'package.json'])
      cpSync(part, join(folder, part), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    for (const mutant of MUTANTS.filter(({ name }) => name.includes(word))) {
      const isThere = mutant.edits.every(({ file }) => existsSync(join(folder, file)))
      const stale =
        !isThere || mutant.edits.some(({ file, find }) => !readFileSync(join(folder, file), 'utf8').includes(find))
      const before = mutant.edits
        .filter(({ file }) => existsSync(join(folder, file)))
        .map(({ file }) => [file, readFileSync(join(folder, file), 'utf8')] as const)
      if (!stale)
        for (const { file, find, put } of mutant.edits) {
          const path = join(folder, file)
          writeFileSync(path, readFileSync(path, 'utf8').replace(find, put))
        }
      const found = stale ? { seed: null, said: '' } : await firstFailure(folder, seeds, without, but)
      for (const [file, text] of before) writeFileSync(join(folder, file), text)
      const fate = { mutant, stale, ...found }
      fates.push(fate)
      tell(fate)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return fates
}
