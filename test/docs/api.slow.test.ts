import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { apiText, uncommented } from './apiText.ts'
import { API_PAGE, STALE } from './pages.ts'

// The compiler reads every type of the program.
test(`${API_PAGE} matches the code`, () => {
  expect(readFileSync(API_PAGE, 'utf8') === apiText(), `${API_PAGE} ${STALE}`).toBe(true)
})

test('every public function, type and option has a comment', () => {
  expect(uncommented()).toEqual([])
})
