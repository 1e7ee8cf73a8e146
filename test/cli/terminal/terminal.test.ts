import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exitCodeFor } from '../../../src/cli/terminal/fail.ts'
import { createLog } from '../../../src/util/log.ts'
import { oneLine, visible } from '../../../src/util/text.ts'
import { json, ms, runCommand, runJob, serve, tempFolder, tempStore } from '../../support/kit.ts'

const NASTY =
  '\u001b[31mred\u001b[0m\u001b]0;title\u0007\u009b2J\r\nOK forged\u2028line\u202eright\u2066\u200b\u0000\ufeff\u{e0041}end'
/** Characters that must not reach a terminal, except line breaks and tabs. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

describe('text of a service', () => {
  test('text of a service becomes one line without invisible characters', () => {
    expect(oneLine(NASTY)).not.toMatch(HIDDEN)
    expect(oneLine(NASTY)).toContain('OK forged line')
    expect(oneLine(NASTY).split('\n')).toHaveLength(1)
  })

  test('escaped JSON of a service decodes to the same value', () => {
    const text = visible(JSON.stringify({ NASTY }))
    expect(text).not.toMatch(HIDDEN)
    expect(JSON.parse(text)).toEqual({ NASTY })
  })

  test.each(['pretty', 'json'] as const)('text of a service cannot forge lines of a %s log', (format) => {
    const written: string[] = []
    const write = process.stderr.write
    process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write
    try {
      createLog({ level: 'info', format, isColored: false, secrets: [] }).info(oneLine(`it said ${NASTY}`))
      createLog({ level: 'info', format, isColored: false, secrets: [] }).info(`it said ${NASTY.replaceAll('\n', '')}`)
    } finally {
      process.stderr.write = write
    }
    expect(written).toHaveLength(2)
    for (const line of written) {
      expect(line.trimEnd().split('\n')).toHaveLength(1)
      expect(line).not.toMatch(HIDDEN)
    }
  })

  test('every command escapes text of a service, and the database keeps it unchanged', async () => {
    const named = { id: 1739, name: NASTY, short_name: NASTY, description: NASTY }
    const server = await serve((request, response) => {
      const url = request.url!
      if (url.startsWith('/indicators/7')) return json(response, { message: NASTY })
      if (url.startsWith('/indicators/8')) return json(response, `{"a": ${NASTY}`)
      if (url.startsWith('/indicators/9')) return json(response, 'x', 200, { 'Content-Encoding': 'a"b;<c>' })
      if (url.startsWith('/indicators/1739')) {
        const value = { value: 1, datetime: '2025-10-01T00:00:00+02:00', geo_id: 3, geo_name: NASTY }
        return json(response, { indicator: { ...named, geos: [], values: [value, { ...value, value: NASTY }] } })
      }
      return json(response, { indicators: [named] })
    })
    const store = await tempStore()
    const yaml = `catalogue: true
series: [{ indicators: [1739, 7, 8, 9], window: { from: 2025-10-01, to: 2025-10-02 } }]`
    await runJob(store, server, yaml, { now: ms('2025-11-04T12:00:00Z') })
    expect(store.get("select name from indicator_text where name like '%forged%'")).toBe(NASTY)
    const folder = tempFolder()
    writeFileSync(join(folder, 'job.yaml'), `name: x\n${yaml}`)
    const env = {
      INDICATOR_SYNC_DATABASE: store.file,
      INDICATOR_SYNC_BASE_URL: server.url,
      INDICATOR_SYNC_API_KEY: 'k'.repeat(64),
    }
    for (const args of [
      ['status'],
      ['status', '--json'],
      ['gaps'],
      ['check'],
      ['discover', 'forged'],
      ['discover', 'forged', '--json'],
      ['show', '1739'],
      ['quarantine', 'list'],
      ['quarantine', 'list', '--json'],
      ['query', 'select name, description from indicator_text'],
      ['query', 'select name from indicator_text', '--format', 'json'],
      ['query', 'select name from indicator_text', '--format', 'ndjson'],
      ['query', 'select name from indicator_text', '--format', 'markdown'],
      ['retry'],
      ['sync', 'job.yaml', '--verbose'],
    ]) {
      const { out, err, code } = await runCommand(folder, args, env)
      expect([0, 1, 6], `${args} ${err}`).toContain(code)
      expect(out, args.join(' ')).not.toMatch(HIDDEN)
      expect(err, args.join(' ')).not.toMatch(HIDDEN)
      for (const line of `${out}\n${err}`.split('\n')) expect(line, args.join(' ')).not.toMatch(/^\s*OK forged/)
    }
  })
})

describe('errors of the operating system', () => {
  const fault = (code: string, syscall = 'open', path = '/x') => Object.assign(new Error(code), { code, syscall, path })
  test.each([
    ['EISDIR', 2],
    ['ENOENT', 2],
    ['EACCES', 2],
    ['EMFILE', 7],
    ['ENOSPC', 7],
    ['EIO', 7],
  ])('%s has exit code %i', (code, exit) => expect(exitCodeFor(fault(code))).toBe(exit))

  const run = (args: string[], stdio: ('ignore' | 'pipe')[], cwd = tempFolder()) =>
    spawnSync(process.execPath, [resolve('src/cli/bin.js'), ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: cwd },
      stdio,
      encoding: 'utf8',
    })

  test('a folder in place of .env, a job or a key file is named in the error', () => {
    const folder = tempFolder()
    mkdirSync(join(folder, '.env'))
    const status = run(['status'], ['ignore', 'pipe', 'pipe'], folder)
    expect(status).toMatchObject({ status: 2, stderr: expect.stringMatching(/\.env is a folder \(EISDIR\)/) })
    const job = run(['validate', '.'], ['ignore', 'pipe', 'pipe'])
    expect(job.status).toBe(2)
    const key = run(['doctor', '--api-key-file', '.'], ['ignore', 'pipe', 'pipe'])
    expect(key).toMatchObject({ status: 2, stderr: expect.stringMatching(/key file/) })
  })
})
