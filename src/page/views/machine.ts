import { prometheusText } from '../../checks/metrics.ts'
import { readStatus } from '../../checks/status.ts'
import { type Endpoint, json } from '../page.ts'

/** `/metrics`: the figures of `status --format prometheus`. They count some tables, so another site may not ask for them. */
const metrics: Endpoint = {
  path: '/metrics',
  clock: true,
  own: true,
  answer: async ({ store, version }) => ({
    type: 'text/plain; version=0.0.4; charset=utf-8',
    body: await prometheusText(store, { version, callsLeft: [] }),
  }),
}

/** `/status.json`: what `status --json` says. */
const status: Endpoint = {
  path: '/status.json',
  clock: true,
  own: true,
  answer: async ({ store }) => json({ database: store.file, ...(await readStatus(store)) }),
}

/** What monitors ask. */
export const MACHINE_ENDPOINTS: readonly Endpoint[] = [metrics, status]
