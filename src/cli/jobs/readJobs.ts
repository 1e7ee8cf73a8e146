import { normalize } from 'node:path'
import type { Job } from '../../job/job.ts'
import { findSameNames, type JobText, mistakeText, readJob } from '../../job/read.ts'
import { narrowToIndicators } from '../../job/select.ts'
import { exampleValues, type Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { readTextFile } from '../settings/config.ts'
import { findRealPath } from './jobSource.ts'

const NAME_A_JOB = 'Pass a job file, such as jobs/nightly.yaml. `indicator-sync init` writes one.'

/** Reads the text of a job file. */
export const readJobText = (file: string): string => readTextFile(file, 'job file', NAME_A_JOB)

/** A job file as far as it can be read: its job, or its mistakes. */
export interface JobFileContent {
  /** Its path as messages name it. */
  readonly file: string
  /** Null if the file cannot be read. */
  readonly text: string | null
  readonly job: Job | null
  readonly mistakes: InputError | null
}

function readJobFile(path: string, service: Service): JobFileContent {
  const file = normalize(path)
  let text: string | null = null
  try {
    text = readJobText(path)
    return { file, text, job: readJob(text, file, service), mistakes: null }
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return { file, text, job: null, mistakes: error }
  }
}

/** Reads job files, each as far as it can be read. A file with the name of an earlier one is a mistake. */
export function readJobFiles(files: readonly string[], service: Service): JobFileContent[] {
  const contents = files.map((file) => readJobFile(file, service))
  const texts = contents.flatMap(({ file, text }, i): JobText[] =>
    text === null ? [] : [{ file, realPath: findRealPath(files[i]!), text }],
  )
  const sameNames = Map.groupBy(findSameNames(texts), ({ file }) => file)
  return contents.map((content): JobFileContent => {
    const ofFile = sameNames.get(content.file)
    if (!ofFile) return content
    const own = content.mistakes === null ? [] : [content.mistakes.message]
    const message = [...own, ...ofFile.map(mistakeText)].join('\n')
    return { ...content, mistakes: new InputError(message, { code: 'same-job-name' }) }
  })
}

/** Reads job files. One InputError lists the mistakes in all of them. */
export function readJobs(files: readonly string[], service: Service): Job[] {
  const contents = readJobFiles(files, service)
  const mistakes = contents.flatMap((content) => content.mistakes ?? [])
  if (mistakes.length === 0) return contents.flatMap(({ job }) => job ?? [])
  throw new InputError(mistakes.map(({ message }) => message).join('\n'), {
    hint: mistakes.every(({ code }) => code === 'no-job-file')
      ? NAME_A_JOB
      : 'docs/jobs.md and jobs/job.schema.json describe the format.',
    code: 'bad-job',
  })
}

/** The job files of a command, and the value of `--only`. */
export interface JobArgs {
  readonly jobs: readonly string[]
  readonly only?: string | undefined
}

/** Reads the jobs of a command, narrowed to the indicators of `--only`. */
export function readSelectedJobs({ jobs, only }: JobArgs, service: Service): Job[] {
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
