import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const text = readFileSync('CONTRIBUTING.md', 'utf8')
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

/** Scripts that others run. */
const PARTS = ['test:time', 'test:zones']

test('every file that CONTRIBUTING.md names is there', () => {
  const named = [
    ...[...text.matchAll(/`((?:src|test|docs|jobs|migrations)\/[\w./-]*|README\.md)`/g)].map(([, file]) => file!),
    ...[...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, file]) => file!),
  ]
  expect(named.length).toBeGreaterThan(30)
  for (const file of named) expect(existsSync(file), file).toBe(true)
})

test('every command that it names is one of the package', () => {
  const named = [...text.matchAll(/npm run ([\w:]+)|`(test:\w+)`/g)].map(([, run, listed]) => run ?? listed!)
  expect(named.length).toBeGreaterThan(3)
  for (const name of named) expect(Object.keys(scripts), name).toContain(name)
  for (const name of Object.keys(scripts).filter((one) => one.startsWith('test:')))
    if (!PARTS.includes(name)) expect(named, name).toContain(name)
})

const git = (...args: string[]): string => spawnSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout ?? ''

/** The commits of a clone, each as its hash and subject; null in a package, or where only the end of the history was fetched. */
const history = (): string[] | null =>
  git('rev-parse', '--is-shallow-repository').trim() === 'false' ? git('log', '--format=%h %s').split('\n') : null

test('every commit that it names as an example is in the history, and touches what its list names', ({ skip }) => {
  const commits = history() ?? skip('no history')
  let examples = 0
  for (const section of text.split(/^### … /m).slice(1)) {
    const named = [...section.matchAll(/`((?:src|migrations|docs)\/[\w./-]*)`/g)].map(([, file]) => file!)
    for (const [, subject = ''] of section.matchAll(/(?:^|: )\*([^*]+)\*\./gm)) {
      examples++
      const commit = commits.find((one) => one.includes(` ${subject}`))
      expect(commit, subject).toBeDefined()
      const touched = git('show', '--name-only', '--format=', commit!.split(' ')[0]!).split('\n')
      expect(
        touched.some((file) => named.some((one) => (one.endsWith('/') ? file.startsWith(one) : file === one))),
        `${subject}: none of the files of "${section.split('\n')[0]}"`,
      ).toBe(true)
    }
  }
  expect(examples).toBeGreaterThan(10)
})

test('it says how each of the usual changes is made', () => {
  const WHAT = [
    'route',
    'service',
    'key of a job',
    'column',
    'view',
    'command',
    'form of export',
    'check',
    'language',
    'rule for retries',
  ]
  for (const what of WHAT) expect(text).toMatch(new RegExp(`^### … a (?:\\w+ )*${what}`, 'm'))
})

test('the glossary stays short: forty terms, each once', () => {
  const [, glossary = ''] = readFileSync('docs/architecture.md', 'utf8').split('## Glossary')
  const terms = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].map(([, term]) => term!).slice(1)
  expect(new Set(terms).size).toBe(terms.length)
  expect(terms.length).toBeLessThanOrEqual(40)
})
