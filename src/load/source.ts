import { formatMillis } from '../base/instant.ts'
import type { Store } from '../db/open.ts'

/** A service that is asked. */
export interface Source {
  readonly baseUrl: string
  /** The name of its profile. */
  readonly service: string
}

/** Under which name a service is counted: its host, with the port where one is given. */
export const hostOf = (baseUrl: string): string => new URL(baseUrl).host

/** An address without what is nobody else's business. */
function withoutSecrets(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  return url.href.replace(/\/+$/, '')
}

/** Remembers that a service is asked, for copies that say where their values come from. Writes nothing when that is known. */
export async function rememberSource(store: Store, { baseUrl, service }: Source, nowMs: number): Promise<void> {
  const values = [hostOf(baseUrl), withoutSecrets(baseUrl), service]
  if (store.get('select 1 from _source where host = ? and base_url = ? and service = ?', values) !== undefined) return
  await store.write(async () =>
    store.run(
      `insert into _source (host, base_url, service, first_asked_at) values (?, ?, ?, ?)
       on conflict (host) do update set base_url = excluded.base_url, service = excluded.service`,
      [...values, formatMillis(nowMs)],
    ),
  )
}

/** Remembers that a service asked for a pause, for the next process; a shorter one does not end a longer one. */
export const rememberWait = (store: Store, host: string, untilMs: number): Promise<number> =>
  store.write(async () =>
    store.run('update _source set wait_until = ? where host = ? and (wait_until is null or wait_until < ?)', [
      Math.ceil(untilMs),
      host,
      Math.ceil(untilMs),
    ]),
  )

/** Until when a service asked not to be asked (epoch milliseconds); undefined when it may be. */
export function waitUntil(store: Pick<Store, 'get'>, host: string, nowMs: number): number | undefined {
  const until = store.get('select wait_until from _source where host = ?', [host]) as number | null | undefined
  return until !== null && until !== undefined && until > nowMs ? until : undefined
}
