import { jobSchema } from '../../src/job/file/jobFile.ts'
import type { Store } from '../store.ts'
import { apiText } from './apiText.ts'
import { commandsText } from './commandsText.ts'
import { loggingText } from './loggingText.ts'
import { recipesText } from './recipesText.ts'
import { schemaText } from './schemaText.ts'

/** The files that are made from declarations alone. */
export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/api.md': apiText,
  'docs/schema.md': schemaText,
  'docs/commands.md': commandsText,
  'docs/logging.md': loggingText,
  'jobs/job.schema.json': () => `${JSON.stringify(jobSchema(), null, 2)}\n`,
}

/** The files that show answers, of the database of `test/market.ts`. */
export const ANSWERS: Readonly<Record<string, (market: Store) => Promise<string>>> = {
  'docs/recipes.md': recipesText,
}

/** What a test says of a file that is not what the code says. */
export const STALE = 'is stale: `npm run docs` writes it anew'
