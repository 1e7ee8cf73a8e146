import { jobSchema } from '../../src/job/file/jobFile.ts'
import type { Store } from '../support/testStore.ts'
import { apiText } from './apiText.ts'
import { commandsText } from './commandsText.ts'
import { loggingText } from './loggingText.ts'
import { recipesText } from './recipesText.ts'
import { bookkeepingText, schemaText } from './schemaText.ts'

/** The page of the public types. The compiler takes seconds to read them. */
export const API_PAGE = 'docs/api.md'

/** Files generated from declarations alone. */
export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  [API_PAGE]: apiText,
  'docs/schema.md': schemaText,
  'docs/bookkeeping/schema.md': bookkeepingText,
  'docs/commands.md': commandsText,
  'docs/logging.md': loggingText,
  'jobs/job.schema.json': () => `${JSON.stringify(jobSchema(), null, 2)}\n`,
}

/** Files with results from the database of `test/support/demoDatabase.ts`. */
export const RESULT_PAGES: Readonly<Record<string, (demo: Store) => Promise<string>>> = {
  'docs/recipes.md': recipesText,
}

/** The message of a test about an outdated file. */
export const STALE = 'is stale: `npm run docs` writes it anew'
