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
    'of what is summed only the first half is asked',
    'sync/execute.ts',
    'task.pending.unshift(...outcome.parts)',
    'task.pending.unshift(...outcome.parts.slice(0, 1))',
  ),
  mutant(
    'windows are cut in the zone of the job',
    'plan/planSeries.ts',
    'cutCached(service.timeZone,',
    'cutCached(planning.job.timeZone,',
  ),
  mutant(
    'what is required ends on days of the job',
    'plan/planning.ts',
    'widen(service.timeZone, selected, unit)',
    'widen(job.timeZone, selected, unit)',
  ),
  {
    name: 'buckets are as long as in the zone of the job',
    edits: [
      {
        file: 'src/plan/planning.ts',
        find: "{ service, now }: Pick<PlanContext, 'service' | 'now'>,",
        put: '{ service, job, now }: PlanContext,',
      },
      { file: 'src/plan/planning.ts', find: '    timeZone: service.timeZone,', put: '    timeZone: job.timeZone,' },
    ],
  },
  mutant(
    'what is grouped by months is not halved',
    'plan/windows.ts',
    'if (!series || seconds === undefined ||',
    "if (!series || borderUnit(series.timeTrunc) !== 'day' || seconds === undefined ||",
  ),
  mutant(
    'days and months are all equally long',
    'transform/values/steps.ts',
    'addUnits(zone, at, period.unit, period.count) - at',
    "(period.unit === 'day' ? 86_400 : 2_592_000) + 0 * zone.length * at",
  ),
  mutant(
    'an answer for another id is stored',
    'transform/transformSeries.ts',
    'if (String(sent) !== String(requested))',
    'if (String(sent) !== String(requested) && requested === 0)',
  ),
  mutant(
    'settled for one is settled for all',
    'judge/finality.ts',
    'stored.settledFor - ahead >= lookbackS',
    'stored.settledFor - ahead >= 86_400',
  ),
  mutant(
    'what became one is as settled as its oldest part',
    'load/coverage/decideCoverage.ts',
    'settledFor: Math.min(last.settledFor, row.settledFor)',
    'settledFor: Math.max(last.settledFor, row.settledFor)',
  ),
  mutant(
    'what became one is as fresh as its newest part',
    'load/coverage/decideCoverage.ts',
    'fetchedAt: Math.min(last.fetchedAt, row.fetchedAt)',
    'fetchedAt: Math.max(last.fetchedAt, row.fetchedAt)',
  ),
  mutant(
    'a month is settled day by day',
    'judge/finality.ts',
    'return periods ? floorTo(zone, periods.floor(border), unit) : border',
    'return border',
  ),
  mutant(
    'a change of resolution that was found is forgotten',
    'load/recordResolutionChanges.ts',
    'before !== null && after !== null && before !== after &&',
    'before !== null && after !== null && before === after &&',
  ),
  mutant(
    'what is not settled is merged',
    'load/coverage/decideCoverage.ts',
    'Math.min(last.settledFor, row.settledFor) >= longestLookback &&',
    'Math.min(last.settledFor, row.settledFor, longestLookback) >= -Infinity &&',
  ),
  mutant('three whole days show a regular timeline', 'judge/limits.ts', 'REGULAR_DAYS = 7', 'REGULAR_DAYS = 3'),
  mutant('a value shows that every day has one', 'judge/limits.ts', 'DAILY_DAYS = 28', 'DAILY_DAYS = 1'),
  mutant(
    'periods are missing after the last value',
    'judge/missing.ts',
    'to: Math.min(stretches[i + 1]?.from ?? last, last) }',
    'to: stretches[i + 1]?.from ?? last + 86_400 }',
  ),
  mutant(
    'a reply that lacks most values of a day is believed',
    'load/timelines/withdraw.ts',
    'return final.length <= stored.length * WITHDRAWN_SHARE',
    'return final.length <= stored.length / WITHDRAWN_SHARE',
  ),
  mutant(
    'a second reply on the same day proves a withdrawal',
    'judge/limits.ts',
    'SECOND_REPLY_AFTER_S = 20 * 3600',
    'SECOND_REPLY_AFTER_S = 0',
  ),
  mutant(
    'several days that a reply lacks are withdrawn at once',
    'load/timelines/withdraw.ts',
    'return lackingPeriods <= 1 &&',
    'return lackingPeriods >= 0 &&',
  ),
  mutant(
    'a day that is not believed is summed without the values that stay',
    'load/writeDays.ts',
    'observations.isStepGuessed || !isComplete ? null : window',
    'observations.isStepGuessed ? null : window',
  ),
  mutant(
    'only the window that showed a cadence is decided by it',
    'load/timelines/recordMissing.ts',
    'for (const { geoId, from, to } of cadenceChanges) {',
    'for (const { geoId, from, to } of cadenceChanges.slice(0, 0)) {',
  ),
  mutant(
    'a timeline that grows over a hole does not miss it',
    'load/timelines/recordMissing.ts',
    'add(geoId, { from: Math.min(before.last, after.last) + 1, to: Math.max(before.last, after.last) })',
    '',
  ),
  mutant(
    'stored values keep the step of the reply that brought them',
    'load/timelines/updateCadences.ts',
    'if (steps.length === 0) return',
    'if (steps.length >= 0) return',
  ),
  mutant(
    'rows that make no sense leave nothing unverified',
    'load/coverage/decideCoverage.ts',
    "if (reply.hasUnreadValues) return 'unverified'",
    "if (reply.hasUnreadValues && reply.present.size < 0) return 'unverified'",
  ),
  mutant(
    'an empty answer over held values is believed',
    'load/coverage/decideCoverage.ts',
    "return dismissalMayExplain(geo, reply) ? 'kept' : 'unverified'",
    "return 'kept'",
  ),
  mutant(
    'a geo that is missing is not unverified',
    'load/coverage/decideCoverage.ts',
    '!rejected.has(geo) && stored.omittedGeos.has(geo)',
    '!rejected.has(geo) && stored.omittedGeos.has(-1)',
  ),
  mutant(
    'what was dismissed is news when it comes again',
    'load/quarantine/dismissed.ts',
    'if (rejects.length === 0) return { rejects, rejected }',
    'if (rejects.length >= 0) return { rejects, rejected }',
  ),
  mutant(
    'an unverified answer for all geos erases what single geos were answered',
    'load/coverage/decideCoverage.ts',
    'const change = isVerified(state) ?',
    "const change = state !== 'kept' ?",
  ),
  mutant(
    'what is unverified is left alone',
    'judge/judgeCoverage.ts',
    "if (requirements.length > 0 && state === 'unverified')",
    "if (requirements.length > 0 && state === 'unverified' && row.to < 0)",
  ),
  mutant(
    'what is absent is never asked again',
    'plan/planAbsences.ts',
    'for (const candidate of candidates) {',
    'for (const candidate of candidates.slice(0, 0)) {',
  ),
  mutant(
    'what is absent is asked in every run',
    'judge/distances.ts',
    'wait > LONGEST_PAUSE_S ? null : checkedAt + wait',
    'wait > LONGEST_PAUSE_S ? null : checkedAt',
  ),
  mutant(
    'what is absent is asked every night',
    'judge/distances.ts',
    'wait > LONGEST_PAUSE_S ? null : checkedAt + wait',
    'wait > LONGEST_PAUSE_S ? null : checkedAt + DAY',
  ),
  mutant(
    'an unknown id is asked in every run',
    'plan/freshness.ts',
    'if (now >= nextAt - EARLY_S ||',
    'if (now >= nextAt - EARLY_S || nextAt > 0 ||',
  ),
  mutant(
    'what two entries share is asked twice',
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
    'what a complete answer lacks stays',
    'db/sqlite/operations/observations.ts',
    'if (stored > end - first - (written - superseded)) surplus.add(geoId)',
    '',
  ),
  mutant(
    'revised are also those that are new',
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
    'a failure ends when one geo of several was answered',
    'db/queries/fetchOutcomes.ts',
    'merge(later.filter(({ geos }) => geos === null || geos.includes(geoId)))',
    'merge(later.filter(({ geos }) => geos === null || geos.length > 0 || geos.includes(geoId)))',
  ),
  mutant(
    'the view gaps lists nothing unverified',
    'db/tables/sql/coverageViews.ts',
    "where p.state = 'missing' and",
    "where p.state = 'missing' and p.reason <> 'unverified' and",
  ),
  mutant(
    'the view gaps knows nothing absent',
    'db/tables/sql/coverageViews.ts',
    "where p.state = 'missing' and",
    "where p.state = 'missing' and p.reason <> 'absent' and",
  ),
  {
    name: 'a geo is as fresh as its series',
    edits: [
      {
        file: 'src/db/tables/sql/coverageViews.ts',
        find: "like '%,' || g.geo_id || ',%', 1 = 1)",
        put: "like '%,' || g.geo_id || ',%' or 1 = 1, 1 = 1)",
      },
    ],
  },
  mutant(
    'a replay forgets when an indicator was first seen',
    'load/replies/rebuild.ts',
    'insertIndicator(tx, row.kind, row.indicator_id, row.created_at)',
    "insertIndicator(tx, row.kind, row.indicator_id, '2000-01-01T00:00:00.000Z')",
  ),
  mutant(
    'an instant is requested whatever the range',
    'plan/planJob.ts',
    'if (!isInRange(planning, datetime)) return',
    '',
  ),
  mutant(
    'a budget knows only the calls of its own job',
    'fetch/budget.ts',
    'if ((await countCalls(tx, host, limit.ms, nowMs)) >= limit.calls)',
    'if (0 * (await countCalls(tx, host, limit.ms, nowMs)) >= limit.calls)',
  ),
  mutant(
    'an unverified geo stays unverified after an answer about that geo',
    'load/coverage/decideCoverage.ts',
    '(row.geo === geo ? cutRow(row, window, series) : row)',
    "(row.geo === geo && (geo === ALL_GEOS || row.state !== 'unverified') ? cutRow(row, window, series) : row)",
  ),
  mutant(
    'absent values take half of the calls',
    'plan/planAbsences.ts',
    'Math.floor(otherPeriods / 10)',
    'Math.ceil(otherPeriods / 2)',
  ),
  mutant(
    'absent values are requested more than once a day',
    'plan/planAbsences.ts',
    'Math.abs(now - last) >= DAY - EARLY_S',
    'Math.abs(now - last) >= 0',
  ),
  mutant(
    'a window for absent values begins a day early',
    'plan/planAbsences.ts',
    'map((interval) => widen(service.timeZone, interval, unit))',
    'map((interval) => widen(service.timeZone, { ...interval, from: interval.from - DAY }, unit))',
  ),
  {
    name: 'a window for absent values is cut into many calls',
    edits: [
      {
        file: 'src/sync/processRequest.ts',
        find: "  if (planned.reason !== 'absent') return splitOrPostpone",
        put: '  if (windows.length > 0) return splitOrPostpone',
      },
      {
        file: 'src/sync/processRequest.ts',
        find: "  planned.reason === 'absent'\n    ?",
        put: "  (planned.reason as string) === ''\n    ?",
      },
    ],
  },
  mutant(
    'gaps says of nothing when it is requested',
    'findings/findGaps.ts',
    'next_at: row.next_at,',
    'next_at: null,',
  ),
  mutant('gaps counts no missing periods', 'findings/findGaps.ts', 'missing: row.missing,', 'missing: step_s,'),
]

export const MUTANTS: readonly Mutant[] = [...REPAIRS, ...RULES]
