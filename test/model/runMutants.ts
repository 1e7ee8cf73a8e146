/*
 * Undoes repairs one by one in copies of the program: `npm run test:model -- --mutants`. The model must find every
 * fault, or the tests that the fault names.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { MUTANTS, type Mutant } from './formerFaults.ts'

/** The result for a mutant; `stale`: its text no longer exists. */
export interface Fate {
  readonly mutant: Mutant
  readonly isKilled: boolean
  readonly stale: boolean
  /** The sequence or the test that found it, and its message. */
  readonly message: string
}

type Result = Pick<Fate, 'isKilled' | 'message'>

/** Runs a script in a folder, and returns its exit code and output. */
function runNode(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      out += data
    })
  return new Promise<{ code: number | null; out: string }>((done) => child.on('close', (code) => done({ code, out })))
}

/** Runs tests in a folder until one fails. */
async function runTests(folder: string, tests: readonly string[]): Promise<Result> {
  const args = ['run', '--bail', '1', '--config', 'test/mutate/vitest.config.ts']
  const env = { ...process.env, MUTATE_TESTS: tests.join(','), NO_COLOR: '1' }
  const { code, out } = await runNode(folder, ['node_modules/vitest/vitest.mjs', ...args], env)
  return { isKilled: code !== 0, message: code === 0 ? '' : (/^ *FAIL +(.*)$/m.exec(out)?.[1] ?? out.slice(-300)) }
}

/** Runs the sequences in a folder until one fails. */
async function runSequences(folder: string, seeds: number, without: string, but: readonly number[]): Promise<Result> {
  const args = ['--seed', '1', '--seeds', String(seeds), '--without', without, '--but', but.join()]
  const { code, out } = await runNode(folder, ['test/model/nightly.ts', ...args])
  if (code === 0) return { isKilled: false, message: '' }
  return { isKilled: true, message: /^FAULT seed \d+: .*$/m.exec(out)?.[0] ?? out.split('\n')[0] ?? '' }
}

/** Undoes every repair, or those with a word in their name or file, and prints which sequence reveals it. */
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
    const isSelected = ({ name, edits }: Mutant): boolean =>
      name.includes(word) || edits.some(({ file }) => file.includes(word))
    for (const mutant of MUTANTS.filter(isSelected)) {
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
      const found = stale
        ? { isKilled: false, message: '' }
        : mutant.tests
          ? await runTests(folder, mutant.tests)
          : await runSequences(folder, seeds, without, but)
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
