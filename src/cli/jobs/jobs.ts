import { dirname, isAbsolute, join, normalize } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { EARLIEST, LATEST } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import type { Job } from '../../job/job.ts'
import { parseMoment, resolveMoment } from '../../job/moment.ts'
import { type ReadOther, readJob } from '../../job/read.ts'
import { onlyIndicators } from '../../job/select.ts'
import type { Service } from '../../services/service.ts'
import type { OnlyArgs, RangeArgs } from '../flags.ts'
import { readSettings, type SettingFlags } from '../settings/config.ts'
import { readSmall } from '../settings/smallFile.ts'
import { systemWords } from '../terminal/fail.ts'

/** The text of a job file. */
export function readText(file: string): string {
  try {
    return readSmall(file, 'job file')
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`The job file ${file} ${systemWords(error)}.`, {
      hint: 'Name a job file, such as jobs/demo.yaml; `indicator-sync init` writes one.',
      code: 'no-job-file',
      cause: error,
    })
  }
}

/** The job file that another one names, seen from its folder. */
export const readOther: ReadOther = (name, from) => {
  const file = normalize(isAbsolute(name) ? name : join(dirname(from), name))
  return { file, text: readText(file) }
}

/** Reads job files; the mistakes of all of them come in one error. */
export function readJobs(files: readonly string[], service: Service): Job[] {
  const mistakes: string[] = []
  const jobs = files.flatMap((file) => {
    try {
      return readJob(readText(file), normalize(file), readOther, service)
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

/** Reads the jobs of a command, narrowed to the indicators of `--only`. */
export function readJobsOf(args: SettingFlags & OnlyArgs & { readonly jobs: readonly string[] }): Job[] {
  const { jobs, only } = args
  const read = readJobs(jobs, readSettings(args).service.value)
  if (only === undefined) return read
  const ids = only.split(',').map((text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN))
  if (ids.some(Number.isNaN))
    throw new InputError(`--only ${JSON.stringify(only)} is not a list of numbers.`, {
      hint: 'Give numbers of indicators, separated by commas: --only 600,1001',
      code: 'bad-only',
    })
  return onlyIndicators(read, ids)
}

/** The instant that a flag means in a zone. */
export function instantOf(flag: string, text: string, zone: string, now: number): number {
  const moment = parseMoment(text)
  if (moment === undefined)
    throw new InputError(`--${flag} ${JSON.stringify(text)} is not a valid date.`, {
      hint: 'Give a day (2025-10-01), an instant (2025-10-01T12:00:00Z) or a distance from today (-30d).',
      code: 'bad-date',
    })
  return resolveMoment(moment, zone, now)
}

/** The instant of `--as-of`, to the millisecond: the database does not distinguish smaller differences. */
export function millisOf(text: string, zone: string, now: number): number {
  if (text.trim() === 'now') return now
  const [, second, fraction = '', offset = ''] =
    /^\s*(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d+)(Z|[+-]\d{2}:\d{2})?\s*$/.exec(text) ?? []
  const whole = instantOf('as-of', second === undefined ? text : second + offset, zone, Math.floor(now / 1000)) * 1000
  return whole + Number(fraction.padEnd(3, '0').slice(0, 3))
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
