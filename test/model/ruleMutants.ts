/* Faults in the rules of the judgement, of cadences and of duties, each with the fast tests that must notice it. */
import type { Mutant } from './formerFaults.ts'

const rule =
  (file: string, ...tests: readonly string[]) =>
  (name: string, find: string, put: string): Mutant => ({ name, tests, edits: [{ file: `src/${file}`, find, put }] })

const ofJudge = (file: string) =>
  rule(`judge/${file}`, 'test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts')
const judge = ofJudge('judge.ts')
const covered = ofJudge('judgeCoverage.ts')
const uncovered = ofJudge('judgeUncovered.ts')
const absent = ofJudge('judgeMissing.ts')
const ended = ofJudge('judgeEnd.ts')
const accepted = ofJudge('accept.ts')
const coverage = rule('load/coverage/decideCoverage.ts', 'test/load/coverage.test.ts')
const cadence = rule('judge/cadence.ts', 'test/judge/cadence.test.ts', 'test/judge/missingPeriodsProperties.test.ts')
const grid = rule('judge/grid.ts', 'test/judge/cadence.test.ts', 'test/judge/missingPeriodsProperties.test.ts')
const calendar = rule(
  'util/time/periods.ts',
  'test/judge/cadence.test.ts',
  'test/judge/missingPeriodsProperties.test.ts',
)
const missing = rule('judge/missing.ts', 'test/judge/cadence.test.ts', 'test/judge/missingPeriodsProperties.test.ts')
const limits = rule('judge/limits.ts', 'test/judge/cadence.test.ts', 'test/judge/missingPeriodsProperties.test.ts')
const duties = rule('plan/duties.ts', 'test/plan/duties.test.ts')
const turns = rule('plan/turns.ts', 'test/plan/turns.test.ts')

const JUDGE: readonly Mutant[] = [
  rule('judge/validRows.ts', 'test/judge/judge.test.ts')(
    'J1: the row of a geo does not take precedence over that of all geos',
    'if (ofGeo.length === 0) return ofAll',
    'if (ofGeo.length >= 0) return ofAll',
  ),
  judge(
    'J1: an unverified reply for all geos is not judged if geos are known',
    'const others = [...unverified, ...judgeUncovered(input)].flatMap(',
    'const others = [...unverified.slice(0, 0), ...judgeUncovered(input)].flatMap(',
  ),
  judge(
    'J1: geos that may exist beside the known ones are not judged',
    'known.has(ALL_GEOS) ? []',
    'geoIds.length > 0 ? []',
  ),
  judge(
    'J1: a geo that a job names is judged only if it has values',
    '...requirements.flatMap(({ geoIds }) => geoIds ?? []),',
    '...requirements.flatMap(() => []),',
  ),
  judge(
    'J1: an entry for some geos requires all of them',
    'const requirements = context.requirements.filter(({ geoIds }) => geoIds?.includes(geoId) ?? true)',
    'const requirements = context.requirements.filter(({ geoIds }) => geoIds !== undefined)',
  ),
  covered(
    'J2: data is final by the shortest lookback',
    'borders.every((border) => border >= to)',
    'borders.some((border) => border >= to)',
  ),
  covered(
    'J2: the latest entry decides the next request',
    'fetchedAt + Math.min(...refreshing.map(({ refreshS }) => refreshS))',
    'fetchedAt + Math.max(...refreshing.map(({ refreshS }) => refreshS))',
  ),
  uncovered('J3: new time is missing at once', 'dueAt: failed.length > 0 ? null : earliest(dueAt),', 'dueAt: null,'),
  uncovered(
    'J3: data of a failed request is expected, not missing',
    'dueAt: failed.length > 0 ? null : earliest(dueAt),',
    'dueAt: earliest(dueAt),',
  ),
  uncovered(
    'J3: a span that grows with time ends when it is judged',
    'lagS: isGrowing && failed.length === 0 ?',
    'lagS: isGrowing && failed.length > 0 ?',
  ),
  uncovered(
    'J3: the hours after a reply are not missing',
    "if (span.state !== 'provisional' || from >= span.to) return []",
    'if (from < span.to || from >= span.to) return []',
  ),
  uncovered(
    'J3: values that were published ahead are missing',
    'const from = Math.max(span.from, repliedTo(span), lastEnd)',
    'const from = Math.max(span.from, repliedTo(span))',
  ),
  covered(
    'J4: days before the first value are never requested again',
    'if (part.to <= begin) return repeatInRounds',
    'if (part.to <= begin && extent === null) return repeatInRounds',
  ),
  ended('J5: a timeline is late at once', 'dueAt: from + allowedS,', 'dueAt: from,'),
  ended(
    'J5: a timeline is never late',
    'requiring.length === 0 || requested.length === 0',
    'requiring.length >= 0 || requested.length === 0',
  ),
  ended(
    'J5: an irregular timeline is late',
    "kind === null || kind === 'irregular') return []",
    'kind === null) return []',
  ),
  ended(
    'J5: a timeline is late beyond the first range that was not requested',
    'const requested = end === -1 ? after : after.slice(0, end)',
    'const requested = after',
  ),
  ended(
    'J6: a series that no job requires lacks values',
    'if (missing.length > 0 || requirements.length === 0) return []',
    'if (missing.length > 0) return []',
  ),
  ended(
    'J6: final ranges of a series without values are not missing',
    "const final = covered.filter(({ state }) => state === 'complete')",
    "const final = covered.filter(({ state }) => state === 'missing')",
  ),
  covered(
    'J6: a geo with rows but without any value is never requested again',
    'if (part.to <= begin) return repeatInRounds',
    'if (part.to <= begin && extent !== null) return repeatInRounds',
  ),
  covered(
    'J5: days after the last value are requested every night',
    'repeatInRounds(whole, [lastEnd + extent!.step], finality, now)',
    'repeatInRounds(whole, [now], finality, now)',
  ),
  coverage(
    'J5: the row of a first or last value takes the time of an older one',
    '!hasEnd(series, last) && !hasEnd(series, row)',
    'row.from >= 0',
  ),
  covered(
    'J5: a day that was requested meanwhile is requested again',
    'const fetchedAt = Math.max(newestAt, span.reply!.fetchedAt)',
    'const fetchedAt = newestAt',
  ),
  uncovered(
    'J3: hours that a failed request left after a reply are expected',
    'dueAt: failed.length > 0 ? null : fetchedAt + grace',
    'dueAt: fetchedAt + grace',
  ),
  covered(
    'J5: the day of the last value is not requested again',
    '? floorTo(finality.zone, lastEnd, finality.unit)',
    '? ceilTo(finality.zone, lastEnd, finality.unit)',
  ),
  absent('J7: no missing period is tolerated', '> TOLERATED_SHARE * DAY', '> 0 * TOLERATED_SHARE * DAY'),
  absent(
    'J7: a day without any of its short periods is tolerated',
    '> TOLERATED_SHARE * DAY',
    '> DAY / TOLERATED_SHARE',
  ),
  absent(
    'J7: missing periods of longer steps are tolerated',
    'step !== null && step < TOLERANT_BELOW_S',
    'step !== null && step < 4 * TOLERANT_BELOW_S',
  ),
  accepted(
    'J8: an acceptance without an end hides missing periods',
    'if (isAbsence(span.reason!)) return [{ from, to: missingTo(from) }]',
    'if (isAbsence(span.reason!)) return [{ from, to: FOREVER }]',
  ),
  accepted(
    'J8: an acceptance without an end hides a later end',
    'return isEnd && span.from <= from && span.to > from ?',
    'return isEnd ?',
  ),
  accepted(
    'J8: an acceptance of a part hides the whole span',
    '...inside.map((part) => ({ ...span, ...part, isAccepted: true })),',
    '...inside.map(() => ({ ...span, isAccepted: true })),',
  ),
  covered(
    'R3: an unverified reply is requested again in every run',
    'isAhead ? now : unverifiedNext(sinceAt ?? fetchedAt, fetchedAt)',
    'isAhead ? now : fetchedAt',
  ),
  absent(
    'R4: periods that an unverified reply lacks are missing',
    "const verified = covered.filter(({ reply }) => reply!.state !== 'unverified')",
    'const verified = covered',
  ),
  absent(
    'R4: periods that may still be published are missing',
    "state: state === 'complete' ? 'missing' : 'provisional',",
    "state: 'missing',",
  ),
  absent(
    'R4: missing periods that no job requires are requested',
    "span.state === 'missing' && (span.job === null || next === null)",
    "span.state === 'missing' && next === null",
  ),
  absent(
    'a reply from a clock that was ahead delays the next request',
    'const next = isFuture(absence.checkedAt, now) ? now :',
    'const next = isFuture(absence.checkedAt, now + 1e9) ? now :',
  ),
]

const CADENCE: readonly Mutant[] = [
  cadence(
    'C1: the coarsest step of seven whole days is the step',
    '!best || streak.step < best.step || (streak.step',
    '!best || streak.step > best.step || (streak.step',
  ),
  cadence(
    'C1: days with different offsets of periods count as one streak',
    'a.step === b.step && a.offset === b.offset',
    'a.step === b.step',
  ),
  limits('C1: two months make a timeline monthly', 'REGULAR_PERIODS = 3', 'REGULAR_PERIODS = 2'),
  cadence(
    'C2: whole days elsewhere do not make a part of a timeline regular',
    'findCalendarGrids(days, zone) ?? (week &&',
    'findCalendarGrids(days, zone) ?? (week && week.step < 0 &&',
  ),
  cadence(
    'C3: a timeline with values on every day is not daily',
    "irregular(isDaily(part) ? 'daily' : 'irregular', from)",
    "irregular(isDaily(part) ? 'irregular' : 'irregular', from)",
  ),
  cadence(
    'C4: one day of finer values does not change the step',
    'hasStep(own) && (own.step < base.step ||',
    'hasStep(own) && (own.step < 0 ||',
  ),
  cadence(
    'C5: one coarser day changes the step',
    'hasStep(own) && (own.step < base.step ||',
    'hasStep(own) && (own.step !== base.step ||',
  ),
  limits('C5: ten coarser days change the step', 'CHANGED_DAYS = 14', 'CHANGED_DAYS = 10'),
  cadence(
    'C5: coarser days with finer values count as whole',
    'days.filter(({ step, strays }) => step === finestStep || strays === 0)',
    'days',
  ),
  cadence(
    'C5: an announced change does not change the step',
    'const borders = [Number.NEGATIVE_INFINITY, ...announced, Number.POSITIVE_INFINITY]',
    'const borders = [Number.NEGATIVE_INFINITY, ...announced.slice(0, 0), Number.POSITIVE_INFINITY]',
  ),
  limits('C5: one missing day ends a stretch of the finest step', 'WHOLE_DAYS_SHARE = 3 / 4', 'WHOLE_DAYS_SHARE = 1'),
  limits('one coarse period at midnight moves a change of step', 'CHANGED_PERIODS = 3', 'CHANGED_PERIODS = 0'),
  cadence(
    'a step changes only at midnight',
    'return { ...stretch, from: findChange(before.grid, after, from, zone, own) }',
    'return { ...stretch, from: own.length < 0 ? findChange(before.grid, after, from, zone, own) : from }',
  ),
  cadence(
    'C9: a timeline with `expect: irregular` is daily',
    "if (expect === 'irregular') return [irregular('irregular')]",
    "if (expect === 'irregular') return [irregular('daily')]",
  ),
  cadence(
    'C9: an expected step does not override the values',
    'if (expect !== null) return [regular(',
    'if (expect !== null && days.length === 0) return [regular(',
  ),
  cadence(
    'the step of grouped values is that of the values',
    'const shapes = grouped === null ? days : days.map((day) => ofStep(day, grouped))',
    'const shapes = grouped === null ? days : days.map((day) => ofStep(day, day.step ?? grouped))',
  ),
]

const PERIODS: readonly Mutant[] = [
  calendar(
    'all months have thirty days',
    "{ unit: 'month', count: 1, days: [28, 31] }",
    "{ unit: 'day', count: 30, days: [28, 31] }",
  ),
  grid(
    'the hour that clocks repeat begins two periods',
    'Math.max(0, (rows[i - 1] ?? rows[i]!).offset - rows[i]!.offset)',
    'Math.max(0, 0 * i)',
  ),
  grid(
    'a month or day with a clock change ends one step after its start',
    'if (grid.step <= HOUR) return at + grid.step',
    'if (grid.step > 0) return at + grid.step',
  ),
  grid(
    'an interval includes a period that begins before it',
    'if (at < from) at = begin(++n)',
    'if (at < from - step) at = begin(++n)',
  ),
  missing(
    'C6: periods are missing before the first value',
    'from: Math.max(stretch.from, first),',
    'from: Math.max(stretch.from, first - 86_400),',
  ),
  missing(
    'M3: a value off the periods fills one',
    'if (present[next] === at) return',
    'if (present[next]! < at + grid.step) return',
  ),
  missing(
    'M3: a value at the start and one at the end fill a window',
    'if (present[i]! - present[i - 1]! !== step) return false',
    'if (present[i]! < present[i - 1]!) return false',
  ),
  missing(
    'M4: a row without a value is absent, not null',
    "nulls[nextNull] === at ? 'null' :",
    "nulls[nextNull] === -at ? 'null' :",
  ),
  missing(
    'C3: a day with one value is missing',
    'if (next !== undefined && next < to) continue',
    'if (next !== undefined && next === from) continue',
  ),
  missing(
    'C3: a part of a day may be missing',
    "let from = ceilTo(zone, interval.from, 'day')",
    'let { from } = interval',
  ),
]

const DUTIES: readonly Mutant[] = [
  duties(
    'a period that left a moving window is no longer required',
    'remember({ ...described, geoIds, from, to:',
    'remember({ ...described, geoIds, from: range.from, to:',
  ),
  duties(
    'a geo that an edit removed stays required',
    'const both = a.filter((geoId) => b.includes(geoId))',
    'const both = [...a]',
  ),
  duties(
    'a longer lookback also applies to older data',
    '? [...earlierLookbacks, { before: now - lookbackS, lookbackS: former }]',
    '? [...earlierLookbacks]',
  ),
  duties(
    'a shorter lookback does not apply to older data',
    ': earlierLookbacks.filter((earlier) => earlier.lookbackS < lookbackS)',
    ': earlierLookbacks',
  ),
  duties(
    'the shortest lookback of several entries applies',
    'lookbackS: Math.max(...entries.map(({ lookbackS }) => lookbackS)),',
    'lookbackS: Math.min(...entries.map(({ lookbackS }) => lookbackS)),',
  ),
  duties(
    'an incomplete catalogue drops the duties that it lacks',
    'if (!options.keepsSelected) return decided',
    'if (!options.keepsSelected || stored.length >= 0) return decided',
  ),
  duties('a range of the user shortens duties', 'to: keepsEnds ? duty.to : to, sinceAt', 'to, sinceAt'),
  duties(
    'duties of an older version are dropped',
    "({ window, entryPath }) => window === '' && ranges",
    "({ window, entryPath }) => window === '?' && ranges",
  ),
  duties(
    'an edit of the job makes its duties new',
    'to: keepsEnds ? duty.to : to, sinceAt,',
    'to: keepsEnds ? duty.to : to, sinceAt: now,',
  ),
  turns(
    'the turn with the newest attempt comes first',
    '.toSorted((a, b) => a.lastAttempt - b.lastAttempt)',
    '.toSorted((a, b) => b.lastAttempt - a.lastAttempt)',
  ),
  turns(
    'a window with a failed attempt keeps its place in a turn',
    '.sort((a, b) => a.lastAttempt - b.lastAttempt || end(b) - end(a))',
    '.sort((a, b) => end(b) - end(a))',
  ),
  turns(
    'the oldest window of a turn comes first',
    '.sort((a, b) => a.lastAttempt - b.lastAttempt || end(b) - end(a))',
    '.sort((a, b) => a.lastAttempt - b.lastAttempt || end(a) - end(b))',
  ),
  turns(
    'the backlog of a series has the turn of its current data',
    "backlog ? 'backlog' : 'current'} $",
    "backlog ? 'current' : 'current'} $",
  ),
]

export const RULES: readonly Mutant[] = [...JUDGE, ...CADENCE, ...PERIODS, ...DUTIES]
