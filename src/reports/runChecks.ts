import { findDifferentDays, readValuesBeyond } from '../db/queries/values.ts'
import type { Reader } from '../db/store.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import { LONGEST_DAY_S } from '../util/time/localDay.ts'
import { findChangedMeanings } from './changedMeanings.ts'
import { findGaps, type Gap, gapsAt, gapText } from './findGaps.ts'
import { findAlternating, findGoneFiles, findSameNames } from './jobFindings.ts'
import { findLackingGeos, lackingGeosText, readNamedGeos } from './lackingGeos.ts'
import { findStaleSeries } from './lag.ts'
import { findFailedRuns, findRunningRun, findUnfinishedRuns } from './lastRuns.ts'
import { readOpenFailures } from './readStatus.ts'
import { findMissedRuns } from './rhythm.ts'
import { seriesName } from './seriesName.ts'

/** A finding of a check. */
export interface Finding {
  /** The name of the check, as in docs/monitoring.md. */
  readonly check: string
  /** What is wrong, in one sentence. */
  readonly what: string
}

/** Finds local days with more hours of values than a day can have. */
async function findOverlaps({ kysely }: Reader): Promise<string[]> {
  const days = await kysely
    .selectFrom('observations_daily')
    .select(['series_id', 'kind', 'indicator_id', 'time_trunc', 'geo_agg', 'geo_id', 'local_date', 'hours'])
    .where('hours', '>', LONGEST_DAY_S / 3600)
    .where('count', '>', 1)
    .execute()
  return days.map((day) => `${seriesName(day)}, geo ${day.geo_id}: ${day.local_date} has ${day.hours} hours of values`)
}

/**
 * A larger value is a mistake, such as a wrong unit or joined digits. The largest indicators are sums of years; the electricity of a
 * country in a year is some 10⁸ MWh.
 */
const MAX_CREDIBLE = 1e9

const sentences = (findings: readonly { readonly what: string }[]): string[] => findings.map(({ what }) => what)

type Checks = Readonly<Record<string, (db: Reader, now: Instant) => Promise<readonly string[]>>>

/** The checks of runs, requests and series, each with a function that returns its findings at an instant. */
const STATE_CHECKS: Checks = {
  'last run': async (db) => sentences(await findFailedRuns(db)),
  unfinished: async (db) => sentences(await findUnfinishedRuns(db)),
  'same name': findSameNames,
  'job file': findGoneFiles,
  alternating: findAlternating,
  failure: async (db) => (await readOpenFailures(db)).map(({ target, message }) => `${target}: ${message}`),
  geo: async (db) => (await findLackingGeos(db, await readNamedGeos(db))).map(lackingGeosText),
  'id changed meaning': findChangedMeanings,
  stale: async (db, now) => {
    const late = await db.kysely.selectFrom(gapsAt(now)).select('series_id').where('reason', '=', 'late').execute()
    const listed = new Set(late.map(({ series_id }) => series_id))
    return sentences((await findStaleSeries(db, now)).filter(({ seriesId }) => !listed.has(seriesId)))
  },
  quarantine: async ({ kysely }) => {
    const open = kysely
      .selectFrom('_quarantine as q')
      .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
      .select(['q.path', 'q.reason', ({ fn }) => fn.min('q.id').as('first')])
      .where('q.resolved_at', 'is', null)
      // Each reply to the same request has entries of its own.
      .groupBy(['f.target', 'q.path', 'q.reason'])
      .orderBy('first')
    return (await open.execute()).map(({ path, reason }) => `${path}: ${reason}`)
  },
}

/** Checks that read every value or row. */
const VALUE_CHECKS: Checks = {
  overlap: findOverlaps,
  'out of range': async ({ kysely }) =>
    (await readValuesBeyond(kysely, MAX_CREDIBLE)).map(
      (row) => `${seriesName(row)}, geo ${row.geo_id}: ${row.value} at ${formatUtc(row.at)}`,
    ),
  reference: async ({ engine }) =>
    (await engine.dangling()).map(
      ({ table, row, parent }) => `${table} row ${row ?? '?'} refers to a missing row of ${parent}`,
    ),
}

/** All checks of `check`; missed runs and gaps come before them. */
export const CHECKS: Checks = { ...STATE_CHECKS, ...VALUE_CHECKS }

/** How much is checked: the state of runs, requests and series; also values; also the totals of days, which takes long. */
type Depth = 'state' | 'values' | 'totals'

/** Runs the checks at an instant. */
export async function runChecks(
  db: Reader,
  now: Instant = Math.floor(Date.now() / 1000),
  { depth = 'values' }: { readonly depth?: Depth } = {},
): Promise<Finding[]> {
  const findings: Finding[] = (await findMissedRuns(db, now)).map(({ what }) => ({ check: 'no run', what }))
  const running = await findRunningRun(db)
  // A run in progress requests what its job lacks.
  const gaps = (await findGaps(db, now)).filter(
    ({ reason, job }) => reason !== 'never requested' || job !== running?.job,
  )
  const lacking = await findLackingGeos(db, await readNamedGeos(db))
  // The check of geos names those that have values.
  const isNamed = ({ kind, indicator_id, reason }: Gap): boolean =>
    reason === 'no values' && lacking.some((geos) => geos.kind === kind && geos.indicatorId === indicator_id)
  for (const gap of gaps.filter((gap) => !gap.tolerated && !isNamed(gap)))
    findings.push({ check: `gap (${gap.reason})`, what: gapText(gap) })
  const checks =
    depth === 'state' ? STATE_CHECKS : depth === 'values' ? CHECKS : { ...CHECKS, 'daily totals': findDifferingDays }
  for (const [check, find] of Object.entries(checks))
    findings.push(...(await find(db, now)).map((what) => ({ check, what })))
  return findings
}

/** Dates that a finding names. */
const MAX_DATES = 10

/** Finds days whose totals differ from their values; returns a sentence for each series and geo. Reads every value. */
export async function findDifferingDays({ kysely }: Reader): Promise<string[]> {
  const timelines = await kysely
    .selectFrom((eb) =>
      eb
        .selectFrom('series_geo')
        .select(['series_id', 'geo_id'])
        .union(eb.selectFrom('_day').select(['series_id', 'geo_id']).distinct())
        .as('t'),
    )
    .innerJoin('series as s', 's.id', 't.series_id')
    .select(['t.series_id', 't.geo_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .orderBy('t.series_id')
    .orderBy('t.geo_id')
    .execute()
  const findings: string[] = []
  for (const timeline of timelines) {
    const dates = await findDifferentDays(kysely, timeline.series_id, timeline.geo_id)
    if (dates.length === 0) continue
    const days =
      dates.length === 1 ? '1 day does not match its values' : `${dates.length} days do not match their values`
    const more = dates.length > MAX_DATES ? ` and ${dates.length - MAX_DATES} more` : ''
    findings.push(
      `${seriesName(timeline)}, geo ${timeline.geo_id}: the totals of ${days}: ${dates.slice(0, MAX_DATES).join(', ')}${more}; \`indicator-sync replay\` recomputes them`,
    )
  }
  return findings
}
