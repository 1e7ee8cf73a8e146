/* Courses of events that random steps would rarely produce. */
import fc from 'fast-check'
import { DAY, HOUR } from './calendar.ts'
import type { Entry, FAULTS, Kind, Step } from './world.ts'

/** Picks one of several values. */
export const of = <T>(...values: readonly T[]) => fc.constantFrom(...values)

const which = of<0 | 1>(0, 1)
const whole = { from: 0, days: 13, newestFirst: false }

/** Courses of any job. */
export const course: fc.Arbitrary<readonly Step[]> = fc.oneof(
  // Stored data gets an invalid reply, then a valid one.
  fc
    .record({
      job: which,
      fault: of<keyof typeof FAULTS>(
        ...(['no values', 'no values', 'an unreadable row', 'one geo missing', 'another indicator'] as const),
      ),
      every: of(1, 1, 1, 2),
      seconds: of(2 * HOUR, 2 * DAY, 3 * DAY, 3 * DAY),
    })
    .map(({ job, fault, every, seconds }): Step[] => [
      { do: 'sync', job },
      { do: 'fail', fault, every },
      { do: 'restate', job, ...whole },
      { do: 'wait', seconds },
      { do: 'sync', job },
    ]),
  // Unreadable rows are dismissed and appear again.
  fc
    .record({ job: which, seconds: of(2 * HOUR, DAY, 3 * DAY), every: of(1, 2), again: fc.boolean() })
    .map(({ job, seconds, every, again }): Step[] => [
      { do: 'fail', fault: 'an unreadable row', every },
      { do: 'sync', job },
      { do: 'dismiss' },
      { do: 'wait', seconds },
      ...(again ? [{ do: 'fail' as const, fault: 'an unreadable row' as const, every }] : []),
      { do: 'restate', job, ...whole },
      { do: 'replay' },
      { do: 'sync', job },
    ]),
  // Absent data is requested again when it is due.
  fc
    .record({ job: which, from: fc.integer({ min: 3, max: 8 }), wait: of(0, 4 * DAY), last: of(DAY, 2 * DAY) })
    .map(({ job, from, wait, last }): Step[] => [
      { do: 'hole', kind: 'hourly', from, days: job, geo: null, seconds: 0 },
      { do: 'wait', seconds: wait },
      { do: 'sync', job },
      ...[30 * HOUR, DAY, last].flatMap((seconds): Step[] => [
        { do: 'wait', seconds },
        { do: 'sync', job },
      ]),
    ]),
  // Jobs with different lookbacks run in turn.
  fc
    .record({ job: which, first: of(2 * HOUR, DAY, 2 * DAY), second: of(2 * HOUR, DAY, 3 * DAY) })
    .map(({ job, first, second }): Step[] => [
      { do: 'sync', job },
      { do: 'wait', seconds: first },
      { do: 'both' },
      { do: 'wait', seconds: second },
      { do: 'sync', job: job === 0 ? 1 : 0 },
    ]),
)

/** A series that two jobs select, and the geos of each by index; null for all. */
export interface Twins {
  readonly kind: Kind
  readonly geos: readonly [Entry['geo'], Entry['geo']]
}
export const twins: fc.Arbitrary<Twins> = fc.record({
  kind: of<Kind>('hourly', 'hourly', 'changing', 'changing', 'daily'),
  geos: of<Twins['geos']>([null, [0]], [null, [0, 1]], [null, [0, 1, 2]], [[0], [0, 1]], [[1], [0, 1, 2]]),
})

/** Courses in which a reply for one job affects the other. */
export const between = ({ kind, geos }: Twins): fc.Arbitrary<readonly Step[]> =>
  geos[0] === null
    ? fc.oneof(
        // Data absent for one geo becomes absent for all.
        fc.record({ from: fc.integer({ min: 3, max: 5 }), last: of(DAY, 2 * DAY) }).map(({ from, last }): Step[] => [
          { do: 'late', kind, from, days: 1, geo: null, seconds: 90 * DAY },
          ...[
            { do: 'sync' as const, job: 1 as const },
            { do: 'wait' as const, seconds: 4 * DAY },
          ],
          ...[
            { do: 'sync' as const, job: 0 as const },
            { do: 'wait' as const, seconds: last },
          ],
          { do: 'sync', job: 0 },
        ]),
        // A geo is missing among others before its first value.
        fc.record({ seconds: of(DAY, 2 * DAY) }).map(({ seconds }): Step[] => [
          { do: 'sync', job: 0 },
          { do: 'fail', fault: 'one geo missing', every: 1 },
          { do: 'backfill', job: 0, from: -4, days: 2, newestFirst: false },
          { do: 'wait', seconds },
          { do: 'sync', job: 0 },
        ]),
        // Scattered absent data is one window that is too large for the service.
        fc
          .record({ from: fc.integer({ min: 3, max: 4 }), wait: of(3 * DAY, 5 * DAY) })
          .map(({ from, wait }): Step[] => [
            ...[from, from + 5].map(
              (day): Step => ({ do: 'withdraw', kind, from: day, days: 1, geo: null, seconds: 0 }),
            ),
            { do: 'wait', seconds: wait },
            { do: 'sync', job: 0 },
            { do: 'limit', geoDays: 5 },
            ...[DAY, DAY, DAY].flatMap((seconds): Step[] => [
              { do: 'wait', seconds },
              { do: 'sync', job: 0 },
            ]),
          ]),
        // A stored geo is missing among others.
        fc.record({ seconds: of(2 * HOUR, 2 * DAY) }).map(({ seconds }): Step[] => [
          { do: 'sync', job: 0 },
          { do: 'fail', fault: 'one geo missing', every: 1 },
          { do: 'restate', job: 0, ...whole },
          { do: 'wait', seconds },
          { do: 'sync', job: 0 },
        ]),
        // A geo that is missing among others appears in a reply for it alone.
        fc
          .record({ seconds: of(2 * HOUR, 2 * DAY), first: of(...([0, 1] as const)) })
          .map(({ seconds, first }): Step[] => [
            { do: 'sync', job: 0 },
            { do: 'fail', fault: 'one geo missing', every: 1 },
            { do: 'restate', job: 0, ...whole },
            { do: 'wait', seconds },
            { do: 'restate', job: 1, ...whole },
            { do: 'sync', job: first },
          ]),
        // Several days are empty for all geos, and absent later.
        fc
          .record({ from: fc.integer({ min: 3, max: 5 }), days: of(1, 3), wait: of(4 * DAY, 6 * DAY) })
          .map(({ from, days, wait }): Step[] => [
            { do: 'withdraw', kind, from, days, geo: null, seconds: 0 },
            { do: 'wait', seconds: wait },
            { do: 'sync', job: 0 },
            { do: 'wait', seconds: DAY },
            { do: 'both' },
          ]),
        // All geos are unverified, and each is fetched correctly on its own.
        fc
          .record({ fault: of('no values' as const, 'an unreadable row' as const), seconds: of(2 * HOUR, 2 * DAY) })
          .map(({ fault, seconds }): Step[] => [
            { do: 'sync', job: 0 },
            { do: 'fail', fault, every: 1 },
            { do: 'restate', job: 0, ...whole },
            { do: 'wait', seconds },
            { do: 'restate', job: 1, ...whole },
            { do: 'sync', job: 0 },
          ]),
      )
    : // A request that failed for some geos succeeds for one of them.
      of('server error' as const, 'connection dropped' as const).map((fault): Step[] => [
        { do: 'fail', fault, every: 1 },
        ...[
          { do: 'sync' as const, job: 1 as const },
          { do: 'sync' as const, job: 0 as const },
        ],
        { do: 'retry' },
      ])
