/* Writes the pages of docs/ that are made from the code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schemaText } from '../../src/audit/dictionary.ts'
import { fillMarket } from '../market.ts'
import { recipesText } from './recipesText.ts'

const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const store = await fillMarket(join(folder, 'market.db'))
writeFileSync('docs/recipes.md', recipesText(store))
writeFileSync('docs/schema.md', schemaText())
await store.close()
rmSync(folder, { recursive: true })
