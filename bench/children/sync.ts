/* Syncs like the command, but at any pace: `node sync.ts database URL job.yaml [key]`. */
import { readFileSync } from 'node:fs'
import { openStore } from '../../src/db/open.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import { sync } from '../../src/sync/sync.ts'

const [database, baseUrl, file, key = 'k'.repeat(64)] = process.argv.slice(2) as [string, string, string, string?]
const job = readJob(readFileSync(file, 'utf8'), file)
const store = await openStore(database)
const summary = await sync(
  {
    store,
    service: SERVICES.generic,
    baseUrl,
    key,
    nowMs: Date.now,
    signal: new AbortController().signal,
  },
  { job: { ...job, pace: { ...job.pace, perSecond: 1e6 } }, command: 'sync' },
)
if (summary.outcome !== 'done')
  throw new Error(`${summary.outcome}: ${summary.earlyEnd?.message ?? summary.failures[0]?.error.message}`)
const { rows_new: rows, requests, bytes } = summary.counts
process.stdout.write(`${JSON.stringify({ seconds: summary.seconds, rows, requests, bytes })}\n`)
await store.close()
