import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EXIT } from '../../src/cli/terminal/fail.ts'
import { classifyError } from '../../src/fetch/classify.ts'
import { createRedactor } from '../../src/util/redact.ts'
import { runCli, tempFolder } from '../support/kit.ts'
import { certificate, hasOpenssl } from './certificate.ts'

describe('an insecure connection', () => {
  test.each([
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'CERT_REVOKED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
    'EE_KEY_TOO_SMALL',
    'CA_MD_TOO_WEAK',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    'EPROTO',
  ])('%s is a TLS error that is not retried', (code) => {
    const request = { route: 'indicators', url: 'https://api.example/indicators' }
    const failure = classifyError(Object.assign(new Error(code), { code }), request, createRedactor('k'.repeat(64)))
    expect(failure).toMatchObject({ maxAttempts: 1, error: { code: 'tls' } })
  })

  test.skipIf(!hasOpenssl)('an untrusted certificate and a wrong host name fail without a retry', async () => {
    const folder = tempFolder()
    const { key, cert, file } = certificate(folder, 'DNS:other.example')
    let requests = 0
    let connections = 0
    const server = createServer({ key, cert }, (_request, response) => {
      requests++
      response.end('{}')
    })
    server.on('connection', () => connections++)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    writeFileSync(join(folder, 'job.yaml'), 'name: x\ncatalogue: true\n')
    const env = {
      INDICATOR_SYNC_BASE_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      INDICATOR_SYNC_API_KEY: 'k'.repeat(64),
    }
    for (const [more, reason] of [
      [{}, /DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED/],
      [{ NODE_EXTRA_CA_CERTS: file }, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ] as const) {
      connections = 0
      const { code, out } = await runCli(folder, ['sync', 'job.yaml', '--json'], { ...env, ...more })
      expect(code).toBe(EXIT.unavailable)
      const [{ failures }] = JSON.parse(out) as [{ failures: { code: string; message: string }[] }]
      for (const failure of failures)
        expect(failure).toMatchObject({ code: 'tls', message: expect.stringMatching(reason) })
      expect(connections).toBe(failures.length)
    }
    expect(requests).toBe(0)
  })
})
