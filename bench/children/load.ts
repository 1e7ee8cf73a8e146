/* The product from raw bytes to committed rows, one transaction per response: `node load.ts small|large database responses`. */
import { openStore } from '../../src/db/open.ts'
import { ensureZone } from '../../src/db/queries/referenceTables.ts'
import { load } from '../../src/load/load.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readReply } from '../../src/sync/readReply.ts'
import { openRun } from '../../src/sync/record.ts'
import { planRequest, readResponses, SHAPES, type ShapeName } from '../responses.ts'

const [shapeName, database, file] = process.argv.slice(2) as [ShapeName, string, string]
const store = await openStore(database)
const bodies = readResponses(file)
await ensureZone(store, SERVICES.generic.timeZone)
const began = performance.now()
const worked = process.cpuUsage()
const { runId } = await openRun({ store, version: '0', nowMs: Date.now }, 'bench', { name: 'bench' })
const loading = { store, runId, keep: 'all', nowMs: Date.now } as const
// As in a sync: some responses are read while the rows of another are written.
const AHEAD = 4
const begin = (n: number) => readReply(bodies[n]!, planRequest(n, SHAPES[shapeName]))
const reads = bodies.slice(0, AHEAD).map((_, n) => begin(n))
let rows = 0
for (let n = 0; n < bodies.length; n++) {
  const body = bodies[n]!
  if (n + AHEAD < bodies.length) reads.push(begin(n + AHEAD))
  const made = await reads.shift()!
  const planned = planRequest(n, SHAPES[shapeName])
  await load(
    loading,
    planned,
    { status: 200, headers: {}, body, bytes: body.length, attempts: 1, sentAt: Date.now(), ms: 1 },
    made,
  )
  rows += made.rows.observations!.at.length
}
const { user, system } = process.cpuUsage(worked)
process.stdout.write(
  `${JSON.stringify({ seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6, rows })}\n`,
)
await store.close()
