import { expect, test } from 'vitest'
import { quantity } from '../../src/util/text.ts'

test.each([
  [0, '0 requests'],
  [1, '1 request'],
  [2, '2 requests'],
  [52_416, '52,416 requests'],
])('a quantity of %d has the right plural and thousands separators', (n, text) =>
  expect(quantity(n, 'request')).toBe(text),
)

test('an irregular plural is used if it is passed', () => {
  expect(quantity(1, 'body', 'bodies')).toBe('1 body')
  expect(quantity(3, 'body', 'bodies')).toBe('3 bodies')
})
