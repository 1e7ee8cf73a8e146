import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const text = readFileSync('CONTRIBUTING.md', 'utf8')
const extending = readFileSync('docs/extending.md', 'utf8')
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

test('every file named in CONTRIBUTING.md and docs/extending.md exists', () => {
  const named = [
    ...[...`${text}${extending}`.matchAll(/`((?:src|test|docs|jobs|migrations)\/[\w./-]*|README\.md)`/g)].map(
      ([, file]) => file!,
    ),
    ...[...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, file]) => file!),
  ]
  expect(named.length).toBeGreaterThan(30)
  for (const file of named) expect(existsSync(file), file).toBe(true)
})

test('every script named in CONTRIBUTING.md exists in package.json', () => {
  const named = [...text.matchAll(/npm run ([\w:]+)|`(test:\w+)`/g)].map(([, run, listed]) => run ?? listed!)
  expect(named.length).toBeGreaterThan(3)
  for (const name of named) expect(Object.keys(scripts), name).toContain(name)
  for (const name of Object.keys(scripts).filter((one) => one.startsWith('test:'))) expect(named, name).toContain(name)
})

test('the glossary has the terms of the code in order, each once', () => {
  const glossary = readFileSync('docs/glossary.md', 'utf8')
  const [, ...rows] = [...glossary.matchAll(/^\| ([^|-][^|]*) \| .* \|$/gm)]
  const terms = rows.map(([, term]) => term!)
  expect(terms).toEqual([...new Set(terms)].sort())
  expect(terms.length).toBeGreaterThan(0)
  const code = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  for (const term of terms) {
    const word = new RegExp(`\\b${term}`, 'i')
    expect(code.filter((text) => word.test(text)).length, `files of src with the word ${term}`).toBeGreaterThan(1)
  }
})
