import yargs, { type Options } from 'yargs'
import { hideBin } from 'yargs/helpers'
import { InputError, SyncError } from '../base/errors.ts'
import { redact } from '../base/redact.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { describe, EXIT, exitCodeOf } from './fail.ts'
import { COMMON } from './flags.ts'
import { secrets } from './secrets.ts'
import { version } from './version.ts'

const EPILOGUE = `Exit codes: 0 done · 1 partial, \`retry\` helps · 2 usage or configuration · 3 key refused · 4 stopped on purpose ·
5 another process writes · 6 a check failed · 7 database · 70 a bug of ours · 130/143 stopped by a signal`

/** Refuses what should be a number and is none: yargs makes NaN of it. */
function checkNumbers(options: Readonly<Record<string, Options>>, args: Readonly<Record<string, unknown>>): void {
  for (const [name, { type }] of Object.entries(options))
    if (type === 'number' && [args[name]].flat().some(Number.isNaN))
      throw new InputError(`${name} takes a number.`, { hint: 'indicator-sync --help', code: 'usage' })
}

/** Reads the command line, runs the command and sets the exit code of the process. */
export async function main(argv: readonly string[] = hideBin(process.argv)): Promise<void> {
  let code: number = EXIT.done
  // Whoever reads the output may stop reading, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done)
    throw error
  })
  const parser = yargs([...argv])
    .scriptName('indicator-sync')
    .usage('$0 <command>\n\nSyncs the indicators of a service into a local SQLite database.')
    .version(version())
    .strict()
    .demandCommand(1, 'Say what to do.')
    .recommendCommands()
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .epilogue(EPILOGUE)
    .fail((message, error) => {
      throw error ?? new InputError(message, { hint: 'indicator-sync --help', code: 'usage' })
    })
  for (const { usage, about, flags, example, run, positionals = {} } of Object.values(COMMANDS) as Command[])
    parser.command({
      command: usage,
      describe: about,
      builder: (command) => {
        for (const [name, options] of Object.entries(positionals)) command.positional(name, options)
        return command.options({ ...flags, ...COMMON }).example(`$0 ${example}`, '')
      },
      handler: async (args) => {
        checkNumbers({ ...positionals, ...flags }, args)
        code = await run(args as never)
      },
    })
  try {
    await parser.parseAsync()
  } catch (thrown) {
    // What SQLite said while reading is told in our words too; loaded only now, for help must be quick.
    const error = thrown instanceof SyncError ? thrown : (await import('../db/sqlite.ts')).asStoreError(thrown)
    code = exitCodeOf(error)
    process.stderr.write(`${redact(describe(error), secrets())}\n`)
  }
  process.exitCode = code
}
