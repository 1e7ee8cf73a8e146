import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { emulate, runCommand, type Script, serve, tempFolder } from '../../support/kit.ts'
import { testModes } from '../../support/systems.ts'

const KEY = 'f00dfacecafe0123'.repeat(4)
const to = (url: string, key = KEY) => ({ INDICATOR_SYNC_BASE_URL: url, INDICATOR_SYNC_API_KEY: key })

describe('doctor', () => {
  testModes('doctor warns about a .env file that others can read', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, '.env'), `INDICATOR_SYNC_API_KEY=${KEY}\nINDICATOR_SYNC_BASE_URL=https://api.example\n`)
    chmodSync(join(folder, '.env'), 0o644)
    const open = await runCommand(folder, ['doctor'])
    expect(open.code).toBe(0)
    expect(open.out).toMatch(/^WARN \.env .*mode 644.*chmod 600 \.env$/m)
    chmodSync(join(folder, '.env'), 0o600)
    expect((await runCommand(folder, ['doctor'])).out).toMatch(/^ok {3}\.env .*only by its owner$/m)
  })

  test('doctor reports an invalid key and an unencrypted base URL', async () => {
    const { code, out } = await runCommand(tempFolder(), ['doctor'], to('http://api.example', 'your-api-key'))
    expect(code).toBe(6)
    expect(out).toMatch(/^FIX +key .*placeholder/m)
    expect(out).toMatch(/^FIX +encryption .*INDICATOR_SYNC_ALLOW_HTTP=1/m)
    const allowed = await runCommand(tempFolder(), ['doctor'], {
      ...to('http://api.example'),
      INDICATOR_SYNC_ALLOW_HTTP: '1',
    })
    expect(allowed.code).toBe(0)
    expect(allowed.out).toMatch(/^WARN encryption/m)
  })

  const clock =
    (off: number): Script =>
    (_request, response) =>
      response.writeHead(200, { Date: new Date(Date.now() + off).toUTCString() }).end('{"widgets":[]}')
  test.each<[string, Script, RegExp]>([
    ['accepts the key', clock(0), /^ok +online .*accepts the key[\s\S]*^ok +clock online/m],
    ['refuses the key', (_q, s) => s.writeHead(403).end('{"message":"Forbidden"}'), /^FIX +key online .*refused/m],
    ['has a firewall', (_q, s) => s.writeHead(403).end('<html>no</html>'), /^FIX +online .*firewall/m],
    ['has a different clock', clock(-3_600_000), /^FIX +clock online +60 minutes ahead/m],
    ['does not return JSON', (_q, s) => s.end('hello'), /^FIX +online .*JSON/m],
    ['redirects', (_q, s) => s.writeHead(301, { Location: 'https://x' }).end(), /^FIX +online .*redirect/m],
  ])('doctor --online sends a single request to a service that %s', async (_name, script, says) => {
    const server = await serve(script)
    const { code, out } = await runCommand(tempFolder(), ['doctor', '--online'], to(server.url))
    expect(out).toMatch(says)
    expect(code).toBe(/^FIX/m.test(out) ? 6 : 0)
    expect(out).not.toContain(KEY)
    expect(server.calls).toHaveLength(1)
  })

  test('doctor --online reports an unreachable host and sends one request to a reachable one', async () => {
    const none = await runCommand(tempFolder(), ['doctor', '--online'], to('https://no-such-host.invalid'))
    expect(none.code).toBe(6)
    expect(none.out).toMatch(/^FIX +online .*cannot be resolved/m)
    const emulator = await emulate()
    const well = await runCommand(tempFolder(), ['doctor', '--online', '--json'], to(emulator.url, emulator.key))
    expect(JSON.parse(well.out)).toContainEqual(expect.objectContaining({ what: 'service', good: true }))
    expect(emulator.requests).toHaveLength(1)
  })
})
