/* The product from raw bytes to committed rows, one transaction per response: `node load.ts small|large database responses`. */
import { openStore } from '../../src/db/open.ts'
import { ensureZone } from '../../src/db/queries/referenceTables.ts'
import { load } from '../../src/load/load.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readReply } from '../../src/sync/readReply.ts'
import { openRun } from '../../src/sync/record.ts'
import { valueRules } from '../../src/transform/transformSeries.ts'
import { scanValues } from '../../src/transform/values/scan.ts'
import { planRequest, readResponses, SHAPES, type ShapeName } from '../responses.ts'

const [shapeName, database, file] = process.argv.slice(2) as [ShapeName, string, string]
const store = await openStore(database)
const bodies = readResponses(file)
await ensureZone(store, SERVICES.generic.timeZone)
const began = performance.now()
const worked = process.cpuUsage()
const run = await openRun({ store, nowMs: Date.now }, { command: 'bench', job: { name: 'bench', keep: 'all' } })
// As in a sync: some responses are read while the rows of another are written.
const AHEAD = 4
const begin = (n: number) => {
  const body = bodies[n]!
  const reply = { status: 200, headers: {}, body, bytes: body.length, attempts: 1, sentAt: Date.now(), ms: 1 }
  return readReply(reply, planRequest(n, SHAPES[shapeName]))
}
const reads = bodies.slice(0, AHEAD).map((_, n) => begin(n))
let rows = 0
for (let n = 0; n < bodies.length; n++) {
  if (n + AHEAD < bodies.length) reads.push(begin(n + AHEAD))
  const reply = await reads.shift()!
  await load(run, planRequest(n, SHAPES[shapeName]), reply)
  rows += reply.rows.observations!.at.length
}
const { user, system } = process.cpuUsage(worked)
const seconds = (performance.now() - began) / 1000
// The time of a response that is read by JSON.parse says nothing about the scanner.
const isScanned = (body: Buffer, n: number): boolean =>
  scanValues(body, valueRules(planRequest(n, SHAPES[shapeName]))) !== null
const unscanned = readResponses(file).filter((body, n) => !isScanned(body, n)).length
process.stdout.write(`${JSON.stringify({ unscanned, seconds, cpu: (user + system) / 1e6, rows })}\n`)
await store.close()
