import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STYLE } from '../../src/page/style.ts'

const FOLDER = 'src/page/styles'

test('the style sheet of pages has the rules of every file, without comments and line breaks', () => {
  const files = readdirSync(FOLDER)
  expect(files.length).toBeGreaterThan(3)
  for (const file of files) {
    const selectors = readFileSync(`${FOLDER}/${file}`, 'utf8').match(/(?<=^ *)[^\s/}@][^,:\n]*(?= \{$)/gm) ?? []
    expect(selectors.length, file).toBeGreaterThan(0)
    for (const selector of selectors) expect(STYLE, file).toContain(`${selector}{`)
  }
  expect(STYLE).not.toMatch(/\n|\/\*| \{|;\}/)
  expect(STYLE.split('{')).toHaveLength(STYLE.split('}').length)
})

test('minifying keeps the spaces that have a meaning', () => {
  // Spaces in texts, between values, around keywords, and before selectors of descendants.
  expect(STYLE).toContain('content:attr(data-head) " "')
  expect(STYLE).toContain('grid-template:"name name" "latest age"')
  expect(STYLE).toContain('@media (min-width:46rem) and (max-width:60rem){')
  expect(STYLE).toContain('td,th,:is(td,th) :is(bdi,p){')
  expect(STYLE).toContain('left:calc(50% - 0.375rem)')
})
