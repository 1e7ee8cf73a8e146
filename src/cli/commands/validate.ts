import { findMistakes, mistakeText, readJob } from '../../job/read.ts'
import { SERVICES } from '../../services/services.ts'
import type { CommonArgs } from '../flags.ts'
import { readOther, readText } from '../jobs/jobs.ts'
import { warningsOf } from '../jobs/warnings.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

/** `validate`: every mistake of job files, and what is legal but probably not meant. Exit 2 on a mistake, not on a warning. */
export async function run(args: CommonArgs & { readonly jobs: string[]; readonly json: boolean }): Promise<number> {
  const now = Math.floor(Date.now() / 1000)
  const found = args.jobs.map((file) => {
    const text = readText(file)
    const mistakes = findMistakes(text, file, readOther)
    const warnings = mistakes.length > 0 ? [] : warningsOf(readJob(text, file, readOther), SERVICES.generic, now)
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
