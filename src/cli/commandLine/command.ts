import type { FlagOptions } from '../flags.ts'

/** A command as help shows it; what it does is loaded only when it is called. */
export interface Command {
  /** Name and positionals, as yargs writes them. */
  readonly usage: string
  readonly about: string
  readonly positionals?: Readonly<Record<string, FlagOptions & { readonly type: 'string' | 'number' }>>
  readonly flags: Readonly<Record<string, FlagOptions>>
  readonly example: string
  /** Whether it ends when nobody reads its output any more: it only writes, or runs until it is stopped. */
  readonly endsWithOutput?: boolean
  /** Returns the exit code. It also gets all commands, for those that list them. */
  readonly run: (args: never, commands: Readonly<Record<string, Command>>) => Promise<number>
}
