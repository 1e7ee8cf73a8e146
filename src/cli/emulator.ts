import { once } from 'node:events'
import { parse } from 'yaml'
import { InputError } from '../base/errors.ts'
import { parseInstant } from '../base/instant.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { type Fault, faultFile } from '../emulator/faults.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs } from './flags.ts'
import { readText } from './jobs.ts'
import { print } from './output.ts'
import { watchSignals } from './signals.ts'

/** Reads a file of faults; every mistake is told with its place. */
function readFaults(file: string): Fault[] {
  const read = faultFile.safeParse(parse(readText(file)))
  if (read.success) return read.data
  throw new InputError(
    read.error.issues.map(({ path, message }) => `${file}: ${path.join('.')}: ${message}`).join('\n'),
    {
      hint: 'docs/emulator.md describes the faults.',
      code: 'bad-faults',
    },
  )
}

export async function run(
  args: CommonArgs & { readonly port: number; readonly seed: number; readonly now?: string; readonly faults?: string },
): Promise<number> {
  const now = args.now === undefined ? undefined : parseInstant(args.now)
  if (Number.isNaN(now))
    throw new InputError(`--now ${JSON.stringify(args.now)} is no instant.`, {
      hint: 'Give it as 2025-11-04T12:00:00Z.',
      code: 'bad-date',
    })
  const faults = args.faults === undefined ? [] : readFaults(args.faults)
  const emulator = await startEmulator({
    port: args.port,
    seed: args.seed,
    faults,
    ...(now === undefined ? {} : { now }),
  })
  const signals = watchSignals(() => undefined)
  print(
    [
      `Serving an embedded copy of the service until Ctrl-C. In another terminal:`,
      `  export INDICATOR_SYNC_BASE_URL=${emulator.url}`,
      `  export INDICATOR_SYNC_API_KEY=${emulator.key}`,
      `  indicator-sync sync jobs/demo.yaml`,
    ].join('\n'),
  )
  await once(signals.signal, 'abort')
  await emulator.close()
  return EXIT.done
}
