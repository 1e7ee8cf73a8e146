import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { extractKey } from '../../src/cli/settings/extractKey.ts'
import { API_KEY, type ApiKey, checkKey, expectedForm, isExposed, keyFault } from '../../src/service/key.ts'
import type { InputError } from '../../src/util/errors.ts'
import { emulate, runCommand, tempFolder } from '../support/kit.ts'

const KEY = '0123456789abcdef'.repeat(4)

describe('an invalid API key', () => {
  test.each([
    ['', /empty/],
    ['abc', /3 characters/],
    [`${KEY}\nsecond line`, /line/],
    ['two words of it', /space/],
    [`'${KEY}'`, /quotation/],
    [`"${KEY}`, /quotation/],
    [`"${KEY}"`, /quotation/],
    ['clé-secrète-1234', /header/],
    ['your-api-key', /placeholder/],
    ['<your key>', /space|placeholder/],
    ['xxxxxxxxxxxxxxxx', /placeholder/],
    ['changeme', /placeholder/],
    ['indicator', /occur in data/],
    ['2025-10-01', /occur in data/],
    [`API_KEY=${KEY}`, /NAME=KEY/],
    [`export ESIOS_TOKEN="${KEY}"`, /NAME=KEY/],
    [`api_key = ${KEY}`, /NAME=KEY/],
    [`x-api-key:${KEY}`, /NAME=KEY/],
    [[...KEY].join('\0'), /UTF-16/],
  ])('%j is refused with its fault', (text, fault) => {
    expect(keyFault(text)).toMatch(fault)
    if (text.length > 3) expect(keyFault(text)).not.toContain(text)
  })

  test.each([KEY, 'k'.repeat(64), 'test-key-1', 'a1b2c3d4', `  ${KEY}\n`, 'c2VjcmV0a2V5MQ==', 'user:secret-1'])(
    '%j is accepted as a key',
    (text) => expect(checkKey(text, 'here', API_KEY)).toBe(text.trim()),
  )

  test('a key is compared with the pattern that the service declares', () => {
    const digits = { header: 'x-key', issued: { pattern: '[0-9]{20}', words: '20 digits' } }
    expect(expectedForm(API_KEY, KEY)).toBeUndefined()
    expect(expectedForm(digits, KEY)).toBe('20 digits')
    expect(expectedForm(digits, '7'.repeat(20))).toBeUndefined()
    expect(expectedForm({ ...digits, issued: null }, KEY)).toBeUndefined()
    const hintOf = (form: ApiKey): string | undefined => {
      try {
        return checkKey('', 'here', form)
      } catch (error) {
        return (error as InputError).hint
      }
    }
    expect(hintOf(digits)).toMatch(/An issued key has 20 digits. Set/)
    expect(hintOf({ ...digits, issued: null })).toMatch(/^Set INDICATOR_SYNC_API_KEY/)
  })

  test('an invalid key stops only commands that need a key', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'job.yaml'), 'name: x\ncatalogue: true\n')
    const env = { INDICATOR_SYNC_BASE_URL: 'http://127.0.0.1:9', INDICATOR_SYNC_API_KEY: 'my secret key' }
    const sync = await runCommand(folder, ['sync', 'job.yaml'], env)
    expect(sync.code).toBe(2)
    expect(sync.err).toMatch(/\(from variable INDICATOR_SYNC_API_KEY\) cannot be sent .* contains a space/)
    expect(sync.out + sync.err).not.toContain('my secret key')
    expect((await runCommand(folder, ['plan', 'job.yaml'], env)).code).toBe(0)
    expect(readdirSync(folder)).not.toContain('data')
  })
})

describe('a key file', () => {
  const ASSIGNED = `INDICATOR_SYNC_API_KEY=${KEY}`
  const UNDERSTOOD = [
    KEY,
    `${KEY}\n`,
    `\uFEFF${KEY}\r\n`,
    `"${KEY}"\n`,
    `'${KEY}'`,
    `\n# The key of the service\n\n  ${KEY}  \n# end\n`,
    ASSIGNED,
    `\uFEFF# settings\r\nINDICATOR_SYNC_SERVICE=esios\r\n${ASSIGNED}\r\n`,
    `export INDICATOR_SYNC_API_KEY="${KEY}"\n`,
    `INDICATOR_SYNC_API_KEY = '${KEY}' # mine`,
  ]

  test.each(UNDERSTOOD)('%j contains the key', (text) => expect(extractKey(text.replace(/^\uFEFF/, ''))).toBe(KEY))

  test('exactly the key is sent, however it is written', async () => {
    const { url, key, requests } = await emulate({ key: KEY })
    const folder = tempFolder()
    for (const text of UNDERSTOOD) {
      writeFileSync(join(folder, 'key'), text)
      const { code, out } = await runCommand(folder, ['doctor', '--online', '--api-key-file', 'key', '--base-url', url])
      expect(out, text).toMatch(/^ok +online .*accepts the key/m)
      expect(code).toBe(0)
    }
    expect(requests).toHaveLength(UNDERSTOOD.length)
    expect(key).toBe(KEY)
    // As `docker run --env-file` passes it.
    const env = { INDICATOR_SYNC_API_KEY: `"${KEY}"` }
    const quoted = await runCommand(folder, ['doctor', '--online', '--base-url', url], env)
    expect(quoted.out).toMatch(/^ok +online .*accepts the key/m)
    expect(quoted.out).not.toContain(KEY)
  })

  test.each([
    ['', /is empty/],
    ['# only a comment\n', /is empty/],
    ['INDICATOR_SYNC_API_KEY=\n', /is empty/],
    [`ESIOS_API_KEY=${KEY}\n`, /NAME=KEY/],
    [`export ESIOS_API_KEY=${KEY}\n`, /NAME=KEY/],
    [`set INDICATOR_SYNC_API_KEY=${KEY}\r\n`, /contains a space/],
    [`${KEY}\n${KEY}\n`, /line break/],
    [`"${KEY}\n`, /quotation mark/],
    [Buffer.from(`\uFEFF${KEY}`, 'utf16le'), /UTF-16/],
  ])('%j is refused by the name of the file, and nothing is sent', async (text, fault) => {
    const { url, requests } = await emulate({ key: KEY })
    const folder = tempFolder()
    writeFileSync(join(folder, 'key.txt'), text)
    writeFileSync(join(folder, 'job.yaml'), 'name: x\ncatalogue: true\n')
    const args = ['sync', 'job.yaml', '--api-key-file', 'key.txt', '--base-url', url]
    const { code, out, err } = await runCommand(folder, args)
    expect(code).toBe(2)
    expect(err).toMatch(/^The API key \(from file key\.txt\) /)
    expect(err).toMatch(fault)
    expect(err).toMatch(/put the key alone on one line of a file/)
    expect(out + err).not.toContain(KEY)
    expect(requests).toHaveLength(0)
  })
})

describe('an unencrypted base URL', () => {
  test.each([
    ['http://localhost:8080', false],
    ['http://127.0.0.1/x', false],
    ['http://127.9.8.7', false],
    ['http://[::1]:80', false],
    ['http://api.localhost', false],
    ['https://api.example', false],
    ['http://api.example', true],
    ['http://127.0.0.1.example', true],
    ['http://localhost.example', true],
    ['http://10.0.0.1', true],
    ['http://0.0.0.0', true],
  ])('%s exposes the key: %s', (address, exposed) => expect(isExposed(address)).toBe(exposed))

  test('an unencrypted URL of another host is refused unless it is allowed', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'job.yaml'), 'name: x\ncatalogue: true\n')
    const env = { INDICATOR_SYNC_BASE_URL: 'http://no-such-host.invalid', INDICATOR_SYNC_API_KEY: KEY }
    const refused = await runCommand(folder, ['sync', 'job.yaml'], env)
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(/unencrypted[\s\S]*INDICATOR_SYNC_ALLOW_HTTP=1/)
    const { code, out } = await runCommand(folder, ['sync', 'job.yaml'], { ...env, INDICATOR_SYNC_ALLOW_HTTP: '1' })
    expect(code).toBe(8)
    expect(out).toMatch(/cannot be resolved/)
  })
})
