import { describe, expect, test } from 'vitest'
import { draw } from '../../src/page/charts/drawing.ts'
import { FRAME } from '../../src/page/charts/figure.ts'
import { ON_WHITE } from '../../src/page/charts/picture.ts'
import {
  chooseChart,
  describeColumns,
  isDrawable,
  namedBars,
  readLines,
  resultDrawing,
} from '../../src/page/charts/resultChart.ts'
import type { Pen } from '../../src/page/client/segments.ts'
import { htmlText } from '../../src/page/html.ts'
import type { CollectedResult } from '../../src/page/statementQueue.ts'

const result = (columns: string[], ...rows: (string | number | null)[][]): CollectedResult => ({
  columns,
  rows,
  cut: null,
})
const choose = (of: CollectedResult, query = 'chart=line', recipe: Parameters<typeof chooseChart>[3] = null) =>
  chooseChart(of, describeColumns(of), new URLSearchParams(query), recipe)
const linesOf = (of: CollectedResult, query = 'chart=line') =>
  readLines(of, describeColumns(of), choose(of, query)!, 'Europe/Madrid')
const drawingOf = (of: CollectedResult, query = 'chart=line') =>
  resultDrawing(linesOf(of, query), choose(of, query)!.kind, null, 'en')

/** The points of a path, with x and y as they are. */
function pathOf(path: ((pen: Pen, scales: { x(n: number): number; y(n: number): number }) => void) | undefined) {
  const points: string[] = []
  const add = (letter: string) => (x: number, y: number) => void points.push(`${letter}${x} ${y}`)
  path!({ moveTo: add('M'), lineTo: add('L') }, { x: (n) => n, y: (n) => n })
  return points
}

const DAY = 86_400
const day = (text: string): number => Date.parse(text) / 1000

describe('the chart of a result', () => {
  test.each([
    ['days', [['2025-10-01', 1]], true],
    ['months', [['2025-10', 1]], true],
    ['local times with offsets', [['2025-10-26T02:15:00+01:00', 1]], true],
    ['numbers', [[5, 1]], true],
    ['names', [['España', 1]], true],
    ['no numbers', [['2025-10-01', 'many']], false],
    ['an empty first column', [[null, 1]], false],
  ])('whether a result can be drawn depends on its columns: %s', (_, rows, isIt) => {
    expect(isDrawable(describeColumns(result(['a', 'b'], ...(rows as (string | number | null)[][]))))).toBe(isIt)
  })

  test('by default a result is a table, and a recipe has its own chart', () => {
    const days = result(['local_date', 'count', 'mean'], ['2025-10-01', 24, 5])
    expect(choose(days, '')).toBeNull()
    const recipe = { kind: 'bars', x: 'local_date', y: ['mean'] } as const
    expect(choose(days, '', recipe)).toEqual({ kind: 'bars', x: 'local_date', y: ['mean'], by: null })
    expect(choose(days, 'chart=table', recipe)).toBeNull()
    expect(choose(days, 'chart=line&y=count,mean', recipe)).toMatchObject({ kind: 'line', y: ['count', 'mean'] })
    // The columns of an edited statement may be others.
    expect(choose(result(['hour', 'price'], [1, 2]), '', recipe)).toMatchObject({ x: 'hour', y: ['price'] })
  })

  test('ids and the column across are not values by default, and columns with commas keep their names', () => {
    const rows = result(['hour', 'series_id', 'price'], [0, 7, 40], [1, 7, 42])
    expect(choose(rows)).toMatchObject({ x: 'hour', y: ['price'], by: null })
    expect(choose(rows, 'chart=line&y=series_id')).toMatchObject({ y: ['series_id'] })
    expect(choose(result(['t', 'max(a, b)'], [1, 2]), 'chart=line&y=max(a, b)')).toMatchObject({ y: ['max(a, b)'] })
  })

  test('rows that repeat a month are split by the column that tells them apart', () => {
    const rows = result(
      ['month', 'id', 'name', 'mwh'],
      ['2025-10', 1, 'wind', 5],
      ['2025-10', 2, 'sun', 3],
      ['2025-11', 1, 'wind', 6],
      ['2025-11', 2, 'sun', null],
    )
    expect(choose(rows, 'chart=bars')).toMatchObject({ by: 'name', y: ['mwh'] })
    expect(linesOf(rows, 'chart=bars').lines.map(({ name, values }) => [name, [...values.values()]])).toEqual([
      ['wind', [5, 6]],
      ['sun', [3]],
    ])
    expect(choose(rows, 'chart=bars&by=')).toMatchObject({ by: null })
    expect(drawingOf(rows, 'chart=bars').ticks.map(({ label }) => label)).toEqual(['Oct 2025', 'Nov 2025'])
  })

  test('a line stays open where a value or a day is missing, and a lone value is a dash', () => {
    const rows = result(
      ['local_date', 'value'],
      ['2025-10-01', 1],
      ['2025-10-02', 2],
      ['2025-10-03', null],
      ['2025-10-04', 4],
      ['2025-10-07', 7],
      ['2025-10-08', 8],
    )
    const [line] = drawingOf(rows).lines
    const at = (text: string): number => day(text)
    expect(pathOf(line!.stroke)).toEqual([
      `M${at('2025-10-01')} 1`,
      `L${at('2025-10-02')} 2`,
      `M${at('2025-10-04') - 2} 4`,
      `L${at('2025-10-04') + 2} 4`,
      `M${at('2025-10-07')} 7`,
      `L${at('2025-10-08')} 8`,
    ])
    expect(line!.valueRange).toEqual({ low: 1, high: 8 })
  })

  test('bars begin at zero, beside one another, and fill the distance of their positions', () => {
    const drawing = drawingOf(result(['day', 'a', 'b'], ['2025-10-01', 4, -1], ['2025-10-02', 6, 2]), 'chart=bars')
    expect(drawing.lines.map(({ valueRange }) => valueRange)).toEqual([
      { low: 0, high: 6 },
      { low: -1, high: 2 },
    ])
    const begin = day('2025-10-01') - 0.4 * DAY
    expect(pathOf(drawing.lines[0]!.bars).slice(0, 4)).toEqual([
      `M${begin} 0`,
      `L${begin} 4`,
      `L${begin + 0.4 * DAY} 4`,
      `L${begin + 0.4 * DAY} 0`,
    ])
    expect(pathOf(drawing.lines[1]!.bars)[0]).toBe(`M${day('2025-10-01')} 0`)
    expect([drawing.from, drawing.to]).toEqual([day('2025-10-01') - DAY / 2, day('2025-10-02') + DAY / 2])
  })

  test('times with an offset are instants of the zone, also in the repeated hour, and clocks without one stay', () => {
    const local = linesOf(result(['at_local', 'v'], ['2025-10-26T02:30:00+02:00', 1], ['2025-10-26T02:30:00+01:00', 2]))
    expect(local.zone).toBe('Europe/Madrid')
    expect(local.positions.map(([at]) => at)).toEqual([day('2025-10-26T00:30:00Z'), day('2025-10-26T01:30:00Z')])
    const clock = linesOf(result(['t', 'v'], ['2025-10-26 02:30', 1]))
    expect([clock.zone, clock.positions[0]![0]]).toEqual(['UTC', day('2025-10-26T02:30:00Z')])
    expect(linesOf(result(['at', 'v'], [1_761_438_600, 1])).positions).toEqual([
      [1_761_438_600, '2025-10-26T02:30:00+02:00'],
    ])
  })

  test('hours as texts are numbers with whole marks, and each position has its values in words', () => {
    const rows = result(['hour', 'v'], ...Array.from({ length: 24 }, (_, i) => [String(i).padStart(2, '0'), i]))
    const { ticks, hints } = drawingOf(rows)
    expect(ticks.map(({ label }) => label)).toEqual(['0', '5', '10', '15', '20'])
    expect(hints[7]).toMatchObject({ from: 6.5, to: 7.5, text: '07\nv: 7.00' })
  })

  test('names become bars in their order, at most forty', () => {
    const rows = result(['name', 'v'], ['b', 3], ['a', -1], ...Array.from({ length: 48 }, (_, i) => [`n${i}`, 0]))
    expect(choose(rows)).toMatchObject({ kind: 'bars' })
    const bars = namedBars(linesOf(rows), 'en')
    expect(bars.bars.slice(0, 2).map(({ text }) => text)).toEqual(['b: 3.00', 'a: -1.00'])
    expect([bars.bars.length, bars.leftOut, bars.valueRange]).toEqual([40, 10, { low: -1, high: 3 }])
  })

  test('more lines than colours are counted', () => {
    const rows = result(['day', 'name', 'v'], ...[...'abcdefghij'].map((name) => ['2025-10-01', name, 1]))
    expect(linesOf(rows)).toMatchObject({ leftOut: 3, lines: { length: 7 } })
  })
})

describe('values that a chart cannot show', () => {
  test.each([
    [
      'rows of one position',
      [
        [1, 2],
        [1, 50],
        [2, 3],
      ],
      1,
      [
        [1, 50],
        [2, 3],
      ],
    ],
    [
      'large numbers',
      [
        [1, 2],
        [2, 1e300],
        [1e200, 5],
      ],
      2,
      [[1, 2]],
    ],
  ] as const)('are counted: %s', (_, rows, hidden, drawn) => {
    const lines = linesOf(result(['x', 'y'], ...rows.map((row) => [...row])), 'chart=line&by=')
    expect(lines.hidden).toBe(hidden)
    expect([...lines.lines[0]!.values]).toEqual(drawn)
  })

  test('a group of a number and a text of its name are two lines', () => {
    const lines = linesOf(result(['x', 'g', 'y'], [1, 1, 5], [1, 'g 1', 6]), 'chart=line&by=g&y=y')
    expect(lines.lines.map(({ values }) => [...values])).toEqual([[[1, 5]], [[1, 6]]])
    expect(lines.hidden).toBe(0)
  })

  test.each([[1e300], [9e12], [-9e12]])('a column at with %s has numbers, not instants', (at) => {
    expect(describeColumns(result(['at', 'v'], [at, 5]))[0]!.content).toBe('number')
  })

  test('a day that no month has is a text', () => {
    expect(describeColumns(result(['day', 'v'], ['2026-02-30', 5]))[0]!.content).toBe('text')
  })

  test('one large value has an axis, and years have no separator', () => {
    const path = htmlText(draw(drawingOf(result(['x', 'y'], [1, 1e100])), FRAME, ON_WHITE, 'en'))
    expect(path).not.toContain('NaN')
    expect(drawingOf(result(['year', 'y'], [2023, 1], [2024, 2])).ticks.map(({ label }) => label)).toEqual([
      '2023',
      '2024',
    ])
  })
})
