import { StoppedError } from '../base/errors.ts'
import type { EmitEvent } from '../base/events.ts'
import { quantity } from '../base/quantity.ts'
import { wait } from '../base/time/wait.ts'
import { formatLocal } from '../base/time/zone.ts'
import type { Store } from '../db/store.ts'
import type { FetchOptions } from '../fetch/fetch.ts'
import { paceWindow } from '../fetch/pace.ts'
import { MAX_WAIT_MS } from '../fetch/turns.ts'
import type { Pace } from '../job/job.ts'
import type { Service } from '../services/services.ts'
import { futureCalls, recentCalls, spendCall } from './budget.ts'
import { forgetFutureWait, hostOf, rememberSource, rememberWait, waitUntil } from './hosts.ts'

/** The service that is called, and the store that accounts for it. */
export interface ServiceCaller {
  readonly store: Store
  readonly service: Service
  readonly baseUrl: string
  readonly now: () => number
  readonly signal: AbortSignal
  readonly onPause?: FetchOptions['onPause']
  readonly emit?: EmitEvent
}

/** Warns once in a run about calls and a pause that an earlier run recorded in the future. The budget and the waits ignore them. */
async function reportFutureTimes(host: string, { store, service, now, emit }: ServiceCaller): Promise<void> {
  const { calls, last } = await futureCalls(store, host, now())
  const wait = await forgetFutureWait(store, host, now())
  if (calls === 0 && wait === undefined) return
  const what = [...(calls > 0 ? [quantity(calls, 'call')] : []), ...(wait === undefined ? [] : ['a pause'])].join(
    ' and ',
  )
  const latest = formatLocal(service.timeZone, Math.ceil(Math.max(last, wait ?? 0) / 1000))
  emit?.('clock.wrong', {
    code: 'future-times',
    reason: `The database has times in the future, which are ignored: ${what} of ${host}, up to ${latest}.`,
    hint: 'Check the clock of this machine. If it is right, it was ahead in an earlier run, and there is nothing to do.',
  })
}

/** Waits until the end of a pause that a host asked an earlier process for. */
async function waitFor(host: string, { store, service, now, signal, onPause }: ServiceCaller): Promise<void> {
  const until = await waitUntil(store, host, now())
  if (until === undefined) return
  const left = until - now()
  const at = formatLocal(service.timeZone, Math.ceil(until / 1000))
  if (left > MAX_WAIT_MS)
    throw new StoppedError(`The service asked an earlier run to wait until ${at} (${service.timeZone}).`, {
      hint: 'Run the same command again after that; it continues where it stopped.',
      code: 'retry-after',
    })
  onPause?.(left, `the service asked an earlier run to wait until ${at}`)
  await wait(left, signal)
}

/**
 * Accounts for every call in the database: the budget, the hosts that were called, the pauses that they asked for, and the calls of
 * earlier runs, which count for the pace of this one. `pace` is null where the turns know budget and pace: those that machines share.
 */
export async function accountCalls(
  caller: ServiceCaller,
  pace: Pace | null,
): Promise<Required<Pick<FetchOptions, 'beforeCall' | 'onWait' | 'recentCalls'>>> {
  const { store, service, baseUrl, now } = caller
  const own = hostOf(baseUrl)
  // Pauses asked for in this process are the fetcher's; those of earlier processes are waited for before the first call to a host.
  const ready = new Map<string, Promise<void>>()
  const first = async (host: string): Promise<void> => {
    const address = host === own ? baseUrl : `https://${host}`
    await rememberSource(store, { baseUrl: address, service: host === own ? service.name : 'other' }, now())
    await reportFutureTimes(host, caller)
    await waitFor(host, caller)
  }
  return {
    recentCalls: pace ? await recentCalls(store, own, paceWindow(pace), now()) : [],
    async beforeCall(host) {
      let waited = ready.get(host)
      if (!waited) {
        waited = first(host)
        ready.set(host, waited)
        // Where the database did not answer, the next call asks again.
        waited.catch(() => ready.delete(host))
      }
      await waited
      if (pace) await spendCall(store, host, pace, now())
    },
    // A database that cannot be written ends the run elsewhere.
    onWait: (ms, host) => void rememberWait(store, host, ms, now()).catch(() => undefined),
  }
}
