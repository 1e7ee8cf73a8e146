import { realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Job } from '../../job/job.ts'
import type { JobSource } from '../../sync/jobIdentity.ts'

/** The path of a file without links; as given if it has none, such as a pipe. */
export function findRealPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

/** The host and the real path of the file of a job; undefined without a file, or if it is a pipe. */
export function findJobSource({ file }: Pick<Job, 'file'>): JobSource | undefined {
  if (file === null || !statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined
  return { host: hostname(), file: findRealPath(file) }
}
