import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EXIT } from '../../src/cli/terminal/fail.ts'
import { emulate, runCli, runCommand, serve, tempFolder } from '../support/kit.ts'
import { openReader } from '../support/testStore.ts'
import { certificate, hasOpenssl } from './certificate.ts'
import { serveProxy } from './proxyServer.ts'

const KEY = '0123456789abcdef'.repeat(4)
const LOGIN = 'corp%5Cme:hunter%2322'
/** The password of the proxy in plain text, percent-encoded and as it is sent. */
const PASSWORD = /hunter(?:#|%23)22|Y29ycFxtZTpodW50ZXIjMjI/

const job = (more = ''): string => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'job.yaml'), `name: x\ncatalogue: true\n${more}`)
  return folder
}

/** Starts an https server for both names below `example` that passes requests on to an http server. */
async function serveTls(folder: string, to: string): Promise<{ port: number; ca: string }> {
  const { key, cert, file } = certificate(folder, 'DNS:api.example,DNS:hooks.example')
  const server: Server = createServer({ key, cert }, (message, response) => {
    const { hostname, port } = new URL(to)
    const options = { hostname, port, path: message.url!, method: message.method!, headers: message.headers }
    const upstream = request(options, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    message.pipe(upstream)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, ca: file }
}

describe('a program behind a proxy', () => {
  test.skipIf(!hasOpenssl)('sync, notifications and doctor reach https hosts through a tunnel', async () => {
    const emulator = await emulate({ key: KEY })
    let notified = ''
    const hook = await serve((message, response) => {
      message.on('data', (data) => {
        notified += data
      })
      message.on('end', () => response.end())
    })
    const folder = job()
    const service = await serveTls(folder, emulator.url)
    const hooks = await serveTls(tempFolder(), hook.url)
    const hosts = { 'api.example:443': service.port, 'hooks.example:443': hooks.port }
    const proxy = await serveProxy({ hosts, login: 'corp\\me:hunter#22' })
    writeFileSync(join(folder, 'ca.pem'), [service, hooks].map(({ ca }) => readFileSync(ca, 'utf8')).join(''))
    // A setting of `.env` works, too. The own variable wins, and a proxy without a scheme is an http proxy.
    writeFileSync(join(folder, '.env'), `INDICATOR_SYNC_PROXY="${LOGIN}@127.0.0.1:${proxy.port}"\n`)
    const env = {
      INDICATOR_SYNC_BASE_URL: 'https://api.example',
      INDICATOR_SYNC_API_KEY: KEY,
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    }
    const args = ['sync', 'job.yaml', '--verbose', '--notify', 'https://hooks.example/x?token=t0kent0ken']
    const { code, out, err } = await runCli(folder, args, env)
    expect(err).not.toMatch(/did not receive/)
    expect(code, out).toBe(EXIT.done)
    expect(JSON.parse(notified)).toMatchObject({ event: 'done', ok: true })
    expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT api.example:443', 'CONNECT hooks.example:443']))

    const doctor = await runCli(folder, ['doctor', '--online'], env)
    expect(doctor.out).toMatch(new RegExp(`^ok +proxy +${proxy.url} \\(\\.env\\)$`, 'm'))
    expect(doctor.out).toMatch(/^ok +online .*accepts the key$/m)
    expect(doctor.code).toBe(EXIT.done)

    expect(proxy.received()).not.toContain(KEY)
    const texts = [out, err, doctor.out, doctor.err, notified].join('\n')
    expect(texts).not.toMatch(PASSWORD)
    expect(texts).not.toContain(KEY)
    const reader = openReader(join(folder, 'data/indicator-sync.db'))
    const recorded = JSON.stringify(await reader.kysely.selectFrom('_fetch').selectAll().execute())
    await reader.close()
    expect(recorded).not.toMatch(PASSWORD)
  })

  test.skipIf(!hasOpenssl)('a proxy may be reached by TLS, for https and http hosts', async () => {
    const emulator = await emulate({ key: KEY })
    const folder = job()
    const service = await serveTls(folder, emulator.url)
    const hosts = { 'api.example:443': service.port, 'api.example:80': Number(new URL(emulator.url).port) }
    const proxy = await serveProxy({ hosts })
    const { key, cert, file } = certificate(tempFolder(), 'IP:127.0.0.1')
    const front = createTlsServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      const upstream = connect(proxy.port, '127.0.0.1').on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
      socket.pipe(upstream).pipe(socket)
    })
    await new Promise<void>((done) => front.listen(0, '127.0.0.1', done))
    onTestFinished(() => void front.close())
    const url = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
    writeFileSync(join(folder, 'ca.pem'), [service.ca, file].map((ca) => readFileSync(ca, 'utf8')).join(''))
    const env = { INDICATOR_SYNC_API_KEY: KEY, INDICATOR_SYNC_PROXY: url, INDICATOR_SYNC_ALLOW_HTTP: '1' }
    for (const base of ['https://api.example', 'http://api.example']) {
      const args = ['doctor', '--online', '--base-url', base]
      const trusted = await runCli(folder, args, { ...env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
      expect(trusted.out).toMatch(/^ok +online .*accepts the key$/m)
      const { length } = proxy.seen
      const { out } = await runCli(folder, args, env)
      expect(out).toMatch(/^FIX +online +The proxy cannot be reached .*SELF_SIGNED/m)
      expect(proxy.seen).toHaveLength(length)
    }
    expect(proxy.seen.map((line) => line.split(' ')[0])).toEqual(['CONNECT', 'GET'])
  })

  test.skipIf(!hasOpenssl)(
    'a certificate that is not trusted is an error of TLS, and its hint names the CA file',
    async () => {
      const emulator = await emulate({ key: KEY })
      const folder = job()
      const service = await serveTls(folder, emulator.url)
      const proxy = await serveProxy({ hosts: { 'api.example:443': service.port } })
      const env = { INDICATOR_SYNC_API_KEY: KEY, https_proxy: proxy.url }
      const { out } = await runCli(folder, ['doctor', '--online', '--base-url', 'https://api.example'], env)
      expect(out).toMatch(/^FIX +online .*TLS connection failed.*NODE_EXTRA_CA_CERTS/m)
      expect(emulator.requests).toHaveLength(0)
    },
  )
})

describe('a proxy that fails', () => {
  const env = { INDICATOR_SYNC_BASE_URL: 'https://api.example.invalid', INDICATOR_SYNC_API_KEY: KEY }

  test('a run whose proxy fails names it, and does not blame the service', async () => {
    const folder = job()
    const proxy = await serveProxy({ login: 'somebody:else' })
    const HTTPS_PROXY = proxy.url.replace('//', `//${LOGIN}@`)
    const { code, out, err } = await runCommand(folder, ['sync', 'job.yaml', '--json'], { ...env, HTTPS_PROXY })
    expect(code).toBe(EXIT.unavailable)
    const [{ stop, failures }] = JSON.parse(out)
    expect(failures).toMatchObject([{ code: 'proxy' }])
    expect(stop.message).toMatch(
      /^No request passes the proxy\. Last error: The proxy requires .*127\.0\.0\.1:\d+ from variable HTTPS_PROXY: status 407/,
    )
    expect(stop.hint).toMatch(/USER:PASSWORD@HOST:PORT.*NO_PROXY.*run the same command again/)
    expect(proxy.seen).toHaveLength(1)
    expect(out + err).not.toMatch(PASSWORD)
    expect(out + err).not.toContain('corp')
  })

  test('doctor names the proxy of the service, or why it has none', async () => {
    const folder = tempFolder()
    const HTTPS_PROXY = `http://${LOGIN}@proxy.example:3128`
    const doctor = async (more: Record<string, string>, ...words: string[]) =>
      (await runCommand(folder, ['doctor', ...words], { ...env, ...more })).out
    expect(await doctor({})).not.toMatch(/proxy/)
    expect(await doctor({ HTTPS_PROXY })).toMatch(/^ok +proxy +http:\/\/proxy\.example:3128 \(variable HTTPS_PROXY\)$/m)
    expect(await doctor({ HTTPS_PROXY, no_proxy: 'example.invalid' })).toMatch(
      /^ok +proxy +none: api\.example\.invalid is excepted \(variable no_proxy\)$/m,
    )
    expect(await doctor({ INDICATOR_SYNC_PROXY: HTTPS_PROXY }, '--base-url', 'http://127.0.0.1:8080')).toMatch(
      /^ok +proxy +none: 127\.0\.0\.1:8080 is on this machine$/m,
    )
    const bad = await doctor({ HTTPS_PROXY: `socks5://${LOGIN}@proxy.example` })
    expect(bad).toMatch(/^FIX +proxy +The proxy address \(from variable HTTPS_PROXY\) is not valid\. Use http:/m)
    expect(bad).not.toMatch(PASSWORD)
    const online = await doctor({ HTTPS_PROXY: 'http://127.0.0.1:9' }, '--online')
    expect(online).toMatch(/^FIX +online +The proxy cannot be reached .*ECONNREFUSED/m)
  })

  test('an invalid proxy address stops only commands that use it', async () => {
    const folder = job()
    const variables = { ...env, HTTPS_PROXY: `socks5://${LOGIN}@proxy.example` }
    const sync = await runCommand(folder, ['sync', 'job.yaml'], variables)
    expect(sync.code).toBe(EXIT.usage)
    expect(sync.err).toMatch(
      /^The proxy address \(from variable HTTPS_PROXY\) is not valid\.\n {2}→ Use http:\/\/HOST:PORT/,
    )
    expect(sync.out + sync.err).not.toMatch(PASSWORD)
    expect((await runCommand(folder, ['plan', 'job.yaml'], variables)).code).toBe(EXIT.done)
    const { url, key } = await emulate({ key: KEY })
    expect(key).toBe(KEY)
    const here = ['sync', 'job.yaml', '--base-url', url]
    expect((await runCommand(folder, here, variables)).code).toBe(EXIT.done)
    const notify = await runCommand(folder, [...here, '--notify', 'https://hooks.example/x'], variables)
    expect(notify.code).toBe(EXIT.usage)
    expect(notify.err).toMatch(/variable HTTPS_PROXY/)
  })
})

describe('an unencrypted service behind a proxy', () => {
  test('the key is not sent to the proxy, unless plain HTTP is allowed', async () => {
    const emulator = await emulate({ key: KEY })
    const proxy = await serveProxy({ hosts: { 'api.example:80': Number(new URL(emulator.url).port) } })
    const folder = job()
    const env = {
      INDICATOR_SYNC_BASE_URL: 'http://api.example',
      INDICATOR_SYNC_API_KEY: KEY,
      INDICATOR_SYNC_PROXY: proxy.url,
    }
    for (const args of [['sync', 'job.yaml'], ['probe'], ['archives', 'download'], ['discover', '--refresh']]) {
      const refused = await runCommand(folder, args, env)
      expect(refused.code, args[0]).toBe(EXIT.usage)
      expect(refused.err).toMatch(/unencrypted[\s\S]*INDICATOR_SYNC_ALLOW_HTTP=1/)
    }
    expect((await runCommand(folder, ['doctor', '--online'], env)).out).toMatch(/^FIX +online .*unencrypted/m)
    expect(proxy.received()).toBe('')

    const allowed = { ...env, INDICATOR_SYNC_ALLOW_HTTP: '1' }
    for (const args of [
      ['sync', 'job.yaml'],
      ['discover', '--refresh'],
      ['doctor', '--online'],
    ])
      expect((await runCommand(folder, args, allowed)).code, args[0]).toBe(EXIT.done)
    const probe = await runCommand(folder, ['probe', '--only', 'average', '--record', 'probe'], allowed)
    expect(probe.out).toMatch(/responses are in probe/)
    expect(proxy.seen.every((line) => line.startsWith('GET http://api.example/'))).toBe(true)
    expect(proxy.seen).toHaveLength(emulator.requests.length)
  })
})
