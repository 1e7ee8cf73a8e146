import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Command } from '../../../src/cli/commandLine/command.ts'
import { COMMANDS } from '../../../src/cli/commandLine/commands.ts'
import { completionText, SHELLS } from '../../../src/cli/commandLine/completion.ts'
import { COMMON_FLAGS, type FlagOptions } from '../../../src/cli/flags.ts'
import { runCli, tempFolder } from '../../kit.ts'
import { RECIPES } from '../../recipes.ts'

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

/** What bash offers for the last of some words; the words are split as readline does, also at `=`. */
function offered(...words: string[]): string[] {
  const dir = tempFolder()
  mkdirSync(join(dir, 'jobs'))
  writeFileSync(join(dir, 'jobs/a night.yaml'), '')
  writeFileSync(join(dir, 'jobs/day.yaml'), '')
  const script = `${completionText('bash', COMMANDS)}
COMP_WORDS=(indicator-sync "$@"); COMP_CWORD=$#
_indicator_sync
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { cwd: dir, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

describe.runIf(has('bash'))('bash completes', () => {
  test('every command, and after a letter those that begin so', () => {
    expect(offered('').sort()).toEqual([...Object.keys(COMMANDS), '--help', '--version'].sort())
    expect(offered('sta')).toEqual(['status'])
    expect(offered('--v')).toEqual(['--version'])
  })

  test.each(Object.entries(COMMANDS))('every flag of %s', (name, { flags }) => {
    const all = [...Object.keys({ ...flags, ...COMMON_FLAGS }), 'help'].map((flag) => `--${flag}`)
    expect(offered(name, '--').sort()).toEqual(all.sort())
  })

  test('the words of flags, also after an equals sign, and those of actions', () => {
    expect(offered('status', '--format', '')).toEqual(['text', 'json', 'prometheus'])
    expect(offered('status', '--format', '=', 'p')).toEqual(['prometheus'])
    expect(offered('status', '--format', '=')).toEqual(['text', 'json', 'prometheus'])
    expect(offered('--log-format', 'json', 'query', '--recipe', '')).toEqual(RECIPES.map(({ name }) => name))
    expect(offered('archives', 'd')).toEqual(['download'])
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  })

  test('files where files go, names with a space too, and nothing where one likes what one likes', () => {
    expect(offered('sync', 'jobs/').sort()).toEqual(['jobs/a night.yaml', 'jobs/day.yaml'])
    expect(offered('sync', 'jobs/day.yaml', '--database', 'jo')).toEqual(['jobs'])
    for (const words of [
      ['emulator', '--script'],
      ['publish', '--page'],
      ['migrate', '--from'],
      ['status', '--job'],
    ])
      expect(offered(...words, 'jobs/d')).toEqual(['jobs/day.yaml'])
    expect(offered('export', '--from', 'jobs/d')).toEqual([])
    expect(offered('show', '600', '--last', '')).toEqual([])
    expect(offered('status', '')).toEqual([])
  })
})

test('every flag that speaks of a file or a folder first is completed with one', () => {
  for (const [name, { flags, positionals }] of Object.entries<Command>(COMMANDS))
    for (const [flag, { describe = '', type, completion }] of Object.entries<FlagOptions>({ ...flags, ...positionals }))
      if (type === 'string' && /^(?:(?:A|The|A new|Database|Job) )?(?:file|folder)s?\b/i.test(describe))
        expect(`${name} ${flag}: ${completion}`).toBe(`${name} ${flag}: file`)
})

describe('every shell', () => {
  test.each(SHELLS)('%s: the command prints its script, which the shell reads', async (shell) => {
    const folder = tempFolder()
    const { code, out, err } = await runCli(folder, ['completion', shell])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(`${completionText(shell, COMMANDS)}\n`)
    for (const name of Object.keys(COMMANDS)) expect(out).toContain(name)
    const script = join(folder, 'script')
    writeFileSync(script, out)
    if (has(shell)) expect(spawnSync(shell, ['-n', script], { encoding: 'utf8' }).stderr).toBe('')
  })

  test('another one is told which there are', async () => {
    const { code, err } = await runCli(tempFolder(), ['completion', 'tcsh'])
    expect(code).toBe(2)
    expect(err).toMatch(/<shell> "tcsh" is not legal; legal: bash, zsh, fish\./)
  })
})
