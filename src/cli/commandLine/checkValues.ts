import type { Options } from 'yargs'
import { InputError } from '../../util/errors.ts'
import type { CommandModule } from '../command.ts'
import { COMMON_FLAGS } from '../flags.ts'

/** The value of a flag as the user wrote it; undefined if it cannot be found. */
function findWritten(words: readonly string[], flag: string): string | undefined {
  const index = words.findIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
  const word = words[index]
  return word?.includes('=') ? word.slice(word.indexOf('=') + 1) : words[index + 1]
}

/** Refuses what yargs accepts: text for a number (NaN), and a repeated flag for one value (a list). */
export function checkValues(
  name: string,
  { flags, positionals = {} }: CommandModule,
  args: Readonly<Record<string, unknown>>,
  words: readonly string[],
): void {
  const refuse = (message: string): never => {
    const geos = message.startsWith('--geo ') ? '`indicator-sync discover --in geos` lists the ids. ' : ''
    throw new InputError(message, { hint: `${geos}indicator-sync ${name} --help`, code: 'usage' })
  }
  const options: Readonly<Record<string, Options>> = { ...positionals, ...flags, ...COMMON_FLAGS }
  for (const [argument, { type, array }] of Object.entries(options)) {
    const value = args[argument]
    if (!array && Array.isArray(value)) refuse(`--${argument} is given twice; keep one.`)
    if (type !== 'number' || ![value].flat().some(Number.isNaN)) continue
    const isPositional = argument in positionals
    const written = isPositional
      ? words.find((word) => !word.startsWith('-') && Number.isNaN(Number(word)))
      : findWritten(words, argument)
    const label = isPositional ? `<${argument}>` : `--${argument}`
    refuse(`${label} ${JSON.stringify(written ?? '')} is not valid; expected a number.`)
  }
}
