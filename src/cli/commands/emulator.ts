import { once } from 'node:events'
import { relative } from 'node:path'
import { parse, YAMLError } from 'yaml'
import { faultFile } from '../../emulator/faults.ts'
import { startEmulator } from '../../emulator/startEmulator.ts'
import { startRecorded } from '../../emulator/startRecorded.ts'
import { scriptFile } from '../../emulator/world/script.ts'
import { InputError } from '../../util/errors.ts'
import { packageFile } from '../../util/package.ts'
import { shellWord } from '../../util/text.ts'
import { parseInstant } from '../../util/time/instant.ts'
import { type Args, programName } from '../command.ts'
import { checkPort, createListenError } from '../listening.ts'
import { readTextFile } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { watchSignals } from '../terminal/signals.ts'

export const flags = {
  port: { type: 'number', default: 0, describe: 'Set the port (0 = any free port)' },
  host: { type: 'string', default: '127.0.0.1', describe: 'Set the address to listen on' },
  now: { type: 'string', describe: 'Set the clock of the service: 2025-11-04T12:00:00Z' },
  faults: { type: 'string', describe: 'Read faults from this file (YAML)' },
  script: { type: 'string', describe: 'Read scripted series from this file (YAML)' },
  recorded: { type: 'string', describe: 'Serve only the responses that `probe` recorded in this folder' },
} as const
export const examples = ['emulator', 'emulator --port 8080', 'emulator --recorded data/probe']
export const endsWithOutput = true

/** Reads a file of faults or scripts; throws one error with every mistake and its path. */
function readList<Schema extends typeof faultFile | typeof scriptFile>(
  schema: Schema,
  file: string,
  kind: string,
): ReturnType<Schema['parse']> {
  const hint = `docs/emulator.md describes the ${kind}.`
  const { data, error } = schema.safeParse(parseYaml(file, readTextFile(file, `file of ${kind}`, hint)))
  if (data) return data as ReturnType<Schema['parse']>
  const mistakes = error.issues.map(({ path, message }) => `${file}: ${path.join('.')}: ${message}`)
  throw new InputError(mistakes.join('\n'), { hint, code: `bad-${kind}` })
}

function parseYaml(file: string, text: string): unknown {
  try {
    // Warnings of the parser would be printed.
    return parse(text, { logLevel: 'error' })
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error
    throw new InputError(`${file} is not valid YAML: ${error.message}`, { code: 'bad-yaml' })
  }
}

/** Starts a server of recorded responses, whose clock and contents cannot be changed. */
function serveRecorded(folder: string, { port, host, now, faults, script }: Args<typeof flags>) {
  if ((now ?? faults ?? script) !== undefined)
    throw new InputError('--recorded cannot be combined with --now, --faults or --script.', {
      hint: 'Omit --recorded to serve invented data.',
      code: 'usage',
    })
  return startRecorded(folder, { port, host })
}

/** Starts an emulator of invented data. */
function serveInvented({ port, host, now: time, faults, script }: Args<typeof flags>) {
  const now = time === undefined ? undefined : parseInstant(time)
  if (Number.isNaN(now))
    throw new InputError(`--now ${JSON.stringify(time)} is not a valid instant.`, {
      hint: 'Use an instant such as 2025-11-04T12:00:00Z.',
      code: 'bad-date',
    })
  return startEmulator({
    port,
    host,
    faults: faults === undefined ? [] : readList(faultFile, faults, 'faults'),
    scripts: script === undefined ? [] : readList(scriptFile, script, 'scripts'),
    ...(now === undefined ? {} : { now }),
  })
}

export async function handler(args: Args<typeof flags>): Promise<number> {
  const { port, host, recorded } = args
  checkPort(port)
  const emulator = await (recorded === undefined ? serveInvented(args) : serveRecorded(recorded, args)).catch(
    (error) => {
      throw createListenError(error, host, port)
    },
  )
  const signals = watchSignals()
  const job = packageFile('jobs/demo.yaml')
  const nearJob = relative(process.cwd(), job)
  const sync = `sync ${shellWord(nearJob.startsWith('..') ? job : nearJob)}`
  print(
    [
      `Serving ${recorded === undefined ? 'an emulated service' : `the responses in ${recorded}`} until Ctrl-C. In another terminal:`,
      `  export INDICATOR_SYNC_BASE_URL=${emulator.url}`,
      `  export INDICATOR_SYNC_API_KEY=${emulator.key}`,
      `  ${programName()} ${recorded === undefined ? sync : 'probe'}`,
    ].join('\n'),
  )
  await once(signals.signal, 'abort')
  await emulator.close()
  return signals.code() ?? EXIT.done
}
