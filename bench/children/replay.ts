/* Rebuilds a database from its stored replies, in another file: `node replay.ts database`. */
import { rmSync } from 'node:fs'
import { replay } from '../../src/sync/replay.ts'
import { openReader, openStore } from '../../test/support/testStore.ts'

const [database] = process.argv.slice(2) as [string]
const scratch = `${database}.rebuilt`
rmSync(scratch, { force: true })
const source = openReader(database)
const store = await openStore(scratch, { durability: 'none' })
const began = performance.now()
await replay(source, store, { nowMs: Date.now })
const seconds = (performance.now() - began) / 1000
const rows = store.get('select count(*) from observation') as number
process.stdout.write(`${JSON.stringify({ seconds, rows })}\n`)
await store.close()
await source.close()
rmSync(scratch, { force: true })
