import { prometheusText } from '../../reports/metrics.ts'
import { readStatus } from '../../reports/status.ts'
import { type Answering, jsonAnswer } from '../page.ts'
import { etagOf } from '../server/etag.ts'

/** `/api/live`: another text whenever something was written. */
export const answerState: Answering = async ({ store }) => jsonAnswer(await etagOf(store, []))

/** `/metrics`: the figures of `status --format prometheus`. */
export const answerMetrics: Answering = async ({ store, version, now }) => ({
  type: 'text/plain; version=0.0.4; charset=utf-8',
  body: await prometheusText(store, { version, callsLeft: [] }, now),
})

/** `/status.json`: the same as `status --json`. */
export const answerStatus: Answering = async ({ store, now }) =>
  jsonAnswer({ database: store.file, ...(await readStatus(store, now)) })
