import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dictionaryRows } from '../../src/db/tables/dictionary.ts'
import { emulate, ms, runJob, tempStore } from '../support/kit.ts'
import { blocksOf } from './blocks.ts'

const PAGES = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const BLOCKS = PAGES.flatMap((page) => blocksOf(page).map((block) => ({ ...block, page })))

test('the documented yearly average across a resolution change is weighted by time', async () => {
  const now = ms('2026-01-10T12:00:00Z')
  const store = await tempStore()
  await runJob(
    store,
    await emulate({ now: now / 1000 }),
    'series:\n  - { indicators: [600], geoIds: [3], window: { from: 2025-01-01, to: 2026-01-01 } }',
    { now },
  )
  const values = store.all('select value, step_s as step from observation') as { value: number; step: number }[]
  expect(new Set(values.map(({ step }) => step))).toEqual(new Set([3600, 900]))
  const average = values.reduce((sum, { value, step }) => sum + (value * step) / 3600, 0) / (365 * 24)
  const plain = values.reduce((sum, { value }) => sum + value, 0) / values.length
  expect(Math.abs(plain - average)).toBeGreaterThan(0.1)

  const examples = BLOCKS.filter(({ language, text }) => language === 'sql' && /\bas year\b/.test(text))
  expect(examples).not.toEqual([])
  for (const { text } of examples)
    expect(store.all(text.replace(';', ''))).toEqual([{ year: '2025', average: expect.closeTo(average, 1) }])
})

test.each(BLOCKS.filter(({ text }) => /avg\(|mean\(|\bmean\b/i.test(text)))(
  'the example of $page under "$heading" takes no unweighted average of values',
  ({ text }) => expect(text).not.toMatch(/\bavg\(value\)|value.*\bmean\b|\bmean\(\)/i),
)

test('the data dictionary explains that averages are weighted by the length of periods', () => {
  const meanings = dictionaryRows().filter(
    ({ object, column_name }) => object === 'observations' && column_name === 'step_s',
  )
  expect(meanings.map(({ meaning }) => meaning)).toEqual([
    expect.stringMatching(/sum\(value \* step_s\) \/ sum\(step_s\)/),
  ])
})
