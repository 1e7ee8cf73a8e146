import type { InferredOptionType, Options } from 'yargs'

/** Flags or positional arguments, as yargs takes them. */
export type Flags = Readonly<Record<string, Options>>
export type Positionals = Readonly<Record<string, Options & { readonly type: 'string' | 'number' }>>

type CamelCase<S> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S
type Optional<F extends Flags> = { [K in keyof F]: undefined extends InferredOptionType<F[K]> ? K : never }[keyof F]
type Values<F extends Flags> = {
  readonly [K in Exclude<keyof F, Optional<F>> as CamelCase<K & string>]: InferredOptionType<F[K]>
} & { readonly [K in Optional<F> as CamelCase<K & string>]?: InferredOptionType<F[K]> }

/** The values of flags and positional arguments, as a handler gets them. */
export type Args<F extends Flags, P extends Flags = Record<never, never>> = Values<F> & Values<P> & CommonArgs

/** The values of the flags that every command has. */
export interface CommonArgs {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly logFormat: 'pretty' | 'json'
}

/** The module of a command. */
export interface CommandModule {
  readonly positionals?: Positionals
  readonly flags: Flags
  /** Command lines without the name of the program. */
  readonly examples: readonly string[]
  /** True for a command that only writes, or runs until stopped: it ends when its output is closed. */
  readonly endsWithOutput?: boolean
  /** Returns the exit code. */
  readonly handler: (args: never) => Promise<number>
}

/** A command before its module is loaded. */
export interface Command {
  readonly group: string
  readonly about: string
  readonly load: () => Promise<CommandModule>
}

/** How the user started this program: by npx from a clone or a project, or by its name. */
export const programName = (): string =>
  process.env.npm_command === undefined ? 'indicator-sync' : 'npx indicator-sync'

const COMMAND = /(?<![\w/-]|npx )indicator-sync(?= (?:--help|[a-z]))/g

/** Rewrites the commands in a text to how the user started this program. */
export const withProgramName = (text: string): string => text.replaceAll(COMMAND, programName())
