import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { withProgramName } from '../../../src/cli/command.ts'
import { tableText } from '../../../src/cli/terminal/table.ts'
import { wrapText } from '../../../src/cli/terminal/width.ts'

const columns = ['id', 'name', 'at_local', 'value']
const rows = [
  [600, 'Precio mercado SPOT Diario de España y Portugal', '2025-11-01T00:00:00+01:00', 81.25],
  [10211, 'Precio medio horario', '2025-11-01T01:00:00+01:00', -3],
]
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => [...line].length))

describe('a table', () => {
  test('a table is not shortened if the width allows it', () => {
    expect(tableText({ columns, rows }, Number.POSITIVE_INFINITY)).toContain(
      'Precio mercado SPOT Diario de España y Portugal',
    )
    expect(tableText({ columns, rows })).toContain('Precio mercado SPOT Diario de España y Portugal')
  })

  test.each([90, 70, 60, 56])('a table shortens words in %i columns, but no numbers, times or names', (cells) => {
    const text = tableText({ columns, rows }, cells)
    expect(widest(text)).toBeLessThanOrEqual(cells)
    for (const whole of ['10211', '2025-11-01T01:00:00+01:00', '81.25', ...columns]) expect(text).toContain(whole)
    if (cells < 79) expect(text).toMatch(/Precio .*…/)
  })

  test.each([48, 36])('a table too wide for %i columns prints one paragraph per row without shortening', (cells) => {
    const text = tableText({ columns, rows }, cells)
    expect(text).not.toContain('…')
    expect(text.split('\n').filter((line) => line.startsWith('── '))).toHaveLength(rows.length)
    for (const row of rows) for (const value of row) expect(text.replaceAll(/\s+/g, ' ')).toContain(String(value))
  })

  test('a table counts wide characters as two cells and does not split combined ones', () => {
    const wide = [
      ['電力 市場', 1],
      ['e\u0301 e\u0301 e\u0301 e\u0301 e\u0301', 2],
    ]
    const lines = tableText({ columns: ['name', 'n'], rows: wide }, 80).split('\n')
    expect(lines.slice(2).map((line) => stringWidth(line))).toEqual([12, 12])
    const cut = tableText({ columns: ['name', 'n'], rows: wide }, 11).split('\n')
    expect(cut[2]).toMatch(/^電力 市…/)
    expect(cut[3]).toMatch(/^(?:e\u0301 ){3}e\u0301… /)
  })

  test('a table without rows prints its header', () => {
    expect(tableText({ columns, rows: [] }, 10).split('\n')).toHaveLength(2)
  })
})

test('a text is wrapped by terminal cells, even within a long word', () => {
  for (const cells of [2, 20, 61]) {
    const text = `${'電力'.repeat(100)} ${'e\u0301'.repeat(100)} ${'👩‍🔧'.repeat(50)}`
    const lines = wrapText(text, cells).split('\n')
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(cells)
    expect(lines.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''))
  }
})

test('a next step uses the command with which the user started the program', () => {
  const { npm_command: before } = process.env
  try {
    process.env.npm_command = 'exec'
    expect(
      withProgramName('Run `indicator-sync sync <job>`, or npx indicator-sync demo; a bug of indicator-sync.'),
    ).toBe('Run `npx indicator-sync sync <job>`, or npx indicator-sync demo; a bug of indicator-sync.')
    delete process.env.npm_command
    expect(withProgramName('indicator-sync --help')).toBe('indicator-sync --help')
  } finally {
    if (before !== undefined) process.env.npm_command = before
  }
})
