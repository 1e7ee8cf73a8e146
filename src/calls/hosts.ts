import { CLOCK_ERROR_MS, formatMillis } from '../base/time/instant.ts'
import { MAX_ACCEPTED_WAIT_MS } from '../base/time/wait.ts'
import type { Store } from '../db/store.ts'

/** A service that is called. */
export interface CalledService {
  readonly baseUrl: string
  /** The name of its profile. */
  readonly service: string
}

/** The name under which calls of a service are counted: its host, with the port where one is given. */
export const hostOf = (baseUrl: string): string => new URL(baseUrl).host

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
export async function rememberSource(store: Store, { baseUrl, service }: CalledService, nowMs: number): Promise<void> {
  const [host, source] = [hostOf(baseUrl), { base_url: withoutSecrets(baseUrl), service }]
  const known = await readSource(store, host)
  if (known?.base_url === source.base_url && known.service === service) return
  await store.write(async (tx) => {
    await tx
      .insertInto('_source')
      .values({ host, ...source, first_asked_at: formatMillis(nowMs) })
      .onConflict((conflict) => conflict.column('host').doUpdateSet(source))
      .execute()
  })
}

const readSource = ({ kysely }: Pick<Store, 'kysely'>, host: string) =>
  kysely.selectFrom('_source').selectAll().where('host', '=', host).executeTakeFirst()

/** The latest end of a pause. A later one was recorded by a clock that was ahead. */
const latestEnd = (nowMs: number): number => nowMs + MAX_ACCEPTED_WAIT_MS + CLOCK_ERROR_MS

/** Stores a pause of some milliseconds that a service asked for, for the next process; a shorter one does not end a longer one. */
export const rememberWait = (store: Store, host: string, ms: number, nowMs: number): Promise<void> =>
  store.write(async (tx) => {
    const until = Math.ceil(nowMs + ms)
    await tx
      .updateTable('_source')
      .set({ wait_until: until })
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

/** The end of the pause that a service asked for (epoch milliseconds); undefined where there is none. */
export async function waitUntil(
  store: Pick<Store, 'kysely'>,
  host: string,
  nowMs: number,
): Promise<number | undefined> {
  const until = (await readSource(store, host))?.wait_until ?? 0
  return until > nowMs && until <= latestEnd(nowMs) ? until : undefined
}

/** Forgets a pause that ends more than a day from now. Returns its end (epoch milliseconds), or undefined if there is none. */
export async function forgetFutureWait(store: Store, host: string, nowMs: number): Promise<number | undefined> {
  const until = (await readSource(store, host))?.wait_until ?? 0
  if (until <= latestEnd(nowMs)) return undefined
  await store.write(async (tx) => {
    await tx.updateTable('_source').set({ wait_until: null }).where('host', '=', host).execute()
  })
  return until
}
