import { InputError } from '../../base/errors.ts'
import { emitterOf } from '../../base/events.ts'
import { eventsTo } from '../../base/log.ts'
import { quantity } from '../../base/quantity.ts'
import { hostOf } from '../../calls/hosts.ts'
import { openClock } from '../../cluster/clock.ts'
import { createClosers } from '../../cluster/closers.ts'
import { openQueue } from '../../cluster/queue.ts'
import type { QueuedRequest } from '../../cluster/queuedRequest.ts'
import { work } from '../../cluster/worker.ts'
import { placeOf } from '../../db/address.ts'
import { openStore } from '../../db/open.ts'
import { refuseExposed } from '../../services/exposedKey.ts'
import { secretsOf } from '../../services/key.ts'
import type { CommonArgs, ServiceArgs } from '../flags.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { EXIT, exitCodeOf, failedFields } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { watchSignals } from '../terminal/signals.ts'
import { version } from '../version.ts'
import type { RejectArgs } from './sync.ts'

interface WorkerArgs extends CommonArgs, ServiceArgs, Pick<RejectArgs, 'onReject'> {
  readonly concurrency: number
  readonly untilEmpty: boolean
}

/** `worker`: takes the requests that others have planned from the queue of a shared database. */
export async function run(args: WorkerArgs): Promise<number> {
  const settings = await readSettings(args)
  const service = requireService(settings)
  refuseExposed(service)
  const file = settings.database.value
  if (!placeOf(file).isShared)
    throw new InputError(`${file} is a file of one machine, and workers share a database on a server.`, {
      hint: 'Name it: --database postgres://user@host/name, or INDICATOR_SYNC_DATABASE. For a file, `sync` does it all.',
      code: 'no-server',
    })
  if (!(Number.isInteger(args.concurrency) && args.concurrency >= 1 && args.concurrency <= 100))
    throw new InputError('--concurrency takes a whole number from 1 to 100.', { code: 'bad-concurrency' })
  const onEvent = eventsTo(logFor(args, secretsOf(service.key)))
  const closers = createClosers()
  try {
    const control = await openStore(file, { durability: 'full' })
    closers.add(() => control.close())
    const store = await openStore(file)
    closers.add(() => store.close())
    const emit = emitterOf(onEvent)
    const signals = watchSignals((fields) => emit('signal.received', fields))
    closers.add(signals.release)
    const clock = await openClock(control.kysely)
    closers.add(clock.close)
    const queue = await openQueue<QueuedRequest>(control, hostOf(service.baseUrl), {
      supervises: true,
      onError: (error) => emit('queue.failed', { command: 'worker', reason: error.message }),
    })
    closers.add(queue.close)
    const { done, failed, stop } = await work(
      {
        ...service,
        store,
        control,
        version: version(),
        now: clock.now,
        signal: signals.signal,
        onEvent,
        onReject: args.onReject,
      },
      queue,
      args,
    )
    if (!args.quiet) print(`${quantity(done, 'request')} done, ${failed} of them failed.`)
    if (stop) {
      emit('command.failed', failedFields(stop))
      return exitCodeOf(stop)
    }
    return signals.code() ?? (failed > 0 ? EXIT.partial : EXIT.done)
  } finally {
    await closers.close()
  }
}
