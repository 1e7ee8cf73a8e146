import { runWorker } from '../../cluster/runWorker.ts'
import { waitForServer } from '../../cluster/waitForServer.ts'
import { isAddress } from '../../db/address.ts'
import { openStore } from '../../db/open.ts'
import { InputError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { eventsTo } from '../../util/log.ts'
import { quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, ON_REJECT_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { logFor } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  ...ON_REJECT_FLAG,
  concurrency: { type: 'number', default: 4, describe: 'Set the number of parallel requests' },
  'until-empty': { type: 'boolean', default: false, describe: 'Exit when the queue is empty' },
} as const
export const examples = ['worker --database postgres://user@host/market --service esios']

/** Milliseconds without a response of the database after which a stopped worker exits. */
const SILENT_MS = 15_000

export async function handler(args: Args<typeof flags>): Promise<number> {
  const settings = readSettings(args)
  const service = requireService(settings)
  const file = settings.database.value
  if (!isAddress(file))
    throw new InputError(`Workers cannot use ${file}: they need PostgreSQL.`, {
      hint: 'Pass --database postgres://USER@HOST/DATABASE, or use `sync` for a file.',
      code: 'no-server',
    })
  if (!(Number.isInteger(args.concurrency) && args.concurrency >= 1 && args.concurrency <= 100))
    throw new InputError('--concurrency must be a whole number from 1 to 100.', { code: 'bad-concurrency' })
  const onEvent = eventsTo(logFor(args, [service.key]))
  const emit = createEmitter(onEvent)
  const store = await waitForServer(() => openStore(file), emit, 'worker')
  const signals = watchSignals((fields) => emit('signal.received', fields))
  const { signal } = signals
  let heardAt = performance.now()
  // A dead connection can last for many minutes. Other workers take over the requests of this one.
  const watch = setInterval(() => {
    if (!signal.aborted || performance.now() - heardAt < SILENT_MS) return
    emit('database.lost', {
      command: 'worker',
      code: 'silent',
      reason: 'The database does not respond, so the worker stops.',
      hint: 'Other workers take over its requests.',
    })
    process.exit(signals.code())
  }, 1_000)
  const onHeard = (): void => {
    heardAt = performance.now()
  }
  try {
    const context = { ...service, store, nowMs: Date.now, signal, onEvent, onReject: args.onReject }
    const { done, failed, earlyEnd } = await runWorker(context, { ...args, onHeard })
    if (!args.quiet) print(`${quantity(done, 'request')} done, ${failed} of them failed.`)
    if (earlyEnd) {
      emit('command.failed', failedFields(earlyEnd))
      return exitCodeFor(earlyEnd)
    }
    return signals.code() ?? (failed > 0 ? EXIT.partial : EXIT.done)
  } finally {
    await store.close()
    clearInterval(watch)
    signals.release()
  }
}
