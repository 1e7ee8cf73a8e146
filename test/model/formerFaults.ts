/* Former faults of the program, as text changes that restore each. */
import { RULES } from './ruleMutants.ts'

/** A change in one place. */
interface Edit {
  readonly file: string
  readonly find: string
  readonly put: string
}

/** A former fault, as the repair to undo. */
export interface Mutant {
  readonly name: string
  /** The tests that must notice it; the model if there are none. */
  readonly tests?: readonly string[]
  readonly edits: readonly Edit[]
}

const mutant = (name: string, file: string, find: string, put: string): Mutant => ({
  name,
  edits: [{ file: `src/${file}`, find, put }],
})

const REPAIRS: readonly Mutant[] = [
  mutant(
    'sums over a change of resolution are loaded',
    'load/nativeValues.ts',
    'if (id === coarse) return areFiner(observations, sumStep)',
    'if (id === coarse) return true',
  ),
  mutant(
    'only the first half of a split is requested',
    'sync/processRequest.ts',
    "outcome.kind === 'split' ? outcome.parts : []",
    "outcome.kind === 'split' ? outcome.parts.slice(0, 1) : []",
  ),
  mutant(
    'windows end at midnight in the zone of the job',
    'plan/planSeries.ts',
    'cutCached(service.timeZone,',
    'cutCached(planning.job.timeZone,',
  ),
  mutant(
    'required ranges end at midnight in the zone of the job',
    'plan/planning.ts',
    'widen(service.timeZone, selected, unit)',
    'widen(job.timeZone, selected, unit)',
  ),
  {
    name: 'grouped periods begin at midnight in the zone of the job',
    edits: [
      {
        file: 'src/plan/planning.ts',
        find: "{ service, now }: Pick<PlanContext, 'service' | 'now'>,",
        put: '{ service, job, now }: PlanContext,',
      },
      { file: 'src/plan/planning.ts', find: 'timeZone: service.timeZone,', put: 'timeZone: job.timeZone,' },
    ],
  },
  mutant(
    'a window of months is not split',
    'plan/windows.ts',
    'if (!series || seconds === undefined ||',
    "if (!series || borderUnit(series.timeTrunc) !== 'day' || seconds === undefined ||",
  ),
  mutant(
    'all days and all months have the same length',
    'transform/values/steps.ts',
    'addUnits(zone, at, period.unit, period.count) - at',
    "(period.unit === 'day' ? 86_400 : 2_592_000) + 0 * zone.length * at",
  ),
  mutant(
    'a reply about another id is stored',
    'transform/transformSeries.ts',
    'if (String(sent) !== String(requested))',
    'if (String(sent) !== String(requested) && requested === 0)',
  ),
  mutant(
    'data that is settled for one lookback is settled for all',
    'judge/finality.ts',
    'stored.settledFor - ahead >= lookbackS',
    'stored.settledFor - ahead >= 86_400',
  ),
  mutant(
    'merged rows take the longest settled lookback of their parts',
    'load/coverage/decideCoverage.ts',
    'settledFor: Math.min(last.settledFor, row.settledFor)',
    'settledFor: Math.max(last.settledFor, row.settledFor)',
  ),
  mutant(
    'merged rows take the newest time of their parts',
    'load/coverage/decideCoverage.ts',
    'fetchedAt: Math.min(last.fetchedAt, row.fetchedAt)',
    'fetchedAt: Math.max(last.fetchedAt, row.fetchedAt)',
  ),
  mutant(
    'each day of a month is settled on its own',
    'judge/finality.ts',
    'return periods ? floorTo(zone, periods.floor(border), unit) : border',
    'return border',
  ),
  mutant(
    'a detected change of resolution is not stored',
    'load/recordResolutionChanges.ts',
    'before !== null && after !== null && before !== after &&',
    'before !== null && after !== null && before === after &&',
  ),
  mutant(
    'rows that are not settled are merged',
    'load/coverage/decideCoverage.ts',
    'Math.min(last.settledFor, row.settledFor) >= longestLookback &&',
    'Math.min(last.settledFor, row.settledFor, longestLookback) >= -Infinity &&',
  ),
  mutant('three whole days make a timeline regular', 'judge/limits.ts', 'REGULAR_DAYS = 7', 'REGULAR_DAYS = 3'),
  mutant('a single day with a value makes a timeline daily', 'judge/limits.ts', 'DAILY_DAYS = 28', 'DAILY_DAYS = 1'),
  mutant(
    'periods are missing after the last value',
    'judge/missing.ts',
    'to: Math.min(stretches[i + 1]?.from ?? last, last) }',
    'to: stretches[i + 1]?.from ?? last + 86_400 }',
  ),
  mutant(
    'a reply that lacks most values of a day withdraws them',
    'load/timelines/withdraw.ts',
    'return final.length <= stored.length * WITHDRAWN_SHARE',
    'return final.length <= stored.length / WITHDRAWN_SHARE',
  ),
  mutant(
    'a second reply on the same day confirms a withdrawal',
    'judge/limits.ts',
    'SECOND_REPLY_AFTER_S = 20 * 3600',
    'SECOND_REPLY_AFTER_S = 0',
  ),
  mutant(
    'several days that a reply lacks are withdrawn without a second reply',
    'load/timelines/withdraw.ts',
    'return lackingPeriods <= 1 &&',
    'return lackingPeriods >= 0 &&',
  ),
  mutant(
    'the total of an unverified day leaves out values that stay stored',
    'load/writeDays.ts',
    'observations.isStepGuessed || !isComplete ? null : window',
    'observations.isStepGuessed ? null : window',
  ),
  mutant(
    'a new cadence decides missing periods only in the window that showed it',
    'load/timelines/recordMissing.ts',
    'for (const { geoId, from, to } of cadenceChanges) {',
    'for (const { geoId, from, to } of cadenceChanges.slice(0, 0)) {',
  ),
  mutant(
    'a hole between old and new values of a timeline is not missing',
    'load/timelines/recordMissing.ts',
    'add(geoId, { from: Math.min(before.last, after.last) + 1, to: Math.max(before.last, after.last) })',
    '',
  ),
  mutant(
    'stored values keep the step of their reply when the cadence changes',
    'load/timelines/updateCadences.ts',
    'if (steps.length === 0) return',
    'if (steps.length >= 0) return',
  ),
  mutant(
    'unreadable rows leave their window verified',
    'load/coverage/decideCoverage.ts',
    "if (reply.hasUnreadValues) return 'unverified'",
    "if (reply.hasUnreadValues && reply.present.size < 0) return 'unverified'",
  ),
  mutant(
    'an empty reply about stored values is verified',
    'load/coverage/decideCoverage.ts',
    "return dismissalMayExplain(geo, reply) ? 'kept' : 'unverified'",
    "return 'kept'",
  ),
  mutant(
    'a geo that a reply lacks stays verified',
    'load/coverage/decideCoverage.ts',
    '!rejected.has(geo) && stored.omittedGeos.has(geo)',
    '!rejected.has(geo) && stored.omittedGeos.has(-1)',
  ),
  mutant(
    'a dismissed reject counts as new when it appears again',
    'load/quarantine/dismissed.ts',
    'if (rejects.length === 0) return { rejects, rejected }',
    'if (rejects.length >= 0) return { rejects, rejected }',
  ),
  mutant(
    'an unverified reply for all geos deletes the coverage of single geos',
    'load/coverage/decideCoverage.ts',
    'const change = isVerified(state) ?',
    "const change = state !== 'kept' ?",
  ),
  mutant(
    'unverified ranges are not requested again',
    'judge/judgeCoverage.ts',
    "if (requirements.length > 0 && state === 'unverified')",
    "if (requirements.length > 0 && state === 'unverified' && row.to < 0)",
  ),
  mutant(
    'missing periods are never requested again',
    'plan/planRepeats.ts',
    'for (const candidate of candidates) {',
    'for (const candidate of candidates.slice(0, 0)) {',
  ),
  mutant(
    'missing periods are requested in every run',
    'judge/distances.ts',
    'wait > LONGEST_PAUSE_S ? null : checkedAt + wait',
    'wait > LONGEST_PAUSE_S ? null : checkedAt',
  ),
  mutant(
    'missing periods are requested every night',
    'judge/distances.ts',
    'wait > LONGEST_PAUSE_S ? null : checkedAt + wait',
    'wait > LONGEST_PAUSE_S ? null : checkedAt + DAY',
  ),
  mutant(
    'an unknown id is requested in every run',
    'plan/freshness.ts',
    'if (now >= nextAt - EARLY_S ||',
    'if (now >= nextAt - EARLY_S || nextAt > 0 ||',
  ),
  mutant(
    'a range of two entries is requested twice',
    'plan/requestRegister.ts',
    'if (!requested) return [...intervals]',
    'if (!requested || requested.size >= 0) return [...intervals]',
  ),
  mutant(
    'rows of a reply with rejects are withdrawn',
    'load/applyValues.ts',
    'const window = rows.rejects.some(isAboutValues) ? null : planned.window',
    'const window = planned.window',
  ),
  mutant(
    'values that a complete reply lacks stay stored',
    'db/sqlite/operations/observations.ts',
    'if (stored > end - first - (written - superseded)) incompleteGeos.add(geoId)',
    '',
  ),
  mutant(
    'new values count as revised',
    'db/sqlite/operations/observations.ts',
    'revised += superseded',
    'revised += written',
  ),
  mutant(
    'a failure never ends',
    'db/queries/fetchOutcomes.ts',
    'const intervals = subtract([window], [...fetchedFor(later, geoId), ...fetchedForEach])',
    'const intervals = [window]',
  ),
  mutant(
    'a failure ends with a reply for one of its geos',
    'db/queries/fetchOutcomes.ts',
    'merge(later.filter(({ geos }) => geos === null || geos.includes(geoId)))',
    'merge(later.filter(({ geos }) => geos === null || geos.length > 0 || geos.includes(geoId)))',
  ),
  mutant(
    'the view gaps does not list unverified ranges',
    'db/tables/sql/coverageViews.ts',
    "where p.state = 'missing' and",
    "where p.state = 'missing' and p.reason <> 'unverified' and",
  ),
  mutant(
    'the view gaps does not list absent periods',
    'db/tables/sql/coverageViews.ts',
    "where p.state = 'missing' and",
    "where p.state = 'missing' and p.reason <> 'absent' and",
  ),
  {
    name: 'a reply for one geo makes all geos of its series fresh',
    edits: [
      {
        file: 'src/db/tables/sql/coverageViews.ts',
        find: "like '%,' || g.geo_id || ',%', 1 = 1)",
        put: "like '%,' || g.geo_id || ',%' or 1 = 1, 1 = 1)",
      },
    ],
  },
  mutant(
    'a replay does not restore when an indicator was first seen',
    'load/replies/rebuild.ts',
    'insertIndicator(tx, row.kind, row.indicator_id, row.created_at)',
    "insertIndicator(tx, row.kind, row.indicator_id, '2000-01-01T00:00:00.000Z')",
  ),
  mutant(
    'an instant outside the range of the command is requested',
    'plan/planJob.ts',
    'if (!isInRange(planning, datetime)) return',
    '',
  ),
  mutant(
    'a budget does not limit the calls',
    'fetch/budget.ts',
    'if ((await countCalls(tx, host, limit.ms, nowMs)) >= limit.calls)',
    'if (0 * (await countCalls(tx, host, limit.ms, nowMs)) >= limit.calls)',
  ),
  mutant(
    'an unverified geo stays unverified after a reply for that geo',
    'load/coverage/decideCoverage.ts',
    '(row.geo === geo ? cutRow(row, window, series) : row)',
    "(row.geo === geo && (geo === ALL_GEOS || row.state !== 'unverified') ? cutRow(row, window, series) : row)",
  ),
  mutant(
    'repeats of missing periods take half of the periods of a run',
    'plan/planRepeats.ts',
    'Math.floor(otherPeriods / 10)',
    'Math.ceil(otherPeriods / 2)',
  ),
  mutant(
    'missing periods beyond their share are requested more than once a day',
    'plan/planRepeats.ts',
    'Math.abs(now - last) >= DAY - EARLY_S',
    'Math.abs(now - last) >= 0',
  ),
  mutant(
    'a repeat of missing periods begins a day early',
    'plan/planRepeats.ts',
    'map((interval) => widen(service.timeZone, interval, unit))',
    'map((interval) => widen(service.timeZone, { ...interval, from: interval.from - DAY }, unit))',
  ),
  {
    name: 'a repeat of missing periods is split into many requests',
    edits: [
      {
        file: 'src/sync/processRequest.ts',
        find: "if (planned.reason !== 'absent') return splitOrPostpone",
        put: 'if (windows.length > 0) return splitOrPostpone',
      },
      {
        file: 'src/sync/processRequest.ts',
        find: "planned.reason === 'absent'",
        put: "(planned.reason as string) === ''",
      },
    ],
  },
  mutant(
    'the command gaps shows no time of the next request',
    'findings/findGaps.ts',
    'next_at: row.next_at,',
    'next_at: null,',
  ),
  mutant(
    'the command gaps shows no number of missing periods',
    'findings/findGaps.ts',
    'missing: row.missing,',
    'missing: step_s,',
  ),
]

export const MUTANTS: readonly Mutant[] = [...REPAIRS, ...RULES]
