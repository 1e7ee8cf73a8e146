import { describe, expect, test } from 'vitest'
import { judge } from '../../src/judge/judge.ts'
import type { JudgeInput, Requirement, Span } from '../../src/judge/judgeTypes.ts'
import type { Coverage, Timeline } from '../../src/judge/stored.ts'
import { DAY, HOUR } from '../../src/util/time/instant.ts'
import {
  absence,
  at,
  covered,
  describeSpan,
  growing,
  joinComplete,
  judgeAt,
  requirement,
  store,
  timeline,
  toDay,
} from './cases.ts'

interface Case {
  readonly title: string
  readonly requirements?: readonly Requirement[]
  readonly stored?: Partial<JudgeInput>
  /** Day 40 by default, when all of the window is final. */
  readonly now?: number
  readonly spans: readonly string[]
}

const check = ({ requirements = [requirement()], stored = {}, now = 40, spans }: Omit<Case, 'title'>): void =>
  expect(joinComplete(judgeAt(requirements, store(stored), at(now))).map(describeSpan)).toEqual(spans)

const WHOLE = { coverage: [covered(0, 30, { fetchedAt: at(39) })] }

describe('requested ranges', () => {
  test.each<Case>([
    {
      title: 'a series without any reply is missing as a whole, for all geos',
      stored: { timelines: [] },
      spans: ['geo 0, 0–30: missing (never requested)'],
    },
    {
      title: 'a range without reply is missing for each known geo',
      stored: { timelines: [timeline(1, 0, 20), timeline(3, 0, 20)], coverage: [covered(0, 20)] },
      spans: [
        'geo 1, 0–18: complete',
        'geo 1, 18–20: provisional',
        'geo 1, 20–30: missing (never requested)',
        'geo 3, 0–18: complete',
        'geo 3, 18–20: provisional',
        'geo 3, 20–30: missing (never requested)',
      ],
    },
    {
      title: 'a geo that a job names is judged before it has values',
      requirements: [requirement({ geoIds: [3] })],
      stored: { timelines: [] },
      spans: ['geo 3, 0–30: missing (never requested)'],
    },
    {
      title: 'a job that names a geo does not require the others',
      requirements: [requirement({ geoIds: [3] })],
      stored: { timelines: [timeline(1, 0, 20), timeline(3, 0, 20)] },
      spans: ['geo 3, 0–30: missing (never requested)'],
    },
    {
      title: 'a failed request is missing at once, however new its range is',
      requirements: [growing()],
      stored: {
        coverage: [covered(0, 30, { fetchedAt: at(30) })],
        failures: [{ from: at(30), to: at(31), geoIds: null, failedAt: at(30.1), isUserRange: false }],
      },
      now: 30.2,
      spans: ['geo 1, 0–28: complete', 'geo 1, 28–30: provisional', 'geo 1, 30–31: missing (failed)'],
    },
    {
      title: 'a failed request explains the range without reply',
      stored: { failures: [{ from: at(5), to: at(10), geoIds: null, failedAt: at(31), isUserRange: false }] },
      spans: [
        'geo 1, 0–5: missing (never requested)',
        'geo 1, 5–10: missing (failed)',
        'geo 1, 10–30: missing (never requested)',
      ],
    },
    {
      title: 'a backfill that failed outside of all jobs is still missing',
      requirements: [],
      stored: { failures: [{ from: at(5), to: at(10), geoIds: [1], failedAt: at(31), isUserRange: true }] },
      spans: ['geo 1, 5–10: missing (failed)'],
    },
    {
      title: 'a failed request of a job is missing only as far as a job requires its range',
      requirements: [requirement({ from: at(8), to: at(10) })],
      stored: { failures: [{ from: at(5), to: at(12), geoIds: null, failedAt: at(31), isUserRange: false }] },
      spans: ['geo 1, 8–10: missing (failed)'],
    },
    {
      title: 'a stored range that no job requires is still judged',
      requirements: [],
      stored: WHOLE,
      spans: ['geo 1, 0–30: complete'],
    },
    {
      title: 'the row of a geo takes precedence over that of all geos',
      stored: { coverage: [...WHOLE.coverage, covered(4, 6, { geo: 1, state: 'unverified', sinceAt: at(9) })] },
      spans: ['geo 1, 0–4: complete', 'geo 1, 4–6: missing (unverified)', 'geo 1, 6–30: complete'],
    },
    {
      title: 'requests for each known geo do not cover geos that may exist beside them',
      stored: { coverage: [covered(0, 30, { geo: 1, fetchedAt: at(39) })] },
      spans: ['geo 0, 0–30: missing (never requested)', 'geo 1, 0–30: complete'],
    },
    {
      title: 'an unverified reply for all geos is listed if all known geos are verified by replies of their own',
      stored: {
        coverage: [
          covered(0, 30, { fetchedAt: at(38), state: 'unverified', sinceAt: at(38) }),
          covered(0, 20, { geo: 1, fetchedAt: at(39) }),
        ],
      },
      spans: ['geo 0, 0–20: missing (unverified)', 'geo 1, 0–20: complete', 'geo 1, 20–30: missing (unverified)'],
    },
    {
      title: 'a longer lookback does not apply to data that was older than it when the job changed',
      requirements: [requirement({ lookbackS: 20 * DAY, earlierLookbacks: [{ before: at(15), lookbackS: 2 * DAY }] })],
      stored: { coverage: [covered(0, 30)] },
      spans: ['geo 1, 0–15: complete', 'geo 1, 15–30: provisional'],
    },
    {
      title: 'a recent range is final for the shorter of two lookbacks, and provisional as a whole',
      requirements: [requirement(), requirement({ job: 'monthly', lookbackS: 20 * DAY })],
      stored: { coverage: [covered(0, 30)] },
      spans: ['geo 1, 0–10: complete', 'geo 1, 10–28: provisional', 'geo 1, 28–30: provisional'],
    },
    {
      title: 'the longest lookback of a job does not concern ranges that it does not require',
      requirements: [requirement({ to: at(15) }), requirement({ job: 'monthly', from: at(15), lookbackS: 20 * DAY })],
      stored: { coverage: [covered(0, 30)] },
      spans: ['geo 1, 0–15: complete', 'geo 1, 15–30: provisional'],
    },
  ])('$title', check)
})

describe('a window that grows with time', () => {
  const stored = { coverage: [covered(0, 30)] }

  test.each<Case>([
    {
      title: 'the newest day is expected until the job had its turn',
      now: 31.2,
      spans: ['geo 1, 0–28: complete', 'geo 1, 28–30: provisional', 'geo 1, 30–31.2: expected (never requested)'],
    },
    {
      title: 'after a month without a run the month is missing',
      now: 60,
      spans: ['geo 1, 0–28: complete', 'geo 1, 28–30: provisional', 'geo 1, 30–60: missing (never requested)'],
    },
  ])('$title', ({ now, spans }) => check({ requirements: [growing()], stored, now: now!, spans }))

  test('a window that ends two days ahead is missing two days earlier', () => {
    const requirements = [growing({ lagS: -2 * DAY })]
    const tail = (now: number) => judgeAt(requirements, store(stored), at(now)).at(-1)!
    expect(describeSpan(tail(29))).toBe('geo 1, 30–31: expected (never requested)')
    expect(describeSpan(tail(29.3))).toBe('geo 1, 30–31.3: missing (never requested)')
  })

  test('a failed request is missing at once', () => {
    const failures = [{ from: at(30), to: at(32), geoIds: null, failedAt: at(31), isUserRange: false }]
    check({
      requirements: [growing()],
      stored: { ...stored, failures },
      now: 32.5,
      spans: [
        'geo 1, 0–28: complete',
        'geo 1, 28–30: provisional',
        'geo 1, 30–32: missing (failed)',
        'geo 1, 32–32.5: expected (never requested)',
      ],
    })
  })

  test('the hours after the last reply of its day are expected until the job should have run, then missing', () => {
    // A window until the end of the day, fetched at seven.
    const seven = 30 + 7 / 24
    const ofToday = (over: Partial<JudgeInput>) => ({
      coverage: [covered(0, 31, { fetchedAt: at(seven), settledFor: at(seven) - at(31) })],
      timelines: [timeline(1, 0, 30)],
      ...over,
    })
    const sinceReply = (stored: Partial<JudgeInput>, now: number) =>
      judgeAt([growing()], store(stored), at(now))
        .filter(({ reason }) => reason !== null)
        .map(describeSpan)
    expect(sinceReply(ofToday({}), 30.5)).toEqual([
      'geo 1, 30.292–30.5: expected (never requested)',
      'geo 1, 30–30.292: expected (late)',
    ])
    expect(sinceReply(ofToday({}), seven + 1.3).at(0)).toBe('geo 1, 30.292–31.592: missing (never requested)')
    const ahead = ofToday({ timelines: [timeline(1, 0, 31)] })
    expect(sinceReply(ahead, 30.5), 'published ahead').toEqual([])
    const behind = ofToday({ timelines: [timeline(1, 0, 20)] })
    expect(sinceReply(behind, 30.5), 'late only as far as the service was asked').toEqual([
      'geo 1, 30.292–30.5: expected (never requested)',
      'geo 1, 20–30.292: missing (late)',
    ])
    const failed = (failedAt: number) =>
      ofToday({ failures: [{ from: at(29), to: at(31), geoIds: null, failedAt: at(failedAt), isUserRange: false }] })
    expect(sinceReply(failed(30.4), 30.5).at(0), 'a later request failed').toBe('geo 1, 30.292–30.5: missing (failed)')
    expect(sinceReply(failed(30.2), 30.5).at(0), 'one before the reply').toBe(
      'geo 1, 30.292–30.5: expected (never requested)',
    )
    const silent = ofToday({ timelines: [] })
    expect(sinceReply(silent, 32).at(0), 'no values yet').toBe('geo 0, 30.292–32: missing (never requested)')
  })

  test('the next request of the end is that of its first day', () => {
    const coverage = [covered(0, 25, { fetchedAt: at(27) }), covered(25, 30, { fetchedAt: at(30.5) })]
    const spans = judgeAt(
      [requirement()],
      store({ coverage, timelines: [timeline(1, 0, 15)], allowedLagS: DAY }),
      at(30.6),
    )
    const nextOf = (day: number) =>
      spans.find(({ from, to, reason }) => from <= at(day) && to > at(day) && !reason)!.nextAt!
    expect(spans.find(({ reason }) => reason === 'late')!.nextAt).toBe(nextOf(15))
    expect(nextOf(29)).toBeLessThan(nextOf(15))
  })

  test('the end of a growing window stays open for readers at a later time', () => {
    const ahead = judge([growing()], store(stored), at(31))
    expect(ahead.map(describeSpan).at(-1)).toBe('geo 1, 30–…: missing (never requested)')
    expect(toDay(ahead.at(-1)!.dueAt!)).toBe(31.25)
  })
})

describe('missing periods', () => {
  test.each<Case>([
    {
      title: 'a period without a value is missing if it is final',
      stored: { ...WHOLE, absences: [absence(3, 4), absence(5, 6, { reason: 'null' })] },
      spans: ['geo 1, 0–30: complete', 'geo 1, 3–4: missing (absent)', 'geo 1, 5–6: missing (null)'],
    },
    {
      title: 'a period of values without a geo is missing there, and for no other geo',
      stored: {
        ...WHOLE,
        timelines: [timeline(0, 0, 30), timeline(1, 0, 30)],
        absences: [absence(3, 4, { geo: 0 })],
      },
      spans: ['geo 0, 0–30: complete', 'geo 0, 3–4: missing (absent)', 'geo 1, 0–30: complete'],
    },
    {
      title: 'a period that may still be published is provisional',
      stored: { coverage: [covered(0, 30)], absences: [absence(27, 29)] },
      spans: [
        'geo 1, 0–28: complete',
        'geo 1, 28–30: provisional',
        'geo 1, 27–28: missing (absent)',
        'geo 1, 28–29: provisional (absent)',
      ],
    },
    {
      title: 'an unverified range says nothing about single periods',
      stored: {
        coverage: [covered(0, 30, { state: 'unverified', sinceAt: at(31), fetchedAt: at(39) })],
        absences: [absence(3, 4)],
      },
      spans: ['geo 1, 0–30: missing (unverified)'],
    },
    {
      title: 'before the first value nothing is missing',
      stored: { ...WHOLE, timelines: [timeline(1, 12, 30)] },
      spans: ['geo 1, 0–30: complete'],
    },
    {
      title: 'a few values of a day are tolerated if the series has short steps',
      stored: {
        ...WHOLE,
        absences: [absence(3, 3 + 5 / 1440, { step: 300 }), absence(4, 4.5, { step: 300 })],
      },
      spans: ['geo 1, 0–30: complete', 'geo 1, 3–3.003: missing (absent, tolerated)', 'geo 1, 4–4.5: missing (absent)'],
    },
    {
      title: 'an hour or a quarter-hour of a day is never tolerated',
      stored: { ...WHOLE, absences: [absence(3, 3 + 1 / 24), absence(4, 4 + 1 / 96, { step: 900 })] },
      spans: ['geo 1, 0–30: complete', 'geo 1, 3–3.042: missing (absent)', 'geo 1, 4–4.01: missing (absent)'],
    },
  ])('$title', check)

  test('the periods of a part are counted by their step', () => {
    const days = { ...WHOLE, absences: [absence(3, 4), absence(9, 12, { step: DAY, periods: 3 })] }
    const periods = judgeAt([requirement()], store(days), at(40)).flatMap(({ reason, periods }) =>
      reason ? periods : [],
    )
    expect(periods).toEqual([24, 3])
    const halves = { coverage: [covered(0, 30)], absences: [absence(27, 29)] }
    const split = judgeAt([requirement()], store(halves), at(40)).flatMap(({ reason, periods }) =>
      reason ? periods : [],
    )
    expect(split).toEqual([24, 24])
  })
})

describe('the end of a timeline', () => {
  const ended = { timelines: [timeline(1, 0, 20)], ...WHOLE, allowedLagS: 2 * DAY }

  test.each<Case>([
    {
      title: 'values are late after the usual lag, as one span',
      stored: ended,
      spans: ['geo 1, 0–30: complete', 'geo 1, 20–30: missing (late)'],
    },
    {
      title: 'values are expected before the usual lag is over',
      stored: { ...ended, coverage: [covered(0, 22, { fetchedAt: at(21.5) })] },
      requirements: [requirement({ to: at(22) })],
      now: 21.5,
      spans: ['geo 1, 0–19: complete', 'geo 1, 19–22: provisional', 'geo 1, 20–22: expected (late)'],
    },
    {
      title: 'without a usual lag they are late after a week',
      stored: { ...ended, allowedLagS: null, coverage: [covered(0, 26, { fetchedAt: at(26) })] },
      requirements: [requirement({ to: at(26) })],
      now: 26.9,
      spans: [
        'geo 1, 0–20: complete',
        'geo 1, 20–24: provisional',
        'geo 1, 24–26: provisional',
        'geo 1, 20–26: expected (late)',
      ],
    },
    {
      title: 'a timeline with a value every day ends, too',
      stored: { ...ended, timelines: [timeline(1, 0, 20, { kind: 'daily' })] },
      spans: ['geo 1, 0–30: complete', 'geo 1, 20–30: missing (late)'],
    },
    {
      title: 'nothing follows the last of irregular values',
      stored: { ...ended, timelines: [timeline(1, 0, 20, { kind: 'irregular' })] },
      spans: ['geo 1, 0–30: complete'],
    },
    {
      title: 'the end of a stored range that no job requires is not a finding',
      stored: ended,
      requirements: [],
      spans: ['geo 1, 0–30: complete'],
    },
    {
      title: 'a range that was not requested is not late',
      stored: { ...ended, coverage: [covered(0, 20, { fetchedAt: at(39) })] },
      spans: ['geo 1, 0–20: complete', 'geo 1, 20–30: missing (never requested)'],
    },
    {
      title: 'values are late as far as they were requested without a break',
      stored: { ...ended, coverage: [covered(0, 22, { fetchedAt: at(39) }), covered(25, 30, { fetchedAt: at(39) })] },
      spans: [
        'geo 1, 0–22: complete',
        'geo 1, 25–30: complete',
        'geo 1, 22–25: missing (never requested)',
        'geo 1, 20–22: missing (late)',
      ],
    },
    {
      title: 'one geo may end while others go on',
      stored: { ...ended, timelines: [timeline(1, 0, 20), timeline(3, 0, 30)] },
      spans: ['geo 1, 0–30: complete', 'geo 1, 20–30: missing (late)', 'geo 3, 0–30: complete'],
    },
    {
      title: 'a series without any value is one finding',
      stored: { timelines: [], coverage: [covered(0, 30, { state: 'empty', fetchedAt: at(39) })] },
      spans: ['geo 0, 0–30: complete', 'geo 0, 0–30: missing (no values)'],
    },
    {
      title: 'a series without any value that no job requires is not a finding',
      requirements: [],
      stored: { timelines: [], coverage: [covered(0, 30, { state: 'empty', fetchedAt: at(39) })] },
      spans: ['geo 0, 0–30: complete'],
    },
    {
      title: 'a geo that a job names and that never had a value is one finding',
      requirements: [requirement({ geoIds: [1, 8] })],
      stored: WHOLE,
      spans: ['geo 1, 0–30: complete', 'geo 8, 0–30: complete', 'geo 8, 0–30: missing (no values)'],
    },
    {
      title: 'a geo with nothing but nulls never had a value',
      stored: { ...WHOLE, timelines: [timeline(1, 0, 30), timeline(3, 0, 0, { extent: null, kind: 'irregular' })] },
      spans: ['geo 1, 0–30: complete', 'geo 3, 0–30: complete', 'geo 3, 0–30: missing (no values)'],
    },
    {
      title: 'a range that was requested before the window of the job had no values either',
      requirements: [requirement({ from: at(28) })],
      stored: { timelines: [], coverage: [covered(0, 30, { state: 'empty', fetchedAt: at(30) })] },
      now: 30,
      spans: ['geo 0, 0–28: complete', 'geo 0, 28–30: provisional', 'geo 0, 0–28: missing (no values)'],
    },
    {
      title: 'a range that may still be published does not show that there are no values',
      stored: { timelines: [], coverage: [covered(28, 30, { state: 'empty' })] },
      requirements: [requirement({ from: at(28) })],
      spans: ['geo 0, 28–30: provisional'],
    },
    {
      title: 'nothing is said about the ends of a timeline that is not judged yet',
      stored: { ...WHOLE, timelines: [timeline(1, 0, 0, { extent: null, kind: null })] },
      spans: ['geo 1, 0–30: complete'],
    },
  ])('$title', check)
})

describe('accepted ranges', () => {
  test.each<Case>([
    {
      title: 'a missing range keeps its state, and only the accepted part is marked',
      stored: { ...WHOLE, absences: [absence(3, 6)], accepted: [{ geoId: 1, from: at(4), to: at(5) }] },
      spans: [
        'geo 1, 0–30: complete',
        'geo 1, 3–4: missing (absent)',
        'geo 1, 4–5: missing (absent, accepted)',
        'geo 1, 5–6: missing (absent)',
      ],
    },
    {
      title: 'a range without an end closes an ended timeline',
      stored: {
        ...WHOLE,
        timelines: [timeline(1, 0, 20)],
        absences: [absence(3, 4)],
        accepted: [{ geoId: 1, from: at(20), to: null }],
      },
      spans: ['geo 1, 0–30: complete', 'geo 1, 3–4: missing (absent)', 'geo 1, 20–30: missing (late, accepted)'],
    },
    {
      title: 'an accepted end is a hole after the timeline goes on, and a later end is not accepted',
      stored: {
        ...WHOLE,
        timelines: [timeline(1, 0, 20)],
        absences: [absence(3, 4), absence(10, 11), absence(11, 12.5), absence(14, 15)],
        accepted: [{ geoId: 1, from: at(10), to: null }],
      },
      spans: [
        'geo 1, 0–30: complete',
        'geo 1, 3–4: missing (absent)',
        'geo 1, 10–11: missing (absent, accepted)',
        'geo 1, 11–12.5: missing (absent, accepted)',
        'geo 1, 14–15: missing (absent)',
        'geo 1, 20–30: missing (late)',
      ],
    },
    {
      title: 'another geo is not accepted',
      stored: { ...WHOLE, absences: [absence(3, 4)], accepted: [{ geoId: 3, from: at(0), to: at(30) }] },
      spans: ['geo 1, 0–30: complete', 'geo 1, 3–4: missing (absent)'],
    },
  ])('$title', check)
})

describe('the next request', () => {
  const nextOf = (
    reason: Span['reason'],
    stored: Partial<JudgeInput>,
    {
      requirements = [requirement()],
      now = 40,
    }: { readonly requirements?: readonly Requirement[]; readonly now?: number } = {},
  ) => {
    const span = judgeAt(requirements, store(stored), at(now)).find((span) => span.reason === reason)!
    if (span.nextAt === null) return null
    return toDay(span.nextAt + (reason === 'absent' || reason === 'unverified' ? HOUR : 0))
  }

  test('a range that was never requested is due since a job required it', () => {
    expect(nextOf('never requested', {}, { requirements: [requirement({ sinceAt: at(31) })] })).toBe(31)
    const grown = { requirements: [growing({ sinceAt: at(3) })] }
    expect(nextOf('never requested', { coverage: [covered(0, 30)] }, grown)).toBe(30)
  })

  test('an unknown id is requested at doubling distances', () => {
    const unknown = { sinceAt: at(30), lastAt: at(34) }
    expect(nextOf('never requested', { unknown, timelines: [] })).toBe(toDay(at(39) - HOUR))
  })

  test('provisional data is requested after the shortest refresh of the entries for which it is not final', () => {
    const requirements = [
      requirement({ refreshS: 6 * HOUR }),
      requirement({ lookbackS: 20 * DAY, refreshS: 3 * HOUR, job: 'other' }),
    ]
    const spans = judgeAt(requirements, store({ coverage: [covered(0, 30)] }), at(40))
    expect(spans.map(({ nextAt }) => nextAt && (nextAt - at(30.5)) / HOUR)).toEqual([null, 3, 3])
    const [longer] = requirements.toReversed()
    const [, , recent] = judgeAt(
      [requirements[0]!, { ...longer!, refreshS: 9 * HOUR }],
      store({ coverage: [covered(0, 30)] }),
      at(40),
    )
    expect((recent!.nextAt! - at(30.5)) / HOUR).toBe(6)
  })

  test('an unverified range is requested at doubling distances, and not within the refresh', () => {
    const coverage = [covered(0, 30, { state: 'unverified', sinceAt: at(33), fetchedAt: at(36) })]
    expect(nextOf('unverified', { coverage })).toBe(40)
    expect(nextOf('unverified', { coverage }, { requirements: [requirement({ refreshS: 9 * DAY })] })).toBe(
      toDay(at(45) + HOUR),
    )
    expect(nextOf('unverified', { coverage }, { requirements: [] })).toBe(null)
  })

  /** The complete spans with their next requests, in days; whole days are an hour early. */
  const repeats = (stored: Partial<JudgeInput>, now = 40, requirements = [requirement()]): (number | null)[][] =>
    judgeAt(requirements, store(stored), at(now))
      .filter(({ state }) => state === 'complete')
      .map(({ from, to, nextAt }) => [toDay(from), toDay(to), nextAt === null ? null : toDay(nextAt + HOUR)])

  test('the day of the last value and those after it are requested in rounds since a value was expected', () => {
    const ended = (fetched: number, kind: Timeline['kind'] = 'regular') => ({
      coverage: [covered(0, 30, { fetchedAt: at(fetched) + HOUR })],
      timelines: [timeline(1, 0, 20.5, { kind })],
    })
    expect(repeats(ended(36))).toEqual([
      [0, 20, null],
      [20, 30, toDay(at(20.5 + 16) + HOUR)],
    ])
    expect(repeats(ended(39), 60).at(-1)).toEqual([20, 30, toDay(at(20.5 + 32) + HOUR)])
    expect(repeats(ended(36, 'irregular'))).toHaveLength(2)
    expect(
      repeats({ coverage: [covered(0, 21, { fetchedAt: at(36) + HOUR })], timelines: [timeline(1, 0, 20.5)] }),
    ).toEqual([
      [0, 20, null],
      [20, 21, toDay(at(20.5 + 16) + HOUR)],
    ])
    expect(repeats({ coverage: [covered(0, 21, { fetchedAt: at(36) })], timelines: [timeline(1, 0, 21)] })).toEqual([
      [0, 21, null],
    ])
    expect(repeats(ended(36, null))).toEqual([[0, 30, null]])
    expect(repeats(ended(900), 1000).at(-1)).toEqual([20, 30, toDay(at(20.5 + 256 + 4 * 182) + HOUR)])
    expect(repeats(ended(36), 40, [])).toEqual([[0, 30, null]])
    expect(repeats(ended(50), 40).at(-1)).toEqual([20, 30, toDay(at(40) + HOUR)])
  })

  test('a geo without any value is requested in rounds since it was required', () => {
    const nulls = timeline(1, 0, 0, { extent: null, kind: 'irregular' })
    const coverage = [covered(0, 30, { fetchedAt: at(36) })]
    expect(repeats({ timelines: [nulls], coverage })).toEqual([[0, 30, 64]])
    expect(repeats({ timelines: [nulls], coverage }, 40, [requirement({ sinceAt: at(34) })])).toEqual([[0, 30, 38]])
    const empty = [covered(0, 30, { state: 'empty', fetchedAt: at(36) })]
    expect(repeats({ timelines: [], coverage: empty })).toEqual([[0, 30, 64]])
  })

  test('while a source is up to two weeks behind, its last day and all after it may still be published', () => {
    /** A job until two days ahead; the stored days before the last reply may be merged with older ones. */
    const behind = (fetched: number, last: number, over: Partial<Timeline> = {}, tail = 2) =>
      joinComplete(
        judgeAt(
          [requirement({ to: at(fetched + tail), refreshS: 6 * HOUR })],
          store({
            coverage: [
              covered(0, fetched - 3, { fetchedAt: at(3), settledFor: 2 * DAY }),
              ...(tail > 0 ? [covered(fetched - 3, fetched + tail, { fetchedAt: at(fetched) })] : []),
            ],
            timelines: [timeline(1, 0, last, over)],
          }),
          at(fetched),
        ),
      )
        .filter(({ reply, state }) => reply !== null && state === 'provisional')
        .map(({ from, to, nextAt }) => [toDay(from), toDay(to), nextAt && toDay(nextAt)])
    const awaited = [
      [39, 42, 45.25],
      [42, 43, 45.25],
      [43, 47, 45.25],
    ]
    expect(behind(45, 39.3)).toEqual(awaited)
    expect(behind(45, 39.3, { kind: 'irregular' })).toEqual(awaited)
    expect(behind(45, 45), 'nothing is behind').toEqual([[43, 47, 45.25]])
    expect(behind(53, 39.3)).toHaveLength(3)
    expect(behind(54, 39.3), 'more than two weeks').toHaveLength(1)
    expect(behind(45, 39.3, {}, 0), 'a window that has ended').toEqual([])
  })

  test('a day that was requested since is not requested again at once, although a later range of another job was not', () => {
    const coverage = [
      covered(0, 29, { fetchedAt: at(31) }),
      covered(29, 30, { fetchedAt: at(36), settledFor: 6 * DAY }),
      covered(30, 34, { fetchedAt: at(33), settledFor: -DAY }),
    ]
    const stored = store({ coverage, timelines: [timeline(1, 0, 29.3)] })
    const [awaited] = judgeAt([requirement({ refreshS: 6 * HOUR })], stored, at(36)).filter(
      ({ from }) => from === at(29),
    )
    expect([awaited!.state, toDay(awaited!.nextAt!)]).toEqual(['provisional', 36.25])
  })

  test('a merged row has the time of its oldest reply, but its newer days were requested later', () => {
    // A nightly run fetched each day three days after its end, and the rows were merged.
    const merged = covered(0, 40, { fetchedAt: at(3), settledFor: 2 * DAY })
    const stored = { timelines: [timeline(1, 0, 20)], coverage: [merged] }
    // Rounds are 1, 2, 4, 8, 16 and 32 days after day 20. Day 25 was last requested on day 27, so the round of day 28 is its next one.
    expect(repeats(stored, 60, [requirement({ to: at(40) })])).toEqual([
      [0, 20, null],
      [20, 22, toDay(at(24) + HOUR)],
      [22, 26, toDay(at(28) + HOUR)],
      [26, 34, toDay(at(36) + HOUR)],
      [34, 40, toDay(at(52) + HOUR)],
    ])
  })

  test('each job has rounds of its own, and the next of any counts', () => {
    const coverage = [covered(0, 30, { state: 'empty', fetchedAt: at(100) })]
    const requirements = [
      requirement(),
      requirement({ job: 'other', sinceAt: at(99) }),
      requirement({ to: at(0), sinceAt: at(100) }),
    ]
    expect(repeats({ timelines: [], coverage }, 100, requirements)).toEqual([[0, 30, 101]])
    expect(repeats({ timelines: [], coverage }, 100)).toEqual([[0, 30, 128]])
  })

  test('a geo that a job names is requested again although other geos have values', () => {
    const requirements = [requirement(), requirement({ geoIds: [7], job: 'other' })]
    const stored = store({ coverage: [covered(0, 30, { fetchedAt: at(40) })] })
    const spans = judgeAt(requirements, stored, at(40)).filter(({ geoId, reason }) => geoId === 7 && reason === null)
    expect(spans.map(({ nextAt }) => nextAt && toDay(nextAt + HOUR))).toEqual([64])
  })

  test('a missing period that only partly lies in a job is requested only there', () => {
    const stored = store({ coverage: WHOLE.coverage, absences: [absence(5, 9)] })
    const spans = judgeAt([requirement({ from: at(7) })], stored, at(40)).filter(({ reason }) => reason === 'absent')
    expect(spans.map(({ from, to, job, nextAt }) => [toDay(from), toDay(to), job, nextAt !== null])).toEqual([
      [5, 7, null, false],
      [7, 9, 'nightly', true],
    ])
  })

  test('missing periods over midnight count on both days', () => {
    const short = { step: 300, periods: 1 }
    const stored = {
      ...WHOLE,
      absences: [absence(3.9, 4.5, short), absence(4.75, 4.75 + 300 / 86_400, short), absence(6, 6 + 1 / 288, short)],
    }
    const marked = judgeAt([requirement()], store(stored), at(40)).filter(({ reason }) => reason === 'absent')
    expect(marked.map(({ isTolerated }) => isTolerated)).toEqual([false, false, true])
  })

  test('an empty range before the first value is requested again, and one after it is not', () => {
    const coverage = [
      covered(0, 10, { state: 'empty', fetchedAt: at(36) }),
      covered(10, 20, { fetchedAt: at(36) }),
      covered(20, 25, { state: 'empty', fetchedAt: at(36) }),
      covered(25, 30, { fetchedAt: at(36) }),
    ]
    const stored = { timelines: [timeline(1, 10, 30)], coverage }
    expect(repeats(stored, 40, [requirement({ sinceAt: at(32) })]).map(([, , next]) => next)).toEqual([
      40,
      null,
      null,
      null,
    ])
  })

  test('days before the first value of a geo are requested again, in rounds since that value', () => {
    const stored = {
      timelines: [timeline(1, 0, 30), timeline(2, 20, 30)],
      coverage: [covered(0, 30, { fetchedAt: at(36) })],
    }
    expect(repeats(stored)).toEqual([
      [0, 30, null],
      [0, 20, toDay(at(20 + 32) + HOUR)],
      [20, 30, null],
    ])
    // The rest of the day of the first value, too.
    const [, ofSecond, after] = repeats({ ...stored, timelines: [timeline(1, 0, 30), timeline(2, 19.4, 30)] })
    expect([ofSecond!.slice(0, 2), after]).toEqual([
      [0, 20],
      [20, 30, null],
    ])
  })

  test('a missing period is requested at doubling distances for half a year', () => {
    const missing = (checked: number) => ({
      coverage: [covered(0, 30, { fetchedAt: at(390) })],
      absences: [absence(3, 4, { sinceAt: at(10), checkedAt: at(checked) })],
    })
    const now = 400
    expect(nextOf('absent', missing(13), { now })).toBe(17)
    expect(nextOf('absent', missing(190), { now })).toBe(371)
    expect(nextOf('absent', missing(200), { now })).toBe(null)
    expect(nextOf('absent', missing(13), { now, requirements: [] })).toBe(null)
  })

  test('a missing period waits for the next request of a later unverified reply for all geos', () => {
    const own = covered(0, 30, { geo: 1, fetchedAt: at(34) })
    const ofAll = covered(3, 4, { state: 'unverified', fetchedAt: at(40), sinceAt: at(38), settledFor: 36 * DAY })
    const absences = [absence(3, 3.5, { sinceAt: at(34), checkedAt: at(34) })]
    const nextOf = (coverage: Coverage[]) =>
      judgeAt([requirement()], store({ coverage, absences }), at(40.1)).find(({ reason }) => reason === 'absent')!
        .nextAt!
    expect(toDay(nextOf([own]) + HOUR)).toBe(35)
    expect(toDay(nextOf([own, ofAll]) + HOUR)).toBe(43)
  })

  test('a missing period that a clock ahead of time checked is due now', () => {
    expect(nextOf('absent', { ...WHOLE, absences: [absence(3, 4, { sinceAt: at(10), checkedAt: at(50) })] })).toBe(40)
  })

  test('a tolerated period is requested after one and seven days only', () => {
    const missing = (checked: number) => ({
      ...WHOLE,
      absences: [absence(3, 3 + 5 / 1440, { step: 300, sinceAt: at(10), checkedAt: at(checked) })],
    })
    expect(nextOf('absent', missing(10))).toBe(11)
    expect(nextOf('absent', missing(11))).toBe(17)
    expect(nextOf('absent', missing(17))).toBe(null)
  })

  test('an empty range before the first value is requested in rounds since a job first required it', () => {
    const coverage = [covered(0, 12, { state: 'empty', fetchedAt: at(34) }), covered(12, 30, { fetchedAt: at(34) })]
    const spans = judgeAt(
      [requirement({ sinceAt: at(30) })],
      store({ coverage, timelines: [timeline(1, 12, 30)] }),
      at(40),
    )
    expect(spans.map(describeSpan)).toEqual(['geo 1, 0–12: complete', 'geo 1, 12–30: complete'])
    expect(spans.map(({ nextAt }) => nextAt && toDay(nextAt + HOUR))).toEqual([38, null])
  })

  test('an empty range between values is not requested again', () => {
    const coverage = [covered(0, 12), covered(12, 15, { state: 'empty' }), covered(15, 30, { fetchedAt: at(34) })]
    const stored = store({ coverage: coverage.map((row) => ({ ...row, fetchedAt: at(34) })) })
    expect(judgeAt([requirement()], stored, at(40)).map(({ nextAt }) => nextAt)).toEqual([null, null, null])
  })
})
