import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { manText } from '../../build/manText.ts'
import { COMMANDS } from '../../src/cli/commandLine/commands.ts'
import { COMMAND_GROUPS, helpText } from '../../src/cli/commandLine/help.ts'
import { PAGES, STALE } from './pages.ts'

describe('what is made from the code', () => {
  test.each(Object.entries(PAGES))('%s is what the code says', (file, text) => {
    expect(readFileSync(file, 'utf8') === text(), `${file} ${STALE}`).toBe(true)
  })

  test('every command stands once in the help, those first that one needs first', () => {
    const names = COMMAND_GROUPS.flatMap(({ commands }) => Object.keys(commands))
    expect([...names].sort()).toEqual(Object.keys(COMMANDS).sort())
    expect(Object.keys(COMMAND_GROUPS[0]!.commands)).toEqual(['init', 'sync', 'status', 'query', 'export'])
    for (const width of [60, 110])
      for (const line of helpText(width).split('\n')) expect(line.length, line).toBeLessThanOrEqual(width)
  })

  test('the manual page has nothing that roff would take for a request of its own', () => {
    for (const line of manText('1.0.0').split('\n')) {
      expect(line).not.toMatch(/^'/)
      if (line.startsWith('.')) expect(line).toMatch(/^\.(TH|SH|SS|TP|PP|B|\\")( |$)/)
    }
  })
})
