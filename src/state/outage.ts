import type { Reader } from '../db/store.ts'
import { FETCH_OUTCOMES } from '../db/tables/codes.ts'
import { isOutageCode } from '../util/errors.ts'

/** Requests that are read at once. */
const PAGE = 100

/** The item of a request, such as `/indicators/600`. */
const itemOf = ({ target }: { readonly target: string }): string => target.split('?')[0]!

/** Reads the last request to which the service responded, whatever it responded, and the failed ones after it. */
async function readLastRequests({ kysely }: Reader) {
  const failed = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await kysely
      .selectFrom('_fetch')
      .select(['id', 'run_id', 'target', 'status', 'code'])
      .where('id', '<', before)
      .where('outcome', 'not in', FETCH_OUTCOMES.abandoned)
      .orderBy('id', 'desc')
      .limit(PAGE)
      .execute()
    for (const request of page)
      if (request.code === null || !isOutageCode(request.code)) return { failed, response: request }
      else failed.push(request)
    if (page.length < PAGE) return { failed, response: null }
    before = page.at(-1)!.id
  }
}

/**
 * Finds whether the service is down, as its last requests show: those about several items failed, and none succeeded. If only one item
 * fails although others worked before, the item is broken, and not the service. Returns the run in which the outage began, or null.
 */
export async function findOutageRun(db: Reader): Promise<number | null> {
  const { failed, response } = await readLastRequests(db)
  const items = new Set(failed.map(itemOf))
  // A single item may take too long to respond, but it does not make a host unreachable.
  const isUnreachable = failed.some(({ status, code }) => status === null && code !== 'timeout')
  const isDown = items.size > 1 || isUnreachable || response === null || items.has(itemOf(response))
  return (isDown && failed.at(-1)?.run_id) || null
}
