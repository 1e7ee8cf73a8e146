/* Plans a job on nothing held: `node plan.ts job.yaml`. */
import { readFileSync } from 'node:fs'
import { SERVICES } from '../../src/api/services.ts'
import { NOTHING_HELD } from '../../src/audit/held.ts'
import { readJob } from '../../src/job/read.ts'
import { plan } from '../../src/plan/plan.ts'

const [file] = process.argv.slice(2) as [string]
const began = performance.now()
const job = readJob(readFileSync(file, 'utf8'), file)
const now = Date.parse('2025-01-01T00:00:00Z') / 1000
let asks = 0
for (const _ of plan({ job, service: SERVICES.generic, memory: NOTHING_HELD, now, options: {} })) asks++
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, asks })}\n`)
