import { normalize } from 'node:path'
import type { Job } from '../../job/job.ts'
import { findSameNames, type JobText, mistakeText, readJob } from '../../job/read.ts'
import { narrowToIndicators } from '../../job/select.ts'
import { exampleValues, type Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { readSettings, readTextFile, type SettingFlags } from '../settings/config.ts'
import { findRealPath } from './jobSource.ts'

const NAME_A_JOB = 'Pass a job file, such as jobs/nightly.yaml. `indicator-sync init` writes one.'

/** Reads the text of a job file. */
export const readJobText = (file: string): string => readTextFile(file, 'job file', NAME_A_JOB)

/** Reads job files. One InputError lists the mistakes in all of them. */
export function readJobs(files: readonly string[], service: Service): Job[] {
  const mistakes: InputError[] = []
  const texts: JobText[] = []
  const jobs = files.flatMap((file) => {
    try {
      const text = readJobText(file)
      texts.push({ file: normalize(file), realPath: findRealPath(file), text })
      return readJob(text, normalize(file), service)
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      mistakes.push(error)
      return []
    }
  })
  const sameNames = findSameNames(texts)
  if (sameNames.length > 0)
    mistakes.push(new InputError(sameNames.map(mistakeText).join('\n'), { code: 'same-job-name' }))
  if (mistakes.length > 0)
    throw new InputError(mistakes.map(({ message }) => message).join('\n'), {
      hint: mistakes.every(({ code }) => code === 'no-job-file')
        ? NAME_A_JOB
        : 'docs/jobs.md and jobs/job.schema.json describe the format.',
      code: 'bad-job',
    })
  return jobs
}

/** Reads the jobs of a command, narrowed to the indicators of `--only`. */
export async function readSelectedJobs(
  args: SettingFlags & { readonly jobs: readonly string[]; readonly only?: string | undefined },
): Promise<Job[]> {
  const { jobs, only } = args
  const service = readSettings(args).service.value
  const allJobs = readJobs(jobs, service)
  if (only === undefined) return allJobs
  const ids = only.split(',').map((text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN))
  const { indicator, second } = exampleValues(service)
  if (ids.some(Number.isNaN))
    throw new InputError(`--only ${JSON.stringify(only)} is not a list of indicator ids.`, {
      hint: `Pass ids separated by commas: --only ${indicator},${second}`,
      code: 'bad-only',
    })
  return narrowToIndicators(allJobs, ids)
}
