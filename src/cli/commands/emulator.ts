import { once } from 'node:events'
import { relative } from 'node:path'
import { parse, YAMLError } from 'yaml'
import { startEmulator } from '../../emulator/emulator.ts'
import { faultFile } from '../../emulator/faults.ts'
import { scriptFile } from '../../emulator/world/script.ts'
import { InputError } from '../../util/errors.ts'
import { packageFile } from '../../util/package.ts'
import { shellWord } from '../../util/text.ts'
import { parseInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { readYamlText } from '../jobs/jobs.ts'
import { checkPort, listenError } from '../listening.ts'
import { called } from '../program.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { watchSignals } from '../terminal/signals.ts'

export const flags = {
  port: { type: 'number', default: 0, describe: 'Set the port (0 = any free port)' },
  host: { type: 'string', default: '127.0.0.1', describe: 'Set the address to listen on' },
  now: { type: 'string', describe: 'Set the clock of the service: 2025-11-04T12:00:00Z' },
  faults: { type: 'string', describe: 'Read faults from this file (YAML)' },
  script: { type: 'string', describe: 'Read scripted series from this file (YAML)' },
} as const
export const examples = ['emulator', 'emulator --port 8080']
export const endsWithOutput = true

/** A schema of a list. */
interface ListSchema<T> {
  safeParse(
    list: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
}
interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Reads a file of faults or scripts; throws one error with every mistake and its path. */
function readList<T>(form: ListSchema<T>, file: string, what: string): T {
  const hint = `docs/emulator.md describes the ${what}.`
  const read = form.safeParse(parseScript(file, `file of ${what}`, hint))
  if (read.success) return read.data
  throw new InputError(
    read.error.issues.map(({ path, message }) => `${file}: ${path.join('.')}: ${message}`).join('\n'),
    { hint, code: `bad-${what}` },
  )
}

function parseScript(file: string, what: string, hint: string): unknown {
  const text = readYamlText(file, what, hint)
  try {
    // Warnings of the parser, as of keys that are lists, would come between ours.
    return parse(text, { logLevel: 'error' })
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error
    throw new InputError(`${file} is not valid YAML: ${error.message}`, { code: 'bad-yaml' })
  }
}

/** The demo's job: as a path from here, where it is one. */
function demoJob(): string {
  const file = packageFile('jobs/demo.yaml')
  const near = relative(process.cwd(), file)
  return near.startsWith('..') ? file : near
}

export async function handler(args: Args<typeof flags>): Promise<number> {
  const { port, host } = args
  const now = args.now === undefined ? undefined : parseInstant(args.now)
  if (Number.isNaN(now))
    throw new InputError(`--now ${JSON.stringify(args.now)} is not a valid instant.`, {
      hint: 'Use an instant such as 2025-11-04T12:00:00Z.',
      code: 'bad-date',
    })
  checkPort(port)
  const emulator = await startEmulator({
    port,
    host,
    faults: args.faults === undefined ? [] : readList(faultFile, args.faults, 'faults'),
    scripts: args.script === undefined ? [] : readList(scriptFile, args.script, 'scripts'),
    ...(now === undefined ? {} : { now }),
  }).catch((error) => {
    throw listenError(error, host, port)
  })
  const signals = watchSignals(() => undefined)
  print(
    [
      `Serving an emulated service until Ctrl-C. In another terminal:`,
      `  export INDICATOR_SYNC_BASE_URL=${emulator.url}`,
      `  export INDICATOR_SYNC_API_KEY=${emulator.key}`,
      `  ${called()} sync ${shellWord(demoJob())}`,
    ].join('\n'),
  )
  await once(signals.signal, 'abort')
  await emulator.close()
  return signals.code() ?? EXIT.done
}
