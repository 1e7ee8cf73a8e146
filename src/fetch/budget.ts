import type { Kysely } from 'kysely'
import { prepared, preparedInsert } from '../db/prepared.ts'
import type { Reader, Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Pace } from '../job/job.ts'
import { BudgetError } from '../util/errors.ts'
import { quantity } from '../util/text.ts'
import { CLOCK_ERROR_MS, formatMillis } from '../util/time/instant.ts'

/** Milliseconds for which a call is remembered. */
export const DAY_MS = 86_400_000

/** A limit of a pace: so many calls within so many milliseconds, which is a minute, an hour or a day. */
export type CallLimit = { readonly calls: number; readonly ms: number; readonly word: string }

/** The limits of a pace as rows: `calls` within `ms` milliseconds. */
export const callLimits = ({ callsPerMinute, callsPerHour, callsPerDay }: Pace) =>
  [
    { calls: callsPerMinute, ms: 60_000, word: 'minute' },
    { calls: callsPerHour, ms: 3_600_000, word: 'hour' },
    { calls: callsPerDay, ms: DAY_MS, word: 'day' },
  ].filter((limit): limit is CallLimit => limit.calls !== null)

/** How many calls are left within every limit; undefined where no limit is set. */
export async function callsLeft(
  { kysely }: Pick<Reader, 'kysely'>,
  host: string,
  pace: Pace,
  nowMs: number,
): Promise<number | undefined> {
  const left: number[] = []
  for (const { calls, ms } of callLimits(pace)) left.push(calls - (await spent(kysely, host, ms, nowMs)))
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left))
}

const callsBetween = prepared((db, of: { host: string; since: number; until: number }) =>
  db
    .selectFrom('_budget')
    .select(({ fn }) => fn.countAll<number>().as('calls'))
    .where('host', '=', of.host)
    .where('called_at', '>', of.since)
    .where('called_at', '<=', of.until),
)
const spent = async (db: Kysely<Database>, host: string, ms: number, nowMs: number): Promise<number> =>
  (await callsBetween.first(db, { host, since: nowMs - ms, until: nowMs + CLOCK_ERROR_MS }))!.calls

/** The calls to a host that are recorded in the future: how many, and the time of the last one (epoch milliseconds). */
export async function futureCalls(
  { kysely }: Pick<Reader, 'kysely'>,
  host: string,
  nowMs: number,
): Promise<{ readonly calls: number; readonly last: number }> {
  const { calls, last } = await kysely
    .selectFrom('_budget')
    .select(({ fn }) => [fn.countAll<number>().as('calls'), fn.max('called_at').as('last')])
    .where('host', '=', host)
    .where('called_at', '>', nowMs + CLOCK_ERROR_MS)
    .executeTakeFirstOrThrow()
  return { calls: Number(calls), last: Number(last ?? 0) }
}

const addCall = preparedInsert('_budget', ['host', 'called_at'])
const forgetCalls = prepared((db, of: { host: string; before: number; after: number }) =>
  db
    .deleteFrom('_budget')
    .where('host', '=', of.host)
    .where((is) => is.or([is('called_at', '<', of.before), is('called_at', '>', of.after)])),
)

/**
 * Milliseconds since the latest calls to a host, whichever process sent them: at most so many calls of the last `ms`. It is not
 * recorded when a call was sent, but before that it was accounted for, and after that its response was recorded; the later one counts.
 * The responses are those of all hosts, for a record does not name its host: after calls to another one, a run may begin later than it must.
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
  const answered = await kysely
    .selectFrom('_fetch')
    .select(['finished_at', 'attempts'])
    .where('finished_at', '<=', formatMillis(nowMs + CLOCK_ERROR_MS))
    .orderBy('id', 'desc')
    .limit(calls)
    .execute()
  const answeredAt = answered.flatMap(({ finished_at, attempts }) =>
    Array.from({ length: attempts }, () => Date.parse(finished_at)),
  )
  return Array.from({ length: Math.min(calls, Math.max(accounted.length, answeredAt.length)) }, (_, i) =>
    Math.max(0, nowMs - Math.max(accounted[i]?.called_at ?? 0, answeredAt[i] ?? 0)),
  ).filter((age) => age < ms)
}

/**
 * Spends one call of the budget. The budget is kept in the database, so that it survives the process and all users of the file
 * share it. Calls of a job without limits are counted, too: other jobs may have limits. Throws BudgetError when none is left.
 */
export const spendCall = (store: Store, host: string, pace: Pace, nowMs: number): Promise<void> =>
  store.write(async (tx) => {
    for (const limit of callLimits(pace))
      if ((await spent(tx, host, limit.ms, nowMs)) >= limit.calls) throw budgetSpent(limit)
    await addCall.run(tx, { host, called_at: nowMs })
    await forgetCalls.run(tx, { host, before: nowMs - DAY_MS, after: nowMs + DAY_MS })
  })

/** The error of a call for which a limit leaves nothing. */
export const budgetSpent = ({ calls, word }: CallLimit): BudgetError =>
  new BudgetError(`The budget of ${quantity(calls, 'call')} ${word === 'hour' ? 'an' : 'a'} ${word} is spent.`, {
    hint: `Run the same command again after at most ${word === 'hour' ? 'an' : 'a'} ${word}. It continues where it stopped.`,
    code: 'budget',
  })
