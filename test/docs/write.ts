/* `npm run docs`: writes all files generated from code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillDemo } from '../support/demoDatabase.ts'
import { ANSWERS, PAGES } from './pages.ts'

for (const [file, text] of Object.entries(PAGES)) writeFileSync(file, await text())
const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const market = await fillDemo(join(folder, 'market.db'))
for (const [file, text] of Object.entries(ANSWERS)) writeFileSync(file, await text(market))
await market.close()
rmSync(folder, { recursive: true })
process.stdout.write(`written: ${[...Object.keys(PAGES), ...Object.keys(ANSWERS)].join(', ')}\n`)
