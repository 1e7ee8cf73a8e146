import { findMistakes, findSameNames, type JobText, mistakeText, readJob } from '../../job/read.ts'
import { emptyWindowHints, publishedAheadHints } from '../../job/windowHints.ts'
import { toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { JOBS, JSON_FLAG } from '../flags.ts'
import { findRealPath } from '../jobs/jobSource.ts'
import { readJobText } from '../jobs/readJobs.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'

export const positionals = JOBS
export const flags = { ...JSON_FLAG } as const
export const examples = ['validate jobs/nightly.yaml']

/** Returns exit code 2 for a mistake, but not for a warning. */
export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  const service = readSettings({}).service.value
  const now = toInstant(Date.now())
  const texts = args.jobs.map((file): JobText => ({ file, text: readJobText(file), realPath: findRealPath(file) }))
  const sameNames = findSameNames(texts)
  const results = texts.map(({ file, text }) => {
    const ofFile = sameNames.filter((mistake) => mistake.file === file)
    const mistakes = [...findMistakes(text, file, service), ...ofFile]
    if (mistakes.length > 0) return { file, mistakes, warnings: [] }
    const job = readJob(text, file, service)
    return { file, mistakes, warnings: [...emptyWindowHints(job, now), ...publishedAheadHints(job, service)] }
  })
  const allMistakes = results.flatMap(({ mistakes }) => mistakes)
  const lines = results.flatMap(({ file, mistakes }) =>
    mistakes.length === 0 ? [`${file}: valid`] : mistakes.map(mistakeText),
  )
  printResult(args, allMistakes, lines.join('\n'))
  for (const { file, warnings } of results)
    for (const warning of warnings) process.stderr.write(`${file}: warning: ${warning}.\n`)
  return allMistakes.length === 0 ? EXIT.done : EXIT.usage
}
