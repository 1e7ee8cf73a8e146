import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandGroups } from '../../../build/manText.ts'
import { COMMANDS } from '../../../src/cli/commandLine/commands.ts'
import { COMMON_FLAGS } from '../../../src/cli/flags.ts'
import { runCommand, tempFolder } from '../../kit.ts'

/** Returns the suggestions for the last word, as the bash script receives them. */
const offered = async (...words: string[]): Promise<string[]> => {
  const args = ['--get-yargs-completions', 'indicator-sync', ...words]
  const { code, out, err } = await runCommand(tempFolder(), args, { SHELL: '/bin/bash' })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out.split('\n').filter((line) => line !== '')
}

describe('shell completion', () => {
  test('completion offers every command', async () => {
    expect(await offered('')).toEqual(Object.keys(COMMANDS))
    expect((await offered('--v')).sort()).toEqual(['--help', '--version'])
  })

  test('completion offers every flag of every command', async () => {
    for (const { name, flags } of [...(await commandGroups()).values()].flat()) {
      const all = [...Object.keys({ ...flags, ...COMMON_FLAGS }), 'help', 'version'].map((flag) => `--${flag}`)
      expect((await offered(name, '--')).sort()).toEqual(all.sort())
    }
  })

  test.each<[string[], string[]]>([
    [
      ['status', '--format', ''],
      ['text', 'json', 'prometheus'],
    ],
    [['archives', 'd'], ['download']],
    [['completion', 'z'], ['zsh']],
  ])('completion offers the legal values after %j', async (words, values) => {
    expect(await offered(...words)).toEqual(values)
  })
})

describe('completion scripts', () => {
  test.each(['bash', 'zsh', 'fish'])('the script for %s is valid in that shell', async (shell) => {
    const folder = tempFolder()
    const { code, out, err } = await runCommand(folder, ['completion', shell])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('indicator-sync --get-yargs-completions')
    expect(out).toContain(`Installation: indicator-sync completion ${shell} >`)
    const script = join(folder, 'script')
    writeFileSync(script, out)
    if (spawnSync(shell, ['--version']).status === 0)
      expect(spawnSync(shell, ['-n', script], { encoding: 'utf8' }).stderr).toBe('')
  })

  test('the command refuses an unknown shell and lists the supported ones', async () => {
    const { code, err } = await runCommand(tempFolder(), ['completion', 'tcsh'])
    expect(code).toBe(2)
    expect(err).toMatch(/<shell> "tcsh" is not valid; expected one of: bash, zsh, fish\./)
  })
})
