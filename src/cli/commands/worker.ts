import { createClosers } from '../../base/closers.ts'
import { InputError } from '../../base/errors.ts'
import { emitterOf, type OnEvent } from '../../base/events.ts'
import { eventsTo } from '../../base/log.ts'
import { quantity } from '../../base/quantity.ts'
import { hostOf } from '../../calls/hosts.ts'
import { openClock } from '../../cluster/clock.ts'
import { openQueue } from '../../cluster/queue.ts'
import type { QueuedRequest } from '../../cluster/queuedRequest.ts'
import { work } from '../../cluster/worker.ts'
import { placeOf } from '../../db/address.ts'
import { openStore } from '../../db/open.ts'
import { SILENT_MS } from '../../db/queries/workers.ts'
import { refuseExposed } from '../../services/exposedKey.ts'
import { secretsOf } from '../../services/key.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, ON_REJECT_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { EXIT, exitCodeOf, failedFields } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { watchSignals } from '../terminal/signals.ts'
import { version } from '../version.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  ...ON_REJECT_FLAG,
  concurrency: { type: 'number', default: 4, describe: 'Set the number of parallel requests' },
  'until-empty': { type: 'boolean', default: false, describe: 'Exit when the queue is empty' },
} as const
export const examples = ['worker --database postgres://user@host/market --service esios']

type WorkerArgs = Args<typeof flags>

/** How often to look whether the database has been silent for too long. */
const POLL_MS = 1_000

/** Whether the database still answers a process that was asked to stop. */
interface Silence {
  /** The database has answered. */
  heard(): void
  /** Ends when the database has not answered for a while since the process was asked to stop. */
  readonly tooLong: Promise<void>
  close(): void
}

/**
 * Watches for a database that says nothing while a process wants to end. What such a process has in hand is given to others as
 * soon as it lacks heartbeats, so it need not wait: a connection on which nothing comes can last for many minutes.
 */
function watchSilence(signal: AbortSignal, limitMs = SILENT_MS): Silence {
  let since = performance.now()
  const heard = (): void => {
    since = performance.now()
  }
  signal.addEventListener('abort', heard)
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setInterval(() => {
    if (signal.aborted && performance.now() - since > limitMs) resolve()
  }, POLL_MS)
  return {
    heard,
    tooLong: promise,
    close() {
      clearInterval(timer)
      signal.removeEventListener('abort', heard)
    },
  }
}

export async function handler(args: WorkerArgs): Promise<number> {
  const settings = readSettings(args)
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
  const emit = emitterOf(onEvent)
  const opened = await openStores(file)
  const signals = watchSignals((fields) => emit('signal.received', fields))
  const silence = watchSilence(signals.signal)
  try {
    const code = await Promise.race([
      workUntilStopped({ args, service, opened, onEvent, signals, onHeard: silence.heard }),
      silence.tooLong,
    ])
    if (code !== undefined) return code
    emit('database.lost', {
      command: 'worker',
      code: 'silent',
      reason: 'The database does not answer, and this worker was asked to stop: it ends without it.',
      hint: 'Others take over what it had in hand.',
    })
    // Connections that say nothing would keep the process alive.
    process.exit(signals.code())
  } finally {
    silence.close()
    signals.release()
  }
}

/** The two connections of a worker, and what closes them. */
async function openStores(file: string) {
  const closers = createClosers()
  try {
    const control = await openStore(file, { durability: 'full' })
    closers.add(() => control.close())
    const store = await openStore(file)
    closers.add(() => store.close())
    return { control, store, closers }
  } catch (error) {
    await closers.close().catch(() => undefined)
    throw error
  }
}

/** What a worker needs of its command. */
interface Working {
  readonly args: WorkerArgs
  readonly service: ReturnType<typeof requireService>
  readonly opened: Awaited<ReturnType<typeof openStores>>
  readonly onEvent: OnEvent
  readonly signals: ReturnType<typeof watchSignals>
  readonly onHeard: () => void
}

/** Works until it is asked to stop, closes all, and answers the exit code. */
async function workUntilStopped({ args, service, opened, onEvent, signals, onHeard }: Working): Promise<number> {
  const emit = emitterOf(onEvent)
  const { control, store, closers } = opened
  try {
    const clock = await openClock(control)
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
      { ...args, onHeard },
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
