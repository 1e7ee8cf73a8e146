/*
 * The frame of all campaigns: reads the arguments, prints each fault with the command that repeats it, and ends with one line and
 * an exit code: 0 without faults, 1 with faults, 2 for wrong arguments.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import yargs, { type InferredOptionTypes, type Options } from 'yargs'
import { hideBin } from 'yargs/helpers'

type Flags = Readonly<Record<string, Options>>

interface Declaration<F extends Flags> {
  /** The npm script. */
  readonly script: string
  readonly about: string
  /** The flag for how often something is done, such as `kills`, and its default. Without it there is no seed either. */
  readonly counted?: readonly [flag: string, count: number]
  /** The default seed of the random choices. Default: another one in each campaign. */
  readonly seed?: number
  readonly flags?: F
  /** The arguments that are not flags, as the help shows them. */
  readonly words?: string
}

export interface Campaign<F extends Flags = Flags> {
  readonly flags: InferredOptionTypes<F>
  readonly words: readonly string[]
  readonly count: number
  readonly seed: number
  /** Whether the time of `--minutes` is over. */
  isOver(): boolean
  say(line: string): void
  /** Prints a fault. `repeat`: the flags that repeat it, if fewer than those of the campaign do. */
  fault(text: string, repeat?: string): void
  /** Prints the closing line and sets the exit code. `done`: such as `300 kills`. */
  end(done: string): void
}

/**
 * Starts a campaign with the arguments of the process. With `--processes`, starts as many, each with its share and with other
 * seeds, and ends the process when they have ended.
 */
export async function startCampaign<F extends Flags = Record<never, Options>>(
  declaration: Declaration<F>,
): Promise<Campaign<F>> {
  const { script, counted, seed: usualSeed = Math.floor(Math.random() * 1e6), flags, words } = declaration
  const command = `npm run ${script} --`
  const given = yargs(hideBin(process.argv))
    .scriptName(command)
    .usage(`$0 ${words ?? ''}\n\n${declaration.about}`)
    .options({
      ...(counted && {
        [counted[0]]: { type: 'number', default: counted[1], describe: 'how often' },
        seed: { type: 'number', default: usualSeed, describe: 'the same number, the same random choices' },
        minutes: { type: 'number', describe: 'no new round after this time' },
        processes: { type: 'number', default: 1, describe: 'that share the work' },
      }),
      ...flags,
    } as F)
    .check((values) => {
      for (const name of counted ? [counted[0], 'seed', 'processes'] : [])
        if (!Number.isInteger(values[name]) || Number(values[name]) < 0)
          throw new Error(`--${name} takes a whole number.`)
      if (words === undefined && values._.length > 0) throw new Error(`There is no argument ${values._.join(' ')}.`)
      return true
    })
    .fail((message, error) => {
      process.stderr.write(`${message ?? error.message}\n  ${command} --help\n`)
      process.exit(2)
    })
    .version(false)
    .strictOptions()
    .parseSync() as unknown as InferredOptionTypes<F> & { readonly _: readonly unknown[] } & Record<string, unknown>
  const began = performance.now()
  const seconds = (): number => Math.round((performance.now() - began) / 1000)
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  const count = counted ? Number(given[counted[0]]) : 0
  const seed = Number(given.seed ?? 0)
  const shares = Number(given.processes ?? 1)
  if (counted && shares > 1) {
    const codes = await runShares(counted[0], count, seed, shares)
    const failed = codes.filter((code) => code !== 0).length
    say(`${script}: ${count} ${counted[0]} in ${shares} processes, ${failed} of them with faults, ${seconds()} s`)
    process.exit(failed === 0 ? 0 : 1)
  }
  let faults = 0
  return {
    flags: given,
    words: given._.map(String),
    count,
    seed,
    isOver: () => given.minutes !== undefined && seconds() >= Number(given.minutes) * 60,
    say,
    fault(text, repeat = counted ? `--${counted[0]} ${count} --seed ${seed}` : given._.join(' ')) {
      faults++
      say(`FAULT ${text}\n  ${command} ${repeat}`.trimEnd())
    },
    end(done) {
      say(`${script}: ${done}${counted ? ` from seed ${seed}` : ''}, ${faults} faults, ${seconds()} s`)
      process.exitCode = faults === 0 ? 0 : 1
    },
  }
}

/** Runs the same campaign in several processes with consecutive seeds, and returns their exit codes. */
function runShares(flag: string, count: number, seed: number, shares: number): Promise<(number | null)[]> {
  const share = Math.ceil(count / shares)
  return Promise.all(
    Array.from({ length: shares }, async (_, i) => {
      const own = [`--${flag}=${Math.min(share, Math.max(0, count - i * share))}`, `--seed=${seed + i * share}`]
      // Of a flag that is repeated, the campaign would get a list.
      const others = process.argv.slice(2).filter((word, n, all) => {
        const isOurs = (text = '') => [flag, 'seed', 'processes'].some((name) => text.startsWith(`--${name}`))
        return !(isOurs(word) || (isOurs(all[n - 1]) && !all[n - 1]!.includes('=') && !word.startsWith('-')))
      })
      const child = spawn(process.execPath, [process.argv[1]!, ...others, ...own], { stdio: 'inherit' })
      const [code] = await once(child, 'close')
      return code as number | null
    }),
  )
}
