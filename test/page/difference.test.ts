import fc from 'fast-check'
import { expect, test } from 'vitest'
import { difference } from '../../src/page/views/textsPage.ts'

const without = (what: string, pieces: ReturnType<typeof difference>): string =>
  pieces
    .filter((piece) => piece.what !== what)
    .map(({ text }) => text)
    .join('')

test('both versions can be reconstructed from any difference', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc
      .array(fc.constantFrom('precio', 'de', 'la', 'luz', ' ', '\n', '<b>', '€'), { maxLength: 30 })
      .map((w) => w.join('')),
  )
  fc.assert(
    fc.property(text, text, (before, after) => {
      const pieces = difference(before, after)
      expect(without('added', pieces)).toBe(before)
      expect(without('removed', pieces)).toBe(after)
      for (const [i, { what }] of pieces.entries()) expect(pieces[i + 1]?.what).not.toBe(what)
    }),
  )
})

test('only changed words are marked', () => {
  expect(difference('The price of a day, in €/MWh.', 'The price of an hour, in €/MWh.')).toEqual([
    { what: 'same', text: 'The price of ' },
    { what: 'removed', text: 'a day' },
    { what: 'added', text: 'an hour' },
    { what: 'same', text: ', in €/MWh.' },
  ])
})

test('long texts are shown as one removal and one addition', () => {
  const many = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word}${i}`).join(' ')
  const pieces = difference(`begin ${many('a')} end`, `begin ${many('b')} end`)
  expect(pieces.map(({ what }) => what)).toEqual(['removed', 'added'])
})
