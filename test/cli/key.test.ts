import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { API_KEY, type ApiKey, checkKey, expectedForm, isExposed, keyFault } from '../../src/service/key.ts'
import type { InputError } from '../../src/util/errors.ts'
import { runCommand, tempFolder } from '../kit.ts'

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
  ])('%j is refused with its fault', (text, fault) => {
    expect(keyFault(text)).toMatch(fault)
    if (text.length > 3) expect(keyFault(text)).not.toContain(text)
  })

  test.each([KEY, 'k'.repeat(64), 'test-key-1', 'a1b2c3d4', `  ${KEY}\n`])('%j is accepted as a key', (text) =>
    expect(checkKey(text, 'here', API_KEY)).toBe(text.trim()),
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
