import { prometheusText } from '../../checks/metrics.ts'
import { readStatus } from '../../checks/status.ts'
import { type Answering, json } from '../page.ts'

/** `/metrics`: the figures of `status --format prometheus`. */
export const metrics: Answering = async ({ store, version }) => ({
  type: 'text/plain; version=0.0.4; charset=utf-8',
  body: await prometheusText(store, { version, callsLeft: [] }),
})

/** `/status.json`: the same as `status --json`. */
export const status: Answering = async ({ store }) => json({ database: store.file, ...(await readStatus(store)) })
