import { describe, expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { type CatalogueIndicator, narrowToIndicators, resolveSelectors } from '../../src/job/select.ts'
import { InputError } from '../../src/util/errors.ts'

const CATALOGUE: CatalogueIndicator[] = [
  { id: 600, names: ['Precio mercado spot', 'Day-ahead spot price'], terms: ['Mercados y precios'] },
  { id: 1001, names: ['Término de facturación PVPC'], terms: ['Consumidores', 'Mercados y precios'] },
  { id: 1293, names: ['Demanda real', 'Real demand'], terms: ['Demanda'] },
  { id: 1295, names: ['Generación fotovoltaica: precio cero'], terms: [] },
]
const job = (indicators: string) =>
  readJob(`name: x\nseries:\n  - indicators: ${indicators}\n    window: { last: 7d }\n`, 'f')
const ids = (indicators: string) => resolveSelectors(job(indicators), CATALOGUE).series[0]!.indicators

describe('indicators selected from the catalogue', () => {
  test.each<[string, number[]]>([
    ['all', [600, 1001, 1293, 1295]],
    ['{ match: precio }', [600, 1295]],
    ['{ match: PRECIÓ }', [600, 1295]],
    ['{ match: termino pvpc }', [1001]],
    ['{ match: demand }', [1293]],
    ['{ match: ecio, exclude: [1] }', []],
    ['{ terms: [Mercados y precios] }', [600, 1001]],
    ['{ terms: [Mercados y precios, Demanda], exclude: [600] }', [1001, 1293]],
    ['{ match: precio, terms: [Mercados y precios] }', [600]],
    ['{ exclude: [600, 1293] }', [1001, 1295]],
    ['[7, 3]', [7, 3]],
  ])('the selection %s matches its indicators', (written, expected) => {
    if (expected.length > 0) expect(ids(written)).toEqual(expected)
    else expect(() => ids(written)).toThrow(/series\[0\]\.indicators matches none of 4 indicators/)
  })

  test.each<[string, RegExp]>([
    ['al', /"al" does not select indicators; expected \[600, 612\], all, \{ match/],
    ['{}', /selects nothing; set match, terms or exclude/],
    ['{ match: "+++" }', /match contains no word/],
    ['{ mach: precio }', /indicators\.mach {2}unknown key; .*Did you mean "match"/],
    ['[]', /indicators/],
  ])('the selection %s is refused', (written, message) => expect(() => job(written)).toThrow(message))

  test('offers cannot be selected from a catalogue', () =>
    expect(() => readJob('name: x\noffers:\n  - indicators: all\n    window: { last: 7d }\n', 'f')).toThrow(
      /not a list/,
    ))

  test('--only keeps the given indicators and refuses those without an entry', () => {
    const two = readJob(
      'name: x\ncatalogue: true\nseries:\n  - { indicators: [600, 1001], window: { last: 7d } }\n  - { indicators: [1293], window: { last: 7d } }\n',
      'f',
    )
    const [one] = narrowToIndicators([two], [1001])
    expect(one!.series.map(({ path: where, indicators }) => [where, indicators])).toEqual([['series[0]', [1001]]])
    expect(one!.catalogue).toBeNull()
    expect(() => narrowToIndicators([two], [601])).toThrow(InputError)
    const [selected] = narrowToIndicators([job('all')], [1293])
    expect(resolveSelectors(selected!, CATALOGUE).series[0]!.indicators).toEqual([1293])
    const [mistyped] = narrowToIndicators([job('all'), job('[600]')], [600, 1293, 4711])
    expect(() => resolveSelectors(mistyped!, CATALOGUE)).toThrow('--only 4711: no job entry selects it.')
    // Another job of the same command may contain the omitted indicators.
    const [without] = narrowToIndicators([job('{ exclude: [600] }'), job('{ match: spot }')], [600])
    expect(resolveSelectors(without!, CATALOGUE).series[0]!.indicators).toEqual([])
    const [none] = narrowToIndicators([job('{ match: nothing }')], [600])
    expect(() => resolveSelectors(none!, CATALOGUE)).toThrow(/matches none of 4/)
  })
})
