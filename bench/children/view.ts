/* Reads all rows of a query: `node view.ts database sql`. */
import { openReader } from '../../test/support/testStore.ts'

const [database, sql] = process.argv.slice(2) as [string, string]
const reader = openReader(database)
const began = performance.now()
let rows = 0
for (const _ of reader.rows(sql)) rows++
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, rows })}\n`)
await reader.close()
