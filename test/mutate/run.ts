/*
 * Mutation testing: changes the files of `files.ts` slightly and lists changes that no test notices. Arguments select
 * files; default: all. Installs Stryker in this folder on first use.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startCampaign } from '../support/campaign.ts'
import { FILES } from './files.ts'

/** A change of a file, and the test result. */
interface Mutant {
  readonly fileName: string
  readonly status: 'Killed' | 'Survived' | 'NoCoverage' | 'Timeout' | 'CompileError' | 'RuntimeError' | 'Ignored'
  readonly mutatorName: string
  readonly replacement: string
  readonly location: { readonly start: { readonly line: number; readonly column: number } }
}
type Stryker = new (options: object) => { runMutationTest(): Promise<readonly Mutant[]> }

const here = import.meta.dirname

/** Loads Stryker, which is installed only for this script. */
async function loadStryker(): Promise<Stryker> {
  const core = join(here, 'node_modules/@stryker-mutator/core')
  if (!existsSync(core))
    // Without peers, because the tests run in the project's vitest.
    execFileSync(
      'npm',
      ['install', '--omit=peer', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', here],
      { stdio: 'inherit' },
    )
  const { Stryker } = (await import(pathToFileURL(join(core, 'dist/src/index.js')).href)) as { Stryker: Stryker }
  return Stryker
}

const { words, say, end } = await startCampaign({
  script: 'test:mutate',
  about: 'Changes files slightly, and lists the changes that no test notices.',
  words: '[files]',
})
const unknown = words.filter((file) => !Object.hasOwn(FILES, file))
if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(', ')}: not in test/mutate/files.ts; legal: ${Object.keys(FILES).join(', ')}\n`)
  process.exit(2)
}
const selected = Object.entries(FILES).filter(([name]) => words.length === 0 || words.includes(name))
const Stryker = await loadStryker()
for (const [file, tests] of selected) {
  process.env.MUTATE_TESTS = tests.join(',')
  const mutants = await new Stryker({
    mutate: [file],
    testRunner: 'vitest',
    plugins: [join(here, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'test/mutate/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    // Mutants of module-level code would run with all tests.
    ignoreStatic: true,
    // TypeScript 7 has no compiler API, which Stryker uses to rewrite the file.
    tsconfigFile: 'none',
    tempDirName: '.stryker-tmp',
    ignorePatterns: ['/data', '/docs', '/bench', '/dist', 'test/mutate/node_modules'],
    reporters: [],
    logLevel: 'error',
    concurrency: 2,
  }).runMutationTest()
  const judged = mutants.filter(({ status }) => !/Error|Ignored/.test(status))
  const missed = judged.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  const share = Math.floor((100 * (judged.length - missed.length)) / judged.length)
  say(`${file}: ${judged.length - missed.length} of ${judged.length} changes noticed (${share} %)`)
  for (const { location, mutatorName, replacement, status } of missed) {
    const text = replacement.replaceAll(/\s+/g, ' ').slice(0, 100)
    const untested = status === 'NoCoverage' ? ', in no test' : ''
    say(`  ${file}:${location.start.line}:${location.start.column} ${mutatorName}${untested}: ${text}`)
  }
}
// A change that no test notices is a hint, not a fault: some changes alter nothing.
end(`${selected.length} files`)
