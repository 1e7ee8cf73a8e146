/*
 * Undoes repairs one by one in copies of the program: `npm run test:model -- --mutants`. The model must find every
 * fault, or the tests that the fault names.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { MUTANTS, type Mutant } from './formerFaults.ts'

/** What became of a mutant; `STALE`: its text no longer exists. */
export interface MutantResult {
  readonly mutant: Mutant
  readonly fate: 'killed' | 'SURVIVED' | 'STALE'
  /** The sequence or the test that found it, and its message. */
  readonly message: string
}

type Result = Omit<MutantResult, 'mutant'>

const SURVIVED: Result = { fate: 'SURVIVED', message: '' }
const STALE: Result = { fate: 'STALE', message: '' }

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
  if (code === 0) return SURVIVED
  return { fate: 'killed', message: /^ *FAIL +(.*)$/m.exec(out)?.[1] ?? out.slice(-300) }
}

/** Runs the sequences in a folder until one fails. */
async function runSequences(folder: string, seeds: number, without: string, but: readonly number[]): Promise<Result> {
  const args = ['--seed', '1', '--seeds', String(seeds), '--without', without, '--but', but.join()]
  const { code, out } = await runNode(folder, ['test/model/nightly.ts', ...args])
  if (code === 0) return SURVIVED
  return { fate: 'killed', message: /^FAULT seed \d+: .*$/m.exec(out)?.[0] ?? out.split('\n')[0] ?? '' }
}

/** Applies the edits of a mutant in a folder. Returns a function that restores the files; null if a text no longer exists. */
function applyMutant(folder: string, { edits }: Mutant): (() => void) | null {
  const files = [...new Set(edits.map(({ file }) => join(folder, file)))]
  if (!files.every((path) => existsSync(path))) return null
  const before = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))
  const after = new Map(before)
  for (const { file, find, put } of edits) {
    const path = join(folder, file)
    const text = after.get(path)!
    if (!text.includes(find)) return null
    after.set(
      path,
      text.replace(find, () => put),
    )
  }
  for (const [path, text] of after) writeFileSync(path, text)
  return () => {
    for (const [path, text] of before) writeFileSync(path, text)
  }
}

/** Undoes every repair, or those with a word in their name or file, and prints which sequence reveals it. */
export async function runMutants(
  seeds: number,
  word: string,
  without: string,
  but: readonly number[],
  tell: (result: MutantResult) => void,
): Promise<MutantResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-mutants-'))
  const results: MutantResult[] = []
  const isSelected = ({ name, edits }: Mutant): boolean =>
    name.includes(word) || edits.some(({ file }) => file.includes(word))
  const runMutant = async (mutant: Mutant): Promise<Result> => {
    const restore = applyMutant(folder, mutant)
    if (!restore) return STALE
    try {
      if (mutant.tests) return await runTests(folder, mutant.tests)
      return await runSequences(folder, seeds, without, but)
    } finally {
      restore()
    }
  }
  try {
    for (const part of ['src', 'migrations', 'test', 'package.json'])
      cpSync(part, join(folder, part), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    for (const mutant of MUTANTS.filter(isSelected)) {
      const result = { mutant, ...(await runMutant(mutant)) }
      results.push(result)
      tell(result)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return results
}
