/* `npm run docs`: writes all files generated from code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillDemo } from '../support/demoDatabase.ts'
import { PAGES, RESULT_PAGES } from './pages.ts'

for (const [file, text] of Object.entries(PAGES)) writeFileSync(file, await text())
const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const demo = await fillDemo(join(folder, 'market.db'))
for (const [file, text] of Object.entries(RESULT_PAGES)) writeFileSync(file, await text(demo))
await demo.close()
rmSync(folder, { recursive: true })
process.stdout.write(`written: ${[...Object.keys(PAGES), ...Object.keys(RESULT_PAGES)].join(', ')}\n`)
