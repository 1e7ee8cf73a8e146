import type { Store } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { StoppedError, UnavailableError } from '../util/errors.ts'
import type { EmitEvent } from '../util/events.ts'
import { quantity } from '../util/text.ts'
import { CLOCK_ERROR_MS, formatMillis } from '../util/time/instant.ts'
import { MAX_ACCEPTED_WAIT_MS, wait } from '../util/time/wait.ts'
import { formatLocal } from '../util/time/zone.ts'
import { futureCalls } from './budget.ts'
import { MAX_WAIT_MS } from './waits.ts'

/** A service that is called. */
interface CalledService {
  readonly baseUrl: string
  /** The name of its profile. */
  readonly service: string
}

/** The name under which calls of a service are counted: its host, with the port where one is given. */
export const parseHost = (baseUrl: string): string => new URL(baseUrl).host

/** An address without user, password, query and fragment. */
function withoutSecrets(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  return url.href.replace(/\/+$/, '')
}

/** Stores that a service is called, so that published copies can name their source. Writes nothing when it is stored already. */
async function rememberSource(store: Store, { baseUrl, service }: CalledService, nowMs: number): Promise<void> {
  const [host, source] = [parseHost(baseUrl), { base_url: withoutSecrets(baseUrl), service }]
  const known = await readSource(store, host)
  if (known?.base_url === source.base_url && known.service === service) return
  await store.write(async (tx) => {
    await tx
      .insertInto('_source')
      .values({ host, ...source, first_called_at: formatMillis(nowMs) })
      .onConflict((conflict) => conflict.column('host').doUpdateSet(source))
      .execute()
  })
}

const readSource = ({ kysely }: Pick<Store, 'kysely'>, host: string) =>
  kysely.selectFrom('_source').selectAll().where('host', '=', host).executeTakeFirst()

/** The latest end of a pause. A later one was recorded by a clock that was ahead. */
const latestEnd = (nowMs: number): number => nowMs + MAX_ACCEPTED_WAIT_MS + CLOCK_ERROR_MS

/** Stores a pause of some milliseconds that a service asked for, for the next process; a shorter one does not end a longer one. */
export const rememberWait = (
  store: Store,
  host: string,
  { ms, isOutage }: { readonly ms: number; readonly isOutage: boolean },
  nowMs: number,
): Promise<void> =>
  store.write(async (tx) => {
    const until = Math.ceil(nowMs + ms)
    await tx
      .updateTable('_source')
      .set({ wait_until: until, wait_outage: isOutage ? 1 : 0 })
      .where('host', '=', host)
      .where((of) =>
        of.or([
          of('wait_until', 'is', null),
          of('wait_until', '<', until),
          of('wait_until', '>', Math.ceil(latestEnd(nowMs))),
        ]),
      )
      .execute()
  })

/** The pause that a service asked for: its end (epoch milliseconds), and whether the service was down; undefined if there is none. */
async function readPause(store: Pick<Store, 'kysely'>, host: string, nowMs: number) {
  const { wait_until, wait_outage } = (await readSource(store, host)) ?? {}
  const until = wait_until ?? 0
  return until > nowMs && until <= latestEnd(nowMs) ? { until, isOutage: wait_outage === 1 } : undefined
}

/** Forgets a pause that ends more than a day from now. Returns its end (epoch milliseconds), or undefined if there is none. */
async function forgetFutureWait(store: Store, host: string, nowMs: number): Promise<number | undefined> {
  const until = (await readSource(store, host))?.wait_until ?? 0
  if (until <= latestEnd(nowMs)) return undefined
  await store.write(async (tx) => {
    await tx.updateTable('_source').set({ wait_until: null, wait_outage: null }).where('host', '=', host).execute()
  })
  return until
}

/** The service that is called, and the store that accounts for it. */
export interface ServiceCaller {
  readonly store: Store
  readonly service: Service
  readonly baseUrl: string
  readonly now: () => number
  readonly signal: AbortSignal
  readonly onPause?: ((ms: number, reason: string) => void) | undefined
  readonly emit?: EmitEvent | undefined
}

/**
 * Returns what must be called before each call to a host. The first time it records the host, warns of times in the future, and
 * waits for the end of a pause that the host asked an earlier process for. If that is too far away, throws UnavailableError after an
 * outage, otherwise StoppedError.
 */
export function createHostOpener(caller: ServiceCaller): (host: string) => Promise<void> {
  const { store, service, baseUrl, now } = caller
  const own = parseHost(baseUrl)
  const opened = new Map<string, Promise<void>>()
  const open = async (host: string): Promise<void> => {
    const address = host === own ? baseUrl : `https://${host}`
    await rememberSource(store, { baseUrl: address, service: host === own ? service.name : 'other' }, now())
    await reportFutureTimes(host, caller)
    await waitForPause(host, caller)
  }
  return (host) => {
    const known = opened.get(host)
    if (known) return known
    const opening = open(host)
    opened.set(host, opening)
    // If the database does not response, the next call tries again.
    opening.catch(() => opened.delete(host))
    return opening
  }
}

/** Warns once in a run about calls and a pause that an earlier run recorded in the future. The budget and the waits ignore them. */
async function reportFutureTimes(host: string, { store, service, now, emit }: ServiceCaller): Promise<void> {
  const { calls, last } = await futureCalls(store, host, now())
  const pause = await forgetFutureWait(store, host, now())
  if (calls === 0 && pause === undefined) return
  const what = [...(calls > 0 ? [quantity(calls, 'call')] : []), ...(pause === undefined ? [] : ['a pause'])].join(
    ' and ',
  )
  const latest = formatLocal(service.timeZone, Math.ceil(Math.max(last, pause ?? 0) / 1000))
  emit?.('clock.wrong', {
    code: 'future-times',
    reason: `The database has times in the future, which are ignored: ${what} of ${host}, up to ${latest}.`,
    hint: 'Check the clock of this machine. If it is correct now, ignore this warning.',
  })
}

/** Waits until the end of a pause that a host asked an earlier process for. */
async function waitForPause(host: string, { store, service, now, signal, onPause }: ServiceCaller): Promise<void> {
  const found = await readPause(store, host, now())
  if (!found) return
  const { until, isOutage } = found
  const left = until - now()
  const at = formatLocal(service.timeZone, Math.ceil(until / 1000))
  if (left > MAX_WAIT_MS) {
    const hint = 'Run the same command again after that time. It continues where it stopped.'
    const message = `The service asked an earlier run to wait until ${at} (${service.timeZone}).`
    const pause = new StoppedError(message, { hint, code: 'retry-after' })
    throw isOutage ? new UnavailableError(pause, hint) : pause
  }
  onPause?.(left, `the service asked an earlier run to wait until ${at}`)
  await wait(left, signal)
}
