import type { Store } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { StoppedError, UnavailableError } from '../util/errors.ts'
import { CLOCK_ERROR_MS, formatMillis } from '../util/time/instant.ts'
import { MAX_ACCEPTED_WAIT_MS, wait } from '../util/time/wait.ts'
import { formatLocal } from '../util/time/zone.ts'
import { MAX_WAIT_MS, type OnPause } from './waits.ts'

/** The host of an address, under which calls are counted, with its port if it has one. */
export const parseHost = (baseUrl: string): string => new URL(baseUrl).host

/** A service to call, and the database that records its hosts. */
interface HostContext {
  readonly store: Store
  readonly service: Service
  readonly baseUrl: string
  readonly nowMs: () => number
  readonly signal: AbortSignal
  readonly onPause?: OnPause | undefined
}

/** The recorded state of hosts. */
export interface HostRecords {
  /**
   * To be called before each call. The first time it records the host, and waits for the end of an earlier pause. If that is too far
   * away, throws UnavailableError after an outage, otherwise StoppedError.
   */
  open(host: string, protocol: string): Promise<void>
  /** Records that a host requested a pause, even one longer than this process waits. `isOutage`: the host is down. */
  pause(host: string, ms: number, isOutage: boolean): void
}

export function createHostRecords(context: HostContext): HostRecords {
  const opened = new Map<string, Promise<void>>()
  const openOnce = async (host: string, protocol: string): Promise<void> => {
    await recordSource(host, protocol, context)
    await waitForPause(host, context)
  }
  return {
    open(host, protocol) {
      const opening = opened.get(host) ?? openOnce(host, protocol)
      opened.set(host, opening)
      // If the database does not respond, the next call tries again.
      opening.catch(() => opened.delete(host))
      return opening
    },
    pause(host, ms, isOutage) {
      // If the database cannot be written, the next transaction ends the run.
      recordPause(context, host, ms, isOutage).catch(() => undefined)
    },
  }
}

/** Records the address of a host, without secrets, so that published copies can name their source. */
async function recordSource(
  host: string,
  protocol: string,
  { store, service, baseUrl, nowMs }: HostContext,
): Promise<void> {
  const isService = host === parseHost(baseUrl)
  const url = new URL(isService ? baseUrl : `${protocol}//${host}`)
  for (const part of ['username', 'password', 'search', 'hash'] as const) url[part] = ''
  const source = { base_url: url.href.replace(/\/+$/, ''), service: isService ? service.name : 'other' }
  const recorded = await readSource(store, host)
  if (recorded?.base_url === source.base_url && recorded.service === source.service) return
  await store.write(async (tx) => {
    await tx
      .insertInto('_source')
      .values({ host, ...source, first_called_at: formatMillis(nowMs()) })
      .onConflict((conflict) => conflict.column('host').doUpdateSet(source))
      .execute()
  })
}

const readSource = ({ kysely }: Pick<Store, 'kysely'>, host: string) =>
  kysely.selectFrom('_source').selectAll().where('host', '=', host).executeTakeFirst()

/** The latest possible end of a pause. A later one was recorded by a clock that was ahead. */
const latestEnd = (nowMs: number): number => nowMs + MAX_ACCEPTED_WAIT_MS + CLOCK_ERROR_MS

/** Records the pause of a host, for the next process. A shorter pause does not end a longer one. */
const recordPause = ({ store, nowMs }: HostContext, host: string, ms: number, isOutage: boolean): Promise<void> =>
  store.write(async (tx) => {
    const now = nowMs()
    const until = Math.ceil(now + ms)
    await tx
      .updateTable('_source')
      .set({ wait_until: until, wait_outage: isOutage ? 1 : 0 })
      .where('host', '=', host)
      .where((column) =>
        column.or([
          column('wait_until', 'is', null),
          column('wait_until', '<', until),
          column('wait_until', '>', Math.ceil(latestEnd(now))),
        ]),
      )
      .execute()
  })

/** Waits until the end of a pause that a host requested from an earlier process. Deletes one that a wrong clock recorded. */
async function waitForPause(host: string, { store, service, nowMs, signal, onPause }: HostContext): Promise<void> {
  const { wait_until: until = null, wait_outage = null } = (await readSource(store, host)) ?? {}
  const beganMs = nowMs()
  if (until === null || until <= beganMs) return
  if (until > latestEnd(beganMs)) {
    await store.write(async (tx) => {
      await tx.updateTable('_source').set({ wait_until: null, wait_outage: null }).where('host', '=', host).execute()
    })
    return
  }
  const ms = until - beganMs
  const at = formatLocal(service.timeZone, Math.ceil(until / 1000))
  if (ms > MAX_WAIT_MS) {
    const hint = 'Run the same command again after that time. It continues where it stopped.'
    const message = `The service asked an earlier run to wait until ${at} (${service.timeZone}).`
    const pause = new StoppedError(message, { hint, code: 'retry-after' })
    throw wait_outage === 1 ? new UnavailableError(pause, hint) : pause
  }
  onPause?.(ms, `the service asked an earlier run to wait until ${at}`)
  await wait(ms, signal)
}
