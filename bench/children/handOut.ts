/* Plans ten years of 2,000 series and queues them in a database on a server, then executes some. */

import { sendAll } from '../../src/cluster/distribute.ts'
import { openQueue } from '../../src/cluster/queue.ts'
import { openStore } from '../../src/db/open.ts'
import { EMPTY_STATE } from '../../src/job/plannerState.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { SERVICES } from '../../src/service/services.ts'

const [file = '', series = '2000'] = process.argv.slice(2)
const ids = Array.from({ length: Number(series) }, (_, i) => 600 + i)
const job = readJob(
  `name: bench\nseries:\n  - indicators: [${ids.join(', ')}]\n    window: { from: 2015-01-01, to: 2025-01-01 }\n`,
  'bench.yaml',
)
const store = await openStore(file)
const queue = await openQueue(store, 'service.test', (error) => {
  throw error
})
const now = Math.floor(Date.parse('2025-11-04T12:00:00Z') / 1000)
const began = performance.now()
const requests = planJob({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now, options: {} })
const { total: sent } = await sendAll(queue, job, 1, requests, now)
const seconds = (performance.now() - began) / 1000
const times: number[] = []
const { promise: isDone, resolve: end } = Promise.withResolvers<void>()
let from = performance.now()
await queue.work(1, async () => {
  const at = performance.now()
  times.push(at - from)
  from = at
  if (times.length === 301) end()
})
await isDone
times.shift()
times.sort((a, b) => a - b)
const { user, system } = process.cpuUsage()
process.stdout.write(
  `${JSON.stringify({ sent, seconds, claimMs: times[150], claimP99Ms: times[297], cpu: (user + system) / 1e6 })}\n`,
)
await queue.stop()
await store.close()
