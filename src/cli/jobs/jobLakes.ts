import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readSmall } from '../settings/config.ts'

/** The folder in which jobs usually are. */
const JOBS_FOLDER = 'jobs'
/** A line that can be the key of a lake: where no job has one, nothing else is looked at. */
const KEY = /^\s*['"]?lake['"]?\s*:/m

/** The text of a file; empty where it cannot be read, or is a pipe, which would be waited for. */
function textOfFile(file: string): string {
  try {
    return statSync(file).isFile() ? readSmall(file, 'job file') : ''
  } catch {
    return ''
  }
}

/**
 * The lakes that the jobs in `jobs/` keep up to date: what `status` shows where the user names no lake. A job file with mistakes is
 * skipped; running it reports them.
 */
export async function lakesOfJobs(): Promise<string[]> {
  const isFolder = statSync(JOBS_FOLDER, { throwIfNoEntry: false })?.isDirectory() ?? false
  const files = isFolder ? readdirSync(JOBS_FOLDER).filter((name) => /\.ya?ml$/.test(name)) : []
  const texts = files.map((name) => textOfFile(join(JOBS_FOLDER, name))).filter((text) => KEY.test(text))
  if (texts.length === 0) return []
  const { parseDocument } = await import('yaml')
  const lakes = texts.map((text) => parseDocument(text, { logLevel: 'silent' }).get('lake'))
  return [...new Set(lakes.filter((lake): lake is string => typeof lake === 'string' && lake !== ''))]
}
