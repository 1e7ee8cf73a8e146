import { machinesMetrics, readMachines } from '../../checks/machines.ts'
import { prometheusText } from '../../checks/metrics.ts'
import { readStatus } from '../../checks/status.ts'
import { type Answering, jsonAnswer } from '../page.ts'

/** `/metrics`: the figures of `status --format prometheus`. */
export const answerMetrics: Answering = async ({ store, version, now }) => {
  const machines = await readMachines(store)
  const figures = await prometheusText(store, { version, callsLeft: [] }, now)
  const body = machines ? `${figures}${machinesMetrics(machines)}\n` : figures
  return { type: 'text/plain; version=0.0.4; charset=utf-8', body }
}

/** `/status.json`: the same as `status --json`. */
export const answerStatus: Answering = async ({ store, now }) =>
  jsonAnswer({ database: store.file, ...(await readStatus(store, now)) })
