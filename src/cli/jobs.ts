import { readFileSync, statSync } from 'node:fs'
import { InputError } from '../base/errors.ts'
import { EARLIEST, LATEST } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Job } from '../job/job.ts'
import { parseMoment, resolveMoment } from '../job/moment.ts'
import { readJob } from '../job/read.ts'
import type { RangeArgs } from './flags.ts'

/** No job file is longer than this by far. */
const MAX_BYTES = 1024 * 1024

/** The text of a job file. */
export function readText(file: string): string {
  try {
    if (statSync(file).size > MAX_BYTES)
      throw new InputError(`${file} is over 1 MiB, which no job file is.`, { code: 'huge-job' })
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`The job file ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`, {
      hint: 'Name a job file, such as jobs/demo.yaml; `indicator-sync init` writes one.',
      code: 'no-job-file',
      cause: error,
    })
  }
}

/** Reads job files; the mistakes of all of them come in one error. */
export function readJobs(files: readonly string[]): Job[] {
  const mistakes: string[] = []
  const jobs = files.flatMap((file) => {
    try {
      return readJob(readText(file), file)
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      mistakes.push(error.message)
      return []
    }
  })
  if (mistakes.length > 0)
    throw new InputError(mistakes.join('\n'), {
      hint: 'docs/jobs.md and jobs/job.schema.json describe the format.',
      code: 'bad-job',
    })
  return jobs
}

/** The instant that a flag means in a zone. */
export function instantOf(flag: string, text: string, zone: string, now: number): number {
  const moment = parseMoment(text)
  if (moment === undefined)
    throw new InputError(`--${flag} ${JSON.stringify(text)} is no date.`, {
      hint: 'Give a day (2025-10-01), an instant (2025-10-01T12:00:00Z) or a distance from today (-30d).',
      code: 'bad-date',
    })
  return resolveMoment(moment, zone, now)
}

/** The range that `--from` and `--to` mean in a job's zone; undefined when neither is given. */
export function rangeOf({ from, to }: RangeArgs, zone: string, now: number): Interval | undefined {
  if (from === undefined && to === undefined) return undefined
  const range = {
    from: from === undefined ? EARLIEST : instantOf('from', from, zone, now),
    to: to === undefined ? LATEST : instantOf('to', to, zone, now),
  }
  if (range.from >= range.to)
    throw new InputError('--from must come before --to, which is not included.', { code: 'empty-range' })
  return range
}
