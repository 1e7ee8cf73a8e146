import { expect, test } from 'vitest'
import { dictionaryRows } from '../../src/db/tables/dictionary.ts'
import { NETWORK_FAILURES, RESPONSE_FAILURES } from '../../src/fetch/failures.ts'
import { FINDING_KINDS } from '../../src/findings/finding.ts'
import { duration } from '../../src/page/formats.ts'
import SENTENCES from '../../src/page/words/sentences.json' with { type: 'json' }
import TEXTS from '../../src/page/words/texts.json' with { type: 'json' }
import TRANSLATIONS from '../../src/page/words/translations.es.json' with { type: 'json' }
import { WORDS } from '../../src/page/words/words.ts'
import { recipesFor } from '../../src/reports/recipes/recipes.ts'
import { SERVICES } from '../../src/service/services.ts'

/** Returns all pairs of texts below an object, each with its name. */
function pairs(part: object, name = ''): [name: string, pair: readonly string[]][] {
  return Object.entries(part).flatMap(([key, value]) =>
    Array.isArray(value) ? [[`${name}${key}`, value] as [string, string[]]] : pairs(value, `${name}${key}.`),
  )
}

const values = (text: string): string[] => [...new Set(text.match(/\{\d/g))].sort()

test('every text exists in both languages with the same parameters', () => {
  for (const [name, pair] of [...pairs(TEXTS), ...pairs(SENTENCES)]) {
    expect(pair, name).toHaveLength(2)
    for (const text of pair) expect(text.trim(), name).not.toBe('')
  }
  for (const [name, [english, spanish]] of pairs(SENTENCES) as [string, [string, string]][]) {
    expect(values(english), name).not.toEqual([])
    expect(values(spanish), name).toEqual(values(english))
  }
  for (const [name, pair] of pairs(TEXTS)) expect(pair.join(), name).not.toMatch(/\{\d/)
})

test('no name is used for both a text and a sentence', () => {
  const sentences = new Set(pairs(SENTENCES).map(([name]) => name))
  expect(pairs(TEXTS).filter(([name]) => sentences.has(name))).toEqual([])
})

test('each kind of finding has a sentence on the page, in the order of the kinds, and nothing else has one', () => {
  expect(Object.keys(SENTENCES.home.findings)).toEqual(FINDING_KINDS)
})

test('sentences use the plural forms of their language', () => {
  expect([WORDS.en.home.findings.failure(1), WORDS.en.home.findings.failure(2)]).toEqual([
    '1 request failed and has not succeeded since.',
    '2 requests failed and have not succeeded since.',
  ])
  expect(WORDS.es.home.findings.failure(1)).toBe('1 petición falló y no tiene respuesta desde entonces.')
})

/** Codes of the ends of runs. */
const RUN_CODES = ['budget', 'died', 'signal', 'too-many-rejects', 'unavailable']

/** Units that are equal in both languages. */
const SYMBOLS = ['s', 'h', 'ms', 'bytes', 'MWh']

test('every recipe, failure and dictionary entry is translated into Spanish', () => {
  const { recipes, failures, dictionary } = TRANSLATIONS
  const entries = dictionaryRows().flatMap(({ meaning, unit }) => [meaning, unit ?? []].flat())
  const isSame = (translations: object, keys: readonly string[]) =>
    expect(Object.keys(translations).sort()).toEqual([...new Set(keys)].sort())
  isSame(
    recipes,
    recipesFor(SERVICES.esios).map(({ name }) => name),
  )
  isSame(failures, [...[...RESPONSE_FAILURES, ...NETWORK_FAILURES].map(({ code }) => code), ...RUN_CODES])
  isSame(dictionary, ['sum of', ...entries.filter((text) => !SYMBOLS.includes(text))])
})

test('durations have the decimal separator of their language', () => {
  expect([duration({ locale: 'en' }, 0.72), duration({ locale: 'es' }, 0.72)]).toEqual(['0.7 s', '0,7 s'])
})
