import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandGroups, manText } from '../../build/manText.ts'
import { COMMANDS } from '../../src/cli/commandLine/commands.ts'
import { helpText } from '../../src/cli/commandLine/help.ts'
import { API_PAGE, PAGES, STALE } from './pages.ts'

describe('generated pages', () => {
  test.each(Object.entries(PAGES).filter(([file]) => file !== API_PAGE))('%s matches the code', async (file, text) => {
    expect(readFileSync(file, 'utf8') === (await text()), `${file} ${STALE}`).toBe(true)
  })

  test('the help lists every command once, in the order of use', () => {
    const lines = helpText().split('\n')
    const names = lines.flatMap((line) => /^ {2}([a-z]+) {2,}/.exec(line)?.[1] ?? [])
    expect(names.sort()).toEqual(Object.keys(COMMANDS).sort())
    expect(lines.indexOf('Start')).toBeLessThan(lines.indexOf('Fetch'))
    expect(lines.length).toBeLessThanOrEqual(60)
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
  })

  test('every flag and argument has a description of at most ten words', async () => {
    for (const command of [...(await commandGroups()).values()].flat())
      for (const [name, { describe = '' }] of Object.entries({ ...command.positionals, ...command.flags })) {
        const words = describe.split(/\s+/).length
        expect(describe === '' || words > 10 ? `${command.name} ${name}: ${describe}` : '').toBe('')
      }
  })

  test('the manual page contains no accidental roff requests', async () => {
    for (const line of (await manText('1.0.0')).split('\n')) {
      expect(line).not.toMatch(/^'/)
      if (line.startsWith('.')) expect(line).toMatch(/^\.(TH|SH|SS|TP|PP|B|br|\\")( |$)/)
    }
  })
})
