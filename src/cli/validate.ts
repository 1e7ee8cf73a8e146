import { findMistakes, mistakeText } from '../job/read.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs } from './flags.ts'
import { readText } from './jobs.ts'
import { print } from './output.ts'

export async function run(args: CommonArgs & { readonly jobs: string[]; readonly json: boolean }): Promise<number> {
  const mistakes = args.jobs.flatMap((file) => findMistakes(readText(file), file))
  if (args.json) print(JSON.stringify(mistakes, null, 2))
  else if (mistakes.length === 0) print(`${args.jobs.join(', ')}: no mistakes.`)
  else print(mistakes.map(mistakeText).join('\n'))
  return mistakes.length === 0 ? EXIT.done : EXIT.usage
}
