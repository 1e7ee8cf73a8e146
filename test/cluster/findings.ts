import { createHash } from 'node:crypto'
import { type Interval, subtract } from '../../src/util/time/interval.ts'
import { withClient } from '../postgres/create.ts'

/** A call and its time of arrival at the service. */
export interface Arrival {
  readonly at: number
  readonly target: string
}

/** The results of a campaign. */
export interface Findings {
  readonly requests: number
  /** Requests sent again after a death of their worker or a lost connection. */
  readonly again: number
  /** The maximum number of calls in any second and any minute. */
  readonly mostASecond: number
  readonly mostAMinute: number
  /** Tables whose rows differ from an undisturbed run. */
  readonly different: readonly string[]
  /** The longest time in seconds from a lost call to its repetition, and the 90th percentile. */
  readonly resumed: number
  readonly resumedMostly: number
  /**
   * The longest such time for each attempt at a request, without silences. Silences are times above a second without
   * any call, because of the budget or the database.
   */
  readonly resumedEach: number
  /** The longest silence in seconds. */
  readonly silence: number
}

/** Requested by two jobs in overlapping windows: either job may request the common part. */
export const SHARED = 1293

const ALONE = `target not like '%/indicators/${SHARED}%'`
const of = (columns: string, table: string): string =>
  `select s.indicator_id, ${columns} from ${table} x join series s on s.id = x.series_id`

/** Joins adjacent intervals, which are separate if they were fetched more than a quarter of an hour apart. */
const JOINED = `(
  select *, sum(begins) over (partition by series_id, geo_id, state order by from_at) as number from (
    select *, (from_at is distinct from lag(to_at) over (partition by series_id, geo_id, state order by from_at))::int as begins
    from _coverage
  ) as each
)`

const SAME: Readonly<Record<string, string>> = {
  observation: of('geo_id, at, value, step_s', 'observation'),
  observation_revision: of('geo_id, at, value, step_s', 'observation_revision'),
  _coverage: of('geo_id, state, min(from_at), max(to_at)', JOINED) + ' group by s.indicator_id, geo_id, state, number',
  _absent: of('geo_id, from_at, to_at, x.step_s, missing', '_absent'),
  _day: of('geo_id, month, day, count, min, max, missing', '_day'),
  _resolution: of('from_at, x.step_s', '_resolution'),
  _reply: `select distinct r.hash, r.bytes from _reply r join _fetch f on f.reply_hash = r.hash where ${ALONE}`,
  indicator: 'select kind, id from indicator',
  fetches: `select distinct target, outcome from _fetch where outcome in ('ok', 'empty') and ${ALONE}`,
}

const most = (times: readonly number[], ms: number): number => {
  const sorted = [...times].sort((a, b) => a - b)
  let from = 0
  let found = 0
  for (const [to, time] of sorted.entries()) {
    while (sorted[from]! <= time - ms) from++
    found = Math.max(found, to - from + 1)
  }
  return found
}

const rowsOf = (url: string, sql: string): Promise<string[]> =>
  withClient(url, async (client) =>
    (await client.query({ text: sql, rowMode: 'array' })).rows.map((row) => JSON.stringify(row)).sort(),
  )

/** Returns how many workers died during each request, by its key. */
async function lostWorkers(url: string): Promise<ReadonlyMap<string, number>> {
  const text =
    'select singleton_key as key, sum(retry_count)::int as lost from pgboss.job group by 1 having sum(retry_count) > 0'
  const rows = await withClient(url, async (client) => (await client.query(text)).rows)
  return new Map(rows.map(({ key, lost }) => [key, lost]))
}

const seconds = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, { from, to }) => sum + to - from, 0) / 1000

/** Returns the times above a second without a call. */
function silencesIn(times: readonly number[]): readonly Interval[] {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted
    .slice(1)
    .map((to, i) => ({ from: sorted[i]!, to }))
    .filter(({ from, to }) => to - from > 1_000)
}

/** Compares a database with an undisturbed run and counts the calls to the service. */
export async function findOut(of: {
  readonly undisturbed: string
  readonly disturbed: string
  readonly arrivals: readonly Arrival[]
  readonly say: (text: string) => void
}): Promise<Findings> {
  const different: string[] = []
  for (const [name, sql] of Object.entries(SAME)) {
    const expected = await rowsOf(of.undisturbed, sql)
    const actual = await rowsOf(of.disturbed, sql)
    if (expected.join('\n') === actual.join('\n')) continue
    different.push(name)
    const added = [...new Set(actual).difference(new Set(expected))].slice(0, 3)
    const lacking = [...new Set(expected).difference(new Set(actual))].slice(0, 3)
    of.say(`${name}: ${expected.length} and ${actual.length} rows; ${added} / ${lacking}`)
  }
  const times = of.arrivals.map(({ at }) => at)
  const last = new Map<string, number>()
  const gaps: number[] = []
  const gapsEach: number[] = []
  const lost = await lostWorkers(of.disturbed)
  const silences = silencesIn(times)
  for (const { at, target } of [...of.arrivals].sort((a, b) => a.at - b.at)) {
    if (last.has(target)) {
      const gap = { from: last.get(target)!, to: at }
      gaps.push(seconds([gap]))
      gapsEach.push(
        seconds(subtract([gap], silences)) / (lost.get(createHash('sha256').update(target).digest('hex')) ?? 1),
      )
    }
    last.set(target, at)
  }
  gaps.sort((a, b) => a - b)
  return {
    requests: times.length,
    again: gaps.length,
    mostASecond: most(times, 1000),
    mostAMinute: most(times, 60_000),
    different,
    resumed: gaps.at(-1) ?? 0,
    resumedMostly: gaps[Math.floor(gaps.length * 0.9)] ?? 0,
    resumedEach: Math.max(0, ...gapsEach),
    silence: Math.max(0, ...silences.map((silence) => seconds([silence]))),
  }
}
