import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** Creates a self-signed certificate with openssl. */
export function certificate(folder: string, names: string, days = '2'): { key: Buffer; cert: Buffer; file: string } {
  const key = join(folder, 'key.pem')
  const cert = join(folder, 'cert.pem')
  spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=test'],
    ...['-days', days, '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert],
  ])
  return { key: readFileSync(key), cert: readFileSync(cert), file: cert }
}
