/* The product from raw bytes to committed rows, one transaction an answer: `node load.ts small|large database answers...`. */
import { openStore } from '../../src/db/open.ts'
import { load } from '../../src/load/load.ts'
import { packAside } from '../../src/load/packer.ts'
import { beginRun } from '../../src/load/run.ts'
import { transform } from '../../src/transform/transform.ts'
import { askOf, readAnswers, SHAPES, type ShapeName } from '../answers.ts'

const [shapeName, database, file] = process.argv.slice(2) as [ShapeName, string, string]
const store = await openStore(database)
const bodies = readAnswers(file)
const began = performance.now()
const runId = await beginRun(store, { command: 'bench', job: 'bench', version: '0', now: new Date().toISOString() })
const loading = { store, runId, keep: 'all', now: Date.now } as const
// As in a sync: some answers are under way to the tape while the rows of another are written.
const AHEAD = 4
const packings = bodies.slice(0, AHEAD).map(packAside)
let rows = 0
for (let n = 0; n < bodies.length; n++) {
  const body = bodies[n]!
  const next = bodies[n + AHEAD]
  if (next) packings.push(packAside(next))
  const ask = askOf(n, SHAPES[shapeName])
  const made = transform(body, ask)
  await load(loading, ask, { status: 200, body, attempts: 1, sentAt: Date.now(), ms: 1 }, made, packings[n])
  rows += made.observations!.at.length
}
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, rows })}\n`)
await store.close()
