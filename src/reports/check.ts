import type { Reader } from '../db/store.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import { LONGEST_DAY_S } from '../util/time/localDay.ts'
import { findGaps, gapText } from './gaps.ts'
import { findLackingGeos, lackingGeosText, storedNamedGeos } from './lackingGeos.ts'
import { staleSeries } from './lag.ts'
import { failedRuns, unfinishedRuns } from './lastRuns.ts'
import { missedRuns } from './rhythm.ts'
import { seriesName } from './seriesName.ts'
import { openFailures } from './status.ts'

/** A finding of a check. */
export interface Finding {
  /** The name of the check, as in docs/monitoring.md. */
  readonly check: string
  /** What is wrong, in one sentence. */
  readonly what: string
}

/** Local days with more hours of values than a day can have. */
async function overlaps({ kysely }: Reader): Promise<string[]> {
  const days = await kysely
    .selectFrom('observations_daily')
    .select(['series_id', 'kind', 'indicator_id', 'time_trunc', 'geo_agg', 'geo_id', 'local_date', 'hours'])
    .where('hours', '>', LONGEST_DAY_S / 3600)
    .where('count', '>', 1)
    .execute()
  return days.map((day) => `${seriesName(day)}, geo ${day.geo_id}: ${day.local_date} has ${day.hours} hours of values`)
}

/**
 * A value beyond this is a mistake: of a wrong unit, or of digits that ran together. The largest that indicators hold are sums of years;
 * the electricity of a whole country in a year is some 10⁸ MWh.
 */
const LARGEST_CREDIBLE = 1e9

async function outOfRange({ engine }: Reader): Promise<string[]> {
  const rows = await engine.valuesBeyond(LARGEST_CREDIBLE)
  return rows.map((row) => `${seriesName(row)}, geo ${row.geo_id}: ${row.value} at ${formatUtc(row.at)}`)
}

async function quarantined({ kysely }: Reader): Promise<string[]> {
  const rows = await kysely
    .selectFrom('_quarantine')
    .select(['path', 'reason'])
    .where('resolved_at', 'is', null)
    .execute()
  return rows.map(({ path, reason }) => `${path}: ${reason}`)
}

async function references({ engine }: Reader): Promise<string[]> {
  return (await engine.dangling()).map(
    ({ table, row, parent }) => `${table} row ${row ?? '?'} refers to a missing row of ${parent}`,
  )
}

/** A check: its name, and a function that returns its findings at an instant. */
type Check = readonly [check: string, find: (db: Reader, now: Instant) => Promise<readonly string[]>]

/** The checks that are a query each; missed runs and gaps come before them. */
export const CHECKS: readonly Check[] = [
  ['last run', async (db) => (await failedRuns(db)).map(({ what }) => what)],
  ['unfinished', async (db) => (await unfinishedRuns(db)).map(({ what }) => what)],
  ['failure', async (db) => (await openFailures(db)).map(({ target, message }) => `${target}: ${message}`)],
  ['geo', async (db) => (await findLackingGeos(db, await storedNamedGeos(db))).map(lackingGeosText)],
  ['stale', async (db, now) => (await staleSeries(db, now)).map(({ what }) => what)],
  ['overlap', overlaps],
  ['out of range', outOfRange],
  ['quarantine', quarantined],
  ['reference', references],
]

/** Runs every check at an instant; without findings, all is well. `deep`: also compares the totals of days with all values, which takes long. */
export async function runChecks(
  db: Reader,
  now: Instant = Math.floor(Date.now() / 1000),
  { deep = false }: { readonly deep?: boolean } = {},
): Promise<Finding[]> {
  const found: Finding[] = (await missedRuns(db, now)).map(({ what }) => ({ check: 'no run', what }))
  for (const gap of await findGaps(db)) found.push({ check: `gap (${gap.reason})`, what: gapText(gap) })
  const checks = deep ? [...CHECKS, ['daily totals', differingDays] as const] : CHECKS
  for (const [check, find] of checks) found.push(...(await find(db, now)).map((what) => ({ check, what })))
  return found
}

/** How many dates a finding names. */
const MAX_NAMED_DATES = 10

/** Finds days whose totals are not those of their values: a sentence for each series and geo, with the days. Reads every value. */
export async function differingDays({ kysely, engine }: Reader): Promise<string[]> {
  const timelines = await kysely
    .selectFrom((db) =>
      db
        .selectFrom('series_geo')
        .select(['series_id', 'geo_id'])
        .union(db.selectFrom('_day').select(['series_id', 'geo_id']).distinct())
        .as('t'),
    )
    .innerJoin('series as s', 's.id', 't.series_id')
    .select(['t.series_id', 't.geo_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .orderBy('t.series_id')
    .orderBy('t.geo_id')
    .execute()
  const found: string[] = []
  for (const timeline of timelines) {
    const { series_id, geo_id } = timeline
    const all = await engine.differentDays(series_id, geo_id)
    if (all.length === 0) continue
    const dates = all.slice(0, MAX_NAMED_DATES)
    const more = all.length > MAX_NAMED_DATES ? ` and ${all.length - MAX_NAMED_DATES} more` : ''
    const days = all.length === 1 ? '1 day does not match its values' : `${all.length} days do not match their values`
    found.push(
      `${seriesName(timeline)}, geo ${geo_id}: the totals of ${days}: ${dates.join(', ')}${more}; \`indicator-sync replay\` recomputes them`,
    )
  }
  return found
}
