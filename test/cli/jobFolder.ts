import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../kit.ts'

/** A job of one series and one month: one request. */
export const SERIES =
  'name: one\npace: { perSecond: 50 }\nseries:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-02-01 } }\n'

/** A folder with some files that goes with the test; with one job when none are given. */
export function jobFolder(files: Readonly<Record<string, string>> = { 'job.yaml': SERIES }): string {
  const dir = tempFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  return dir
}

/** The variables that name a service and its key. */
export const serviceAt = (url: string, key = 'k'.repeat(64)) => ({
  INDICATOR_SYNC_BASE_URL: url,
  INDICATOR_SYNC_API_KEY: key,
})
