import type { Insertable, Kysely } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import type { Reader, Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Pace } from '../job/job.ts'
import { BudgetError } from '../util/errors.ts'
import { quantity } from '../util/text.ts'
import { CLOCK_ERROR_MS, DAY_MS, formatMillis, formatUtc, HOUR_MS, MINUTE_MS } from '../util/time/instant.ts'

/** A limit of a pace: `calls` within `ms` milliseconds, which are a minute, an hour or a day. */
export type CallLimit = { readonly calls: number; readonly ms: number; readonly word: string }

/** The limits of a pace. */
export const callLimits = ({ callsPerMinute, callsPerHour, callsPerDay }: Pace) =>
  [
    { calls: callsPerMinute, ms: MINUTE_MS, word: 'minute' },
    { calls: callsPerHour, ms: HOUR_MS, word: 'hour' },
    { calls: callsPerDay, ms: DAY_MS, word: 'day' },
  ].filter((limit): limit is CallLimit => limit.calls !== null)

/** Counts the calls that all limits leave; undefined without limits. */
export async function callsLeft(
  { kysely }: Pick<Reader, 'kysely'>,
  host: string,
  pace: Pace,
  nowMs: number,
): Promise<number | undefined> {
  const left: number[] = []
  for (const { calls, ms } of callLimits(pace)) left.push(calls - (await countCalls(kysely, host, ms, nowMs)))
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left))
}

const callsBetween = prepareQuery((db, { host, since, until }: { host: string; since: number; until: number }) =>
  db
    .selectFrom('_budget')
    .select(({ fn }) => fn.countAll<number>().as('calls'))
    .where('host', '=', host)
    .where('called_at', '>', since)
    .where('called_at', '<=', until),
)
const countCalls = async (db: Kysely<Database>, host: string, ms: number, nowMs: number): Promise<number> =>
  (await callsBetween.first(db, { host, since: nowMs - ms, until: nowMs + CLOCK_ERROR_MS }))!.calls

const addCall = prepareQuery((db, row: Insertable<Database['_budget']>) => db.insertInto('_budget').values(row))
const forgetCalls = prepareQuery((db, { host, before, after }: { host: string; before: number; after: number }) =>
  db
    .deleteFrom('_budget')
    .where('host', '=', host)
    .where((column) => column.or([column('called_at', '<', before), column('called_at', '>', after)])),
)

/**
 * Milliseconds since the latest calls to a host by any process: at most `calls` of the last `ms`. A call was sent between its
 * accounting and the end of its request; the later of both counts. `_fetch` has no host, so requests to other hosts count too.
 */
export async function recentCalls(
  { kysely }: Pick<Reader, 'kysely'>,
  host: string,
  { calls, ms }: { readonly calls: number; readonly ms: number },
  nowMs: number,
): Promise<number[]> {
  const accounted = await kysely
    .selectFrom('_budget')
    .select('called_at')
    .where('host', '=', host)
    .where('called_at', '>', nowMs - ms)
    .where('called_at', '<=', nowMs + CLOCK_ERROR_MS)
    .orderBy('called_at', 'desc')
    .limit(calls)
    .execute()
  const finished = await kysely
    .selectFrom('_fetch')
    .select(['finished_at', 'attempts'])
    .where('finished_at', '<=', formatMillis(nowMs + CLOCK_ERROR_MS))
    .orderBy('id', 'desc')
    .limit(calls)
    .execute()
  const finishedAt = finished.flatMap(({ finished_at, attempts }) =>
    Array.from({ length: attempts }, () => Date.parse(finished_at)),
  )
  return Array.from({ length: Math.min(calls, Math.max(accounted.length, finishedAt.length)) }, (_, i) =>
    Math.max(0, nowMs - Math.max(accounted[i]?.called_at ?? 0, finishedAt[i] ?? 0)),
  ).filter((age) => age < ms)
}

/** A limit without a call left, and when there is one again (epoch milliseconds). */
export interface SpentLimit {
  readonly limit: CallLimit
  readonly freeMs: number
}

/**
 * Spends one call of the budget, which all processes share through the database. Counts calls of jobs without limits too, because
 * other jobs may have limits. Returns the limit that has no call left, and null for success.
 */
export const spendCall = (store: Store, host: string, pace: Pace, nowMs: number): Promise<SpentLimit | null> =>
  store.write(async (tx) => {
    for (const limit of callLimits(pace))
      if ((await countCalls(tx, host, limit.ms, nowMs)) >= limit.calls)
        return { limit, freeMs: await freeAgain(tx, host, limit, nowMs) }
    await addCall.run(tx, { host, called_at: nowMs })
    await forgetCalls.run(tx, { host, before: nowMs - DAY_MS, after: nowMs + DAY_MS })
    return null
  })

/** When the next call is possible (epoch milliseconds): when enough of the latest calls are older than the limit counts. */
async function freeAgain(db: Kysely<Database>, host: string, { calls, ms }: CallLimit, nowMs: number): Promise<number> {
  const oldest = await db
    .selectFrom('_budget')
    .select('called_at')
    .where('host', '=', host)
    .where('called_at', '<=', nowMs + CLOCK_ERROR_MS)
    .orderBy('called_at', 'desc')
    .offset(Math.max(0, calls - 1))
    .limit(1)
    .executeTakeFirst()
  return (oldest?.called_at ?? nowMs) + ms
}

/** The error of a call if a limit is used up. `freeMs`: when the next call is possible (epoch milliseconds), if known. */
export function createBudgetError({ calls, word }: CallLimit, freeMs?: number): BudgetError {
  const article = word === 'hour' ? 'an' : 'a'
  const until = freeMs === undefined ? '' : ` until ${formatUtc(Math.ceil(freeMs / 1000))}`
  return new BudgetError(`The budget of ${quantity(calls, 'call')} ${article} ${word} is spent${until}.`, {
    hint: `Run the same command again ${freeMs === undefined ? `after at most ${article} ${word}` : 'after that'}. It continues where it stopped.`,
    code: 'budget',
  })
}
