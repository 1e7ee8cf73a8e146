import { InputError } from '../../base/errors.ts'
import { findMistakes, mistakeText, readJob } from '../../job/read.ts'
import type { CommonArgs } from '../flags.ts'
import { readJobText, readOther } from '../jobs/jobs.ts'
import { warningsOf } from '../jobs/warnings.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

interface ValidateArgs extends CommonArgs {
  readonly jobs?: string[]
  readonly json: boolean
  readonly schema: boolean
}

/** `validate`: every mistake of job files, and what is legal but probably not meant. Exit 2 on a mistake, not on a warning. */
export async function run(args: ValidateArgs): Promise<number> {
  const service = readSettings({}).service.value
  if (args.schema) {
    const { jobSchema } = await import('../../job/schema.ts')
    print(JSON.stringify(jobSchema(service), null, 2))
    return EXIT.done
  }
  const { jobs = [] } = args
  if (jobs.length === 0)
    throw new InputError('validate takes job files.', {
      hint: 'For example: indicator-sync validate jobs/nightly.yaml',
      code: 'usage',
    })
  const now = Math.floor(Date.now() / 1000)
  const found = jobs.map((file) => {
    const text = readJobText(file)
    const mistakes = findMistakes(text, file, readOther, service)
    const warnings = mistakes.length > 0 ? [] : warningsOf(readJob(text, file, readOther, service), service, now)
    return { file, mistakes, warnings }
  })
  const mistakes = found.flatMap((one) => one.mistakes)
  if (args.json) print(JSON.stringify(mistakes, null, 2))
  else
    for (const { file, mistakes } of found)
      print(mistakes.length === 0 ? `${file}: no mistakes.` : mistakes.map(mistakeText).join('\n'))
  for (const { file, warnings } of found)
    for (const warning of warnings) process.stderr.write(`${file}: warning: ${warning}.\n`)
  return mistakes.length === 0 ? EXIT.done : EXIT.usage
}
