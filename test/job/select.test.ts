import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMistakes, mistakeText, type ReadOther, readJob } from '../../src/job/read.ts'
import { type Listed, onlyIndicators, resolveSelectors } from '../../src/job/select.ts'
import { InputError } from '../../src/util/errors.ts'

const CATALOGUE: Listed[] = [
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
    const [one] = onlyIndicators([two], [1001])
    expect(one!.series.map(({ path: where, indicators }) => [where, indicators])).toEqual([['series[0]', [1001]]])
    expect(one!.catalogue).toBeNull()
    expect(() => onlyIndicators([two], [601])).toThrow(InputError)
    const [selected] = onlyIndicators([job('all')], [1293])
    expect(resolveSelectors(selected!, CATALOGUE).series[0]!.indicators).toEqual([1293])
    const [mistyped] = onlyIndicators([job('all'), job('[600]')], [600, 1293, 4711])
    expect(() => resolveSelectors(mistyped!, CATALOGUE)).toThrow('--only 4711: no job entry selects it.')
    // Another job of the same command may contain the omitted indicators.
    const [without] = onlyIndicators([job('{ exclude: [600] }'), job('{ match: spot }')], [600])
    expect(resolveSelectors(without!, CATALOGUE).series[0]!.indicators).toEqual([])
    const [none] = onlyIndicators([job('{ match: nothing }')], [600])
    expect(() => resolveSelectors(none!, CATALOGUE)).toThrow(/matches none of 4/)
  })
})

describe('a job that extends another job', () => {
  const files: Record<string, string> = {
    'base.yaml': 'timeZone: Atlantic/Canary\npace: { perSecond: 1, callsPerDay: 100 }\nkeep: latest\nname: base\n',
    'middle.yaml': 'extends: base.yaml\nlocales: [en]\npace: { callsPerDay: 5 }\n',
    'self.yaml': 'extends: other.yaml\nname: x\ncatalogue: true\n',
    'other.yaml': 'extends: self.yaml\n',
    'env.yaml': 'KEY=secret\nOTHER=secret\n',
    'env2.yaml': 'KEY=secret: x\nOTHER=secret: y\nA=secret\nB: 1',
    'shadow.yaml': 'root:secret:0:0\n',
    'colon.yaml': 'alice:$6$secret:20228:0:99999:7: x\n',
    'quote.yaml': '"secret',
    'alias.yaml': 'name: *secret\n',
    'twice.yaml': '{"token": "secret", "token": "secret"}',
    'directive.yaml': '%YAML secret\n---\nname: x\n',
    'wrong.yaml': 'keep: everything\npace: { perSecond: 99 }\n',
  }
  const readOther: ReadOther = (name) => {
    const text = files[name]
    if (text === undefined)
      throw new InputError(`The job file ${name} cannot be read: ENOENT.`, { code: 'no-job-file' })
    return { file: name, text }
  }
  const read = (text: string) => readJob(text, 'mine.yaml', readOther)
  const mistakesOf = (text: string) => findMistakes(text, 'mine.yaml', readOther).map(mistakeText)

  test('a job overrides keys and single limits of the job that it extends, but not its name', () => {
    expect(read('extends: middle.yaml\nname: mine\ncatalogue: true\nkeep: all\n')).toMatchObject({
      name: 'mine',
      timeZone: 'Atlantic/Canary',
      locales: ['en'],
      keep: 'all',
      pace: { perSecond: 1, callsPerDay: 5, concurrency: 4 },
    })
    expect(mistakesOf('extends: middle.yaml\ncatalogue: true\n')).toEqual([
      expect.stringMatching(/^mine\.yaml:1:1 {2}name {2}is missing/),
    ])
  })

  test('a mistake is reported with the file that contains it', () => {
    expect(mistakesOf('extends: wrong.yaml\nname: x y\ncatalogue: true\n')).toEqual([
      expect.stringMatching(/^wrong\.yaml:1:7 {2}keep {2}"everything" is not valid/),
      expect.stringMatching(/^wrong\.yaml:2:\d+ {2}pace\.perSecond/),
      expect.stringMatching(/^mine\.yaml:2:7 {2}name/),
    ])
  })

  test.each<[string, RegExp]>([
    [
      'extends: nowhere.yaml\nname: x\ncatalogue: true\n',
      /mine\.yaml:1:10 {2}extends {2}The job file nowhere\.yaml cannot be read/,
    ],
    ['extends: self.yaml\nname: x\ncatalogue: true\n', /extends itself: .*self\.yaml → other\.yaml → self\.yaml/],
    ['extends: env.yaml\nname: x\ncatalogue: true\n', /^env\.yaml:1:1 {2}is not a job file: it has no keys$/],
    ['extends: alias.yaml\nname: x\ncatalogue: true\n', /^alias\.yaml:1:7 {2}has a mistake; `.* validate alias\.yaml`/],
    ['extends: colon.yaml\nname: x\ncatalogue: true\n', /^colon\.yaml:1:1 {2}has an unknown key/],
    ['extends: 3\nname: x\ncatalogue: true\n', /extends/],
  ])('an invalid extends is reported: %s', (text, message) => expect(mistakesOf(text).join('\n')).toMatch(message))

  test.each(Object.keys(files).filter((name) => files[name]!.includes('secret')))(
    'a failed extends does not quote the other file: %s',
    (name) => {
      const mistakes = mistakesOf(`extends: ${name}\nname: x\ncatalogue: true\n`)
      expect(mistakes).not.toEqual([])
      expect(mistakes.join('\n')).not.toContain('secret')
    },
  )

  test('reading a job with any extended text returns a job or throws an InputError', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (other) => {
        try {
          readJob('extends: a\nname: x\ncatalogue: true\n', 'f', () => ({ file: 'a', text: other }))
        } catch (error) {
          expect(error).toBeInstanceOf(InputError)
        }
      }),
      { numRuns: 200 },
    ))
})
