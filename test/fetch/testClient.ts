import { onTestFinished } from 'vitest'
import { type Client, createClient } from '../../src/fetch/client.ts'
import { createPacer } from '../../src/fetch/pacer.ts'
import type { ClientOptions, Settings } from '../../src/fetch/settings.ts'
import { SERVICES } from '../../src/service/services.ts'

/** Options of a test client; `perSecond` is its pace. */
export interface TestOptions extends Partial<Settings>, Partial<ClientOptions> {
  readonly perSecond?: number
}

/** Creates a client that is closed after the test. */
export function testClient(baseUrl: string, { perSecond = 50, ...over }: TestOptions = {}): Client {
  const pacer = createPacer({ perSecond })
  const settings = { baseUrl, key: 'k'.repeat(64), service: SERVICES.generic, retryMs: 5, ...over }
  const { signal } = new AbortController()
  const client = createClient(settings, { pacer, concurrency: 1, signal, ...over })
  onTestFinished(async () => {
    pacer.close?.()
    await client.close()
  })
  return client
}
