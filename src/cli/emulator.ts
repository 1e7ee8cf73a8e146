import { once } from 'node:events'
import { InputError } from '../base/errors.ts'
import { parseInstant } from '../base/instant.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs } from './flags.ts'
import { print } from './output.ts'
import { watchSignals } from './signals.ts'

export async function run(
  args: CommonArgs & { readonly port: number; readonly seed: number; readonly now?: string },
): Promise<number> {
  const now = args.now === undefined ? undefined : parseInstant(args.now)
  if (Number.isNaN(now))
    throw new InputError(`--now ${JSON.stringify(args.now)} is no instant.`, {
      hint: 'Give it as 2025-11-04T12:00:00Z.',
      code: 'bad-date',
    })
  const emulator = await startEmulator({ port: args.port, seed: args.seed, ...(now === undefined ? {} : { now }) })
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
