import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMoment, resolveMoment, resolveWindow } from '../../src/job/moment.ts'
import { findMistakes, mistakeText, readJob } from '../../src/job/read.ts'
import { CONTENT_ROUTES, GEO_LEVELS, TIME_TRUNCS } from '../../src/service/routes.ts'
import { InputError } from '../../src/util/errors.ts'
import { formatLocal } from '../../src/util/time/zone.ts'
import { cases } from '../support/randomCases.ts'

const SERIES = 'name: x\nseries:\n  - indicators: [600]\n    window: { last: 7d }\n'
const mistakesOf = (text: string) => findMistakes(text, 'job.yaml').map(mistakeText)

test('geos can be named in any language, without regard to case and accents', () => {
  expect(readJob(`${SERIES}    geoIds: [espana, France, ISLAS BALEARES, 77]`, 'job.yaml').series[0]?.geoIds).toEqual([
    3, 2, 18, 77,
  ])
})

test('indicators can have geos of their own in one entry', () => {
  const { series } = readJob(
    SERIES.replace(
      '[600]',
      '[600, { id: 1001, geoIds: [Península, 8742] }, 1739, { id: 1293, geoIds: [8741, 8742] }]',
    ) + '    geoIds: [3]\n    lookback: 3d\n',
    'job.yaml',
  )
  const lookback = { count: 3, unit: 'day' }
  expect(series).toMatchObject([
    { path: 'series[0]', indicators: [600, 1739], geoIds: [3], lookback },
    { path: 'series[0]', indicators: [1001, 1293], geoIds: [8741, 8742], lookback },
  ])
  const alone = readJob(SERIES.replace('[600]', '[{ id: 600, geoIds: [3] }]'), 'job.yaml')
  expect(alone.series).toMatchObject([{ indicators: [600], geoIds: [3] }])
})

describe('mistakes in job files', () => {
  test.each<[string, string, RegExp]>([
    [
      'an unknown key',
      `${SERIES}widgtes: {}`,
      /^job\.yaml:5:1 {2}widgtes {2}unknown key; valid keys: name, .*Did you mean "widgets"\?$/,
    ],
    [
      'an unknown nested key',
      SERIES.replace('indicators', 'indicator'),
      /job\.yaml:3:5 {2}series\[0\]\.indicator .*Did you mean "indicators"/,
    ],
    [
      'an illegal word',
      `${SERIES}    timeTrunc: hours\n    timeAgg: sum`,
      /job\.yaml:5:16 {2}series\[0\]\.timeTrunc {2}"hours" is not valid; expected one of: five_minutes.*"hour"/,
    ],
    [
      'timeTrunc without timeAgg',
      `${SERIES}    timeTrunc: hour`,
      /5:5 {2}series\[0\]\.timeTrunc {2}timeTrunc needs timeAgg: without it, the service sums values/,
    ],
    ['timeAgg without timeTrunc', `${SERIES}    timeAgg: sum`, /timeAgg needs timeTrunc/],
    ['geoTrunc without geoAgg', `${SERIES}    geoTrunc: country`, /geoTrunc needs geoAgg/],
    [
      'a date that does not exist',
      SERIES.replace('last: 7d', 'from: 2023-02-30'),
      /4:21 {2}series\[0\]\.window\.from {2}"2023-02-30" is not a valid date/,
    ],
    [
      'a parsed date object as date',
      SERIES.replace('last: 7d', 'from: { kind: date, date: x }, to: 2024-01-01'),
      /^job\.yaml:4:21 {2}series\[0\]\.window\.from {2}.* is not a valid date; expected 2025-10-01, [^\n]*$/,
    ],
    [
      'an unknown key in place of a selection',
      SERIES.replace('[600]', '{ matches: precio }'),
      /^job\.yaml:3:19 {2}series\[0\]\.indicators\.matches {2}unknown key; valid keys: match, terms, [^\n]*$/,
    ],
    [
      'an invalid duration',
      SERIES.replace('7d', '7 days'),
      /window\.last {2}"7 days" is not a valid duration; expected 30m, 6h, 3d/,
    ],
    [
      'a duration without its unit',
      SERIES.replace('7d', '7'),
      /window\.last {2}7 is not a valid duration; expected 30m, 6h, 3d/,
    ],
    ['from after to', SERIES.replace('last: 7d', 'from: 2024-01-02, to: 2024-01-01'), /to must be later than from/],
    [
      'from after to in local times',
      SERIES.replace('last: 7d', 'from: 2024-01-01T12:00, to: 2024-01-01T11:59'),
      /to must be later/,
    ],
    ['from after to in spans', SERIES.replace('last: 7d', 'from: +2d, to: -2d'), /to must be later than from/],
    ['from after the default of to', SERIES.replace('last: 7d', 'from: +1d'), /from {2}is not before the end of today/],
    [
      'a skipped hour',
      SERIES.replace('last: 7d', 'from: 2025-03-30T02:30, to: 2025-03-30T03:30'),
      /exclusive: 2025-03-30T03:30:00\+02:00 to 2025-03-30T03:30:00\+02:00/,
    ],
    ['from after to in words', SERIES.replace('last: 7d', 'from: now, to: today'), /to must be later than from/],
    [
      'an empty instant',
      SERIES.replace('last: 7d', 'from: 2024-01-01T00:00Z, to: 2024-01-01T01:00+01:00'),
      /to must be later/,
    ],
    [
      'last together with from',
      SERIES.replace('last: 7d', 'last: 7d, from: 2024-01-01'),
      /4:15 {2}.*\.last {2}last and from cannot be combined; keep one/,
    ],
    [
      'last together with to',
      SERIES.replace('last: 7d', 'last: 7d, to: +2d'),
      /last and to cannot be combined; keep one/,
    ],
    ['an empty window', SERIES.replace('{ last: 7d }', '{}'), /window\.from {2}is missing; expected/],
    [
      'a duration for a window',
      SERIES.replace('{ last: 7d }', '7d'),
      /"7d" is not a window; did you mean \{ last: 7d \}\?/,
    ],
    [
      'a number for a list',
      SERIES.replace('[600]', '600'),
      /600 does not select indicators; expected \[600, 612\], all/,
    ],
    [
      'a word for an indicator',
      SERIES.replace('[600]', '[600, spot]'),
      /3:23 {2}series\[0\]\.indicators\[1\] {2}"spot" does not name an indicator; expected an id or \{ id, geoIds \}/,
    ],
    [
      'an unknown key of an indicator',
      SERIES.replace('[600]', '[{ id: 600, geos: [3] }]'),
      /series\[0\]\.indicators\[0\]\.geos {2}unknown key; valid keys: id, geoIds/,
    ],
    [
      'an unknown geo of an indicator',
      SERIES.replace('[600]', '[{ id: 600, geoIds: [Atlantis] }]'),
      /series\[0\]\.indicators\[0\]\.geoIds\[0\] {2}"Atlantis"/,
    ],
    [
      'an indicator with two lists of geos',
      SERIES.replace('[600]', '[600, { id: 600, geoIds: [3] }]'),
      /3:23 {2}series\[0\]\.indicators\[1\] {2}indicator 600 is listed twice; list all its geos once/,
    ],
    [
      'a geo of an indicator listed twice',
      SERIES.replace('[600]', '[{ id: 600, geoIds: [3, España] }]'),
      /series\[0\]\.indicators\[0\]\.geoIds\[1\] {2}geo 3 is listed twice/,
    ],
    ['a language', 'name: x\nlocales: [de]', /"de" is not valid; expected one of: es, en\.$/m],
    [
      'one error of the YAML parser',
      'name: x\nseries: [{ indicators: [600\n    window: x }]',
      /^[^\n]*is not valid YAML[^\n]*$/,
    ],
    ['UTF-16', Buffer.from(`\uFEFF${SERIES}`, 'utf16le').toString('utf8'), /is not UTF-8 but looks like UTF-16/],
    [
      'UTF-16 without a byte order mark',
      Buffer.from(SERIES, 'utf16le').toString('utf8'),
      /is not UTF-8 but looks like UTF-16/,
    ],
    [
      'UTF-16 in big-endian order',
      Buffer.from(`\uFEFF${SERIES}`, 'utf16le').swap16().toString('utf8'),
      /looks like UTF-16/,
    ],
    [
      'a duplicate nested key',
      SERIES.replace('[600]', '[600]\n    indicators: [601]'),
      /4:5 {2}indicators is a duplicate key/,
    ],
    [
      'a geo whose name is not unique',
      `${SERIES}    geoIds: [3, canar]`,
      /geoIds\[1\] {2}"canar" is not the name of a geo; expected one of: Islas Canarias \(19\), Canarias \(8742\)/,
    ],
    [
      'a mistyped geo',
      `${SERIES}    geoIds: [Portugl]`,
      /"Portugl" is not the name of a geo; `indicator-sync discover --in geos` lists them\. Did you mean "Portugal"/,
    ],
    [
      'a geo of a wrong type',
      `${SERIES}    geoIds: [null, -1]`,
      /geoIds\[0\] {2}null does not name a geo; expected an id/,
    ],
    [
      'a geo beyond the largest',
      `${SERIES}    geoIds: [2147483648]`,
      /geoIds\[0\] {2}2147483648 is too large; expected at most 2147483647/,
    ],
    ['a geo by name and by id', `${SERIES}    geoIds: [españa, 3]`, /geoIds\[1\] {2}geo 3 is listed twice/],
    ['a duplicate geo', `${SERIES}    geoIds: [3, 3]`, /geoIds\[1\] {2}geo 3 is listed twice/],
    ['no window', SERIES.replace('    window: { last: 7d }\n', ''), /3:5 {2}series\[0\] {2}window is missing/],
    ['window and datetime', `${SERIES}    datetime: 2024-01-01`, /cannot be combined/],
    [
      'locale and locales',
      `${SERIES}    locale: es\n    locales: [en]`,
      /series\[0\]\.locale {2}locale and locales cannot be combined; keep one/,
    ],
    [
      'several languages of a series',
      `${SERIES}    locales: [es, en]`,
      /series\[0\]\.locales {2}values are requested in one language; keep one/,
    ],
    [
      'a number that is too large',
      SERIES.replace('600', '1e400'),
      /series\[0\]\.indicators\[0\] {2}Infinity does not name an indicator/,
    ],
    [
      'a string as id',
      SERIES.replace('600', '"600"'),
      /series\[0\]\.indicators\[0\] {2}"600" does not name an indicator; expected an id or/,
    ],
    ['a duplicate id', SERIES.replace('600', '600, 600'), /indicators\[1\] {2}indicator 600 is listed twice/],
    ['an empty list', SERIES.replace('600', ''), /series\[0\]\.indicators {2}\[\] is empty$/m],
    ['a negative pace', `${SERIES}pace: { perSecond: -1 }`, /pace\.perSecond {2}-1 is too small; expected more than 0/],
    [
      'expires for documentations',
      'name: x\ncontent:\n  - kinds: [documentations]\n    order: expires',
      /supported only by news/,
    ],
    [
      'an unknown time zone',
      `${SERIES}timeZone: Europe/Madird`,
      /5:1 {2}timeZone {2}Unknown time zone "Europe\/Madird".*Did you mean "Europe\/Madrid"\?/,
    ],
    ['an invalid cron expression', `${SERIES}schedule: "61 21 * * *"`, /schedule {2}is not a cron expression/],
    ['a pace above the limit', `${SERIES}pace: { perSecond: 1000 }`, /pace\.perSecond/],
    ['no name', SERIES.replace('name: x\n', ''), /name {2}is missing/],
    ['no requests', 'name: x', /selects no data; add one of: catalogue, series/],
    ['a duplicate key', `${SERIES}name: y`, /name is a duplicate key; keep one/],
    ['an open bracket', 'name: [x', /is not valid YAML: a bracket is not closed/],
    ['a text with a colon', 'name: a: b', /put a text with a colon in quotes/],
    ['a tab', 'name: x\nseries:\n\t- indicators: [600]', /indent with spaces, not with tabs/],
    ['a key without a colon', 'name: x\nseries\n  - indicators: [600]', /a key lacks its colon/],
    ['a reserved character', 'name: @x', /starts with this character in quotes/],
    ['several documents', `${SERIES}---\n${SERIES}`, /several YAML documents/],
    ['no text', '', /is empty; `indicator-sync init`/],
    ['only a comment', '# hello\n', /is empty/],
    ['a list', '- a', /is not an object/],
    ['a huge file', `name: x # ${'x'.repeat(2_000_000)}`, /limit 1 MiB/],
    ['deep nesting', `name: ${'['.repeat(5000)}`, /nested too deeply/],
    [
      'an alias bomb',
      `a0: &a0 x\n${Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i},*a${i}]`).join('\n')}`,
      /bad alias/,
    ],
    ['an undefined alias', `${SERIES}schedule: *when`, /has a bad alias: .*when/],
    ['a recursive alias', `${SERIES}offers: &all [*all]`, /has a bad alias: .*circular/],
    ['offers with aggregation', `${SERIES.replace('series', 'offers')}    timeTrunc: hour`, /timeTrunc {2}unknown key/],
  ])('a job file with %s is refused with the position and the legal values', (_name, text, message) => {
    expect(mistakesOf(text).join('\n')).toMatch(message)
    expect(() => readJob(text, 'job.yaml')).toThrow(InputError)
  })

  test('all mistakes are reported together, sorted by line', () => {
    const mistakes = findMistakes(
      'name: x y\nseries:\n  - indicators: [a]\n    window: { last: 7 }\nfoo: 1\nbar: 2\n',
      'j',
    )
    expect(mistakes.map(({ line, path }) => [line, path])).toEqual([
      [1, 'name'],
      [3, 'series[0].indicators[0]'],
      [4, 'series[0].window.last'],
      [5, 'foo'],
      [6, 'bar'],
    ])
  })

  test('mistakes of different kinds are reported together', () => {
    const text = `name: x y
schedule: "61 * * * *"
timeZone: Europe/Madird
widgtes: {}
series:
  - indicators: [600, 600]
    timeTrunc: hour
    window: { from: 2025-02-01, to: 2025-01-01 }
  - indicators: [601]
    timeTrunc: hourly
    timeAgg: mean
    window: { last: 7d, from: 2025-01-01 }
`
    expect(findMistakes(text, 'j').map(({ line, path }) => `${line} ${path}`)).toEqual([
      '1 name',
      '2 schedule',
      '3 timeZone',
      '4 widgtes',
      '6 series[0].indicators[1]',
      '7 series[0].timeTrunc',
      '8 series[0].window.to',
      '10 series[1].timeTrunc',
      '11 series[1].timeAgg',
      '12 series[1].window.last',
    ])
  })

  test('a UTF-8 byte order mark is accepted', () => expect(mistakesOf(`\uFEFF${SERIES}`)).toEqual([]))

  test('reading any text returns a job or throws an InputError', () => {
    const check = (text: string) => {
      try {
        readJob(text, 'f')
      } catch (error) {
        expect(error).toBeInstanceOf(InputError)
      }
    }
    // The unit `binary` of fast-check makes a list of all characters first.
    const character = fc.integer({ max: 0x10ffff, min: 0 }).map((code) => String.fromCodePoint(code))
    fc.assert(fc.property(fc.string({ unit: character }), check), { numRuns: cases(60) })
    fc.assert(fc.property(fc.json(), check), { numRuns: cases(60) })
    fc.assert(
      fc.property(fc.json({ maxDepth: 2 }), (value) => check(`name: x\nseries: ${value}`)),
      { numRuns: cases(60) },
    )
  })
})

describe('valid jobs', () => {
  test.each(['demo', 'nightly', 'backfill'])('jobs/%s.yaml has no mistakes', (name) => {
    expect(mistakesOf(readFileSync(`jobs/${name}.yaml`, 'utf8'))).toEqual([])
  })

  test('an incomplete job gets the default settings', () => {
    expect(readJob(SERIES, 'f')).toMatchObject({
      timeZone: 'Europe/Madrid',
      locales: ['es'],
      pace: { perSecond: 2, concurrency: 4, callsPerDay: null },
      keep: 'all',
      lake: null,
      catalogue: null,
      widgets: null,
      series: [
        { path: 'series[0]', route: 'indicator', geoIds: [], timeTrunc: null, lookback: { count: 2, unit: 'day' } },
      ],
    })
  })

  test('avg is an alias of average, and locale of locales', () => {
    const job = readJob(`${SERIES}    timeTrunc: day\n    timeAgg: avg\n    geoAgg: avg\n    locale: en`, 'f')
    expect(job.series[0]).toMatchObject({ timeAgg: 'average', geoAgg: 'average', locale: 'en' })
  })

  test('a job can set every parameter of the specification', () => {
    const job = readJob(
      `name: all
catalogue: { taxonomyTerms: [a], locale: en }
series:
${TIME_TRUNCS.map((trunc) => `  - { indicators: [1], timeTrunc: ${trunc}, timeAgg: sum, window: { last: 1d } }`).join('\n')}
${GEO_LEVELS.map((level) => `  - { indicators: [1], geoAgg: average, geoTrunc: ${level}, geoIds: [3], datetime: 2025-01-01T12:00 }`).join('\n')}
offers: [{ indicators: [25], datetime: now, locale: es }]
content:
  - { kinds: [${CONTENT_ROUTES.join(', ')}], taxonomyTerms: [a], vocabularies: [b], taxonomyIds: [1, "2"], vocabularyIds: [3], order: updated, sticky: true }
  - { kinds: [news], order: expires, sticky: false }
archives: [{ window: { from: 2024-01-01, to: 2024-01-02 }, dateType: datos, taxonomyTerms: [a], vocabularies: [b] }]
archivesJson: [{ date: 2024-01-01 }, { window: { last: 3d }, vocabularies: [b] }]
widgets: { list: true, names: [1, potencia], widgetType: offer, datetime: today, locale: en }`,
      'f',
    )
    expect(job.series).toHaveLength(TIME_TRUNCS.length + GEO_LEVELS.length + 1)
    expect(job.archives.map(({ route }) => route)).toEqual(['archives', 'archives_json', 'archives_json'])
  })
})

describe('points in time', () => {
  const now = Date.UTC(2025, 9, 26, 10, 30, 20) / 1000
  const local = (text: string, zone = 'Europe/Madrid') =>
    formatLocal(zone, resolveMoment(parseMoment(text)!, zone, now))
  test.each([
    ['today', '2025-10-26T00:00:00+02:00'],
    ['+1d', '2025-10-27T00:00:00+01:00'],
    ['+2d', '2025-10-28T00:00:00+01:00'],
    ['-1w', '2025-10-19T00:00:00+02:00'],
    ['-8mo', '2025-02-26T00:00:00+01:00'],
    ['-1y', '2024-10-26T00:00:00+02:00'],
    ['-90m', '2025-10-26T10:00:00+01:00'],
    ['2025-03-30', '2025-03-30T00:00:00+01:00'],
    ['2025-03-30T12:00', '2025-03-30T12:00:00+02:00'],
    ['2025-07-01T00:00:00Z', '2025-07-01T02:00:00+02:00'],
    ['2025-07-01T00:00+02:00', '2025-07-01T00:00:00+02:00'],
    ['now', '2025-10-26T11:30:20+01:00'],
  ])('%s is %s', (text, expected) => expect(local(text)).toBe(expected))

  test('a month before the 31st is the last day of a shorter month', () => {
    const end = Date.UTC(2025, 2, 31, 12) / 1000
    expect(formatLocal('UTC', resolveMoment(parseMoment('-1mo')!, 'UTC', end))).toBe('2025-02-28T00:00:00+00:00')
  })

  test('the last 7 days are seven whole days and today', () => {
    const { from, to } = resolveWindow(readJob(SERIES, 'f').series[0]!.window!, 'Europe/Madrid', now)
    expect([formatLocal('Europe/Madrid', from), formatLocal('Europe/Madrid', to)]).toEqual([
      '2025-10-19T00:00:00+02:00',
      '2025-10-27T00:00:00+01:00',
    ])
  })
})
