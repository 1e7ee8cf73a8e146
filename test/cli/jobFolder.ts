import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../support/kit.ts'

/** A job with one series and one month, which is one request. */
export const SERIES =
  'name: one\npace: { perSecond: 50 }\nseries:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-02-01 } }\n'

/** Creates a folder with files, by default one job, that is deleted after the test. */
export function jobFolder(files: Readonly<Record<string, string>> = { 'job.yaml': SERIES }): string {
  const dir = tempFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  return dir
}

/** Returns the variables with the base URL and key of a service. */
export const serviceAt = (url: string, key = 'k'.repeat(64)) => ({
  INDICATOR_SYNC_BASE_URL: url,
  INDICATOR_SYNC_API_KEY: key,
})
