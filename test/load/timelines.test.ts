import { describe, expect, test } from 'vitest'
import { startOfDate } from '../../src/util/time/zone.ts'
import type { Store } from '../support/testStore.ts'
import { oracleDays } from './dayOracle.ts'
import { loadReplies, type Sent, type SentValue, storeWithSeries } from './loads.ts'

/* Changes by a reply in the timelines of its series: ends, steps and missing periods, by real loads. */

const ZONE = 'Europe/Madrid'
const HOUR = 3600
const DAY = 86_400
const BEGIN = startOfDate(ZONE, '2025-06-02')!
const at = (day: number, hour = 0): number => BEGIN + day * DAY + hour * HOUR
const NOW = at(60)

/** The values of some days. */
const values = (
  from: number,
  to: number,
  step = HOUR,
  change: (at: number) => Partial<SentValue> | null = () => ({}),
): SentValue[] =>
  Array.from({ length: ((to - from) * DAY) / step }, (_, i) => at(from) + i * step).flatMap((instant) => {
    const more = change(instant)
    return more ? [{ geo: 3, at: instant, ...more }] : []
  })
const sent = (from: number, to: number, more: Partial<Sent> = {}): Sent => ({
  window: { from: at(from), to: at(to) },
  values: values(from, to, more.step),
  fetchedAt: NOW,
  ...more,
})
async function loaded(...replies: Sent[]): Promise<Store> {
  const store = await storeWithSeries(ZONE)
  await loadReplies(store, ZONE, replies)
  expect(store.all('select * from _day order by series_id, geo_id, month, day')).toEqual(oracleDays(store, ZONE))
  return store
}
const missing = (store: Store) => store.all('select from_at, missing, reason from _absent order by from_at')
const timeline = (store: Store) => store.all('select first_at, last_at, step_s, kind from series_geo')

describe('missing periods', () => {
  test('a period with null is missing, and one with a stray value beside it, too', async () => {
    const spoiled = values(0, 8, HOUR, (instant) => {
      if (instant === at(3, 5)) return { value: null }
      return instant === at(4, 7) ? { at: instant + 420 } : {}
    })
    expect(missing(await loaded(sent(0, 8, { values: spoiled })))).toEqual([
      { from_at: at(3, 5), missing: 1, reason: 'null' },
      { from_at: at(4, 7), missing: 1, reason: 'absent' },
    ])
  })

  test('a value of one instant ends a missing period, and a null does not', async () => {
    const lost = values(0, 8, HOUR, (instant) => (instant === at(3, 5) ? null : {}))
    const instant = (value: number | null): Sent => ({
      window: null,
      values: [{ geo: 3, at: at(3, 5), value }],
      fetchedAt: NOW + DAY,
    })
    expect(missing(await loaded(sent(0, 8, { values: lost }), instant(null)))).toEqual([
      { from_at: at(3, 5), missing: 1, reason: 'null' },
    ])
    expect(missing(await loaded(sent(0, 8, { values: lost }), instant(7)))).toEqual([])
  })

  test('values of a reply that is not trusted fill missing periods, and their lack shows none', async () => {
    const lost = values(0, 12, HOUR, (instant) => (instant >= at(3, 5) && instant < at(3, 9) ? null : {}))
    const partly = values(3, 4, HOUR, (instant) => (instant === at(3, 7) || instant < at(3, 3) ? {} : null))
    const later = sent(3, 4, { values: partly, hasReject: true, fetchedAt: NOW + 60 })
    expect(missing(await loaded(sent(0, 12, { values: lost }), later))).toEqual([
      { from_at: at(3, 5), missing: 2, reason: 'absent' },
      { from_at: at(3, 8), missing: 1, reason: 'absent' },
    ])
  })

  test('final values before the begin that a restate withdraws are missing', async () => {
    const shorter = values(0, 12, HOUR, (instant) => (instant < at(2, 6) ? null : {}))
    const cut = sent(0, 12, { values: shorter, fetchedAt: NOW + 60, reason: 'restate' })
    expect(missing(await loaded(sent(0, 12), cut))).toEqual([{ from_at: at(0), missing: 54, reason: 'withdrawn' }])
    const provisional = sent(0, 12, { settledBefore: at(0) })
    expect(missing(await loaded(provisional, { ...cut, settledBefore: at(0) })), 'values that were not final').toEqual(
      [],
    )
  })

  test('a day thinned to every second period misses the others, whatever its own step', async () => {
    const quarters = sent(0, 8, { step: 900 })
    const store = await loaded(quarters, sent(8, 9, { step: 1800 }), sent(9, 10, { step: 900 }))
    expect(store.get('select sum(missing) from _absent')).toBe(48)
    expect(store.get('select hours from _day where day = 10')).toBe(12)
  })

  test('a day without values is missing in a timeline with a value every day', async () => {
    const noon = values(0, 30, HOUR, (instant) =>
      (instant - BEGIN) % DAY === 12 * HOUR && instant < at(29) ? {} : null,
    )
    const sparse = values(0, 89, HOUR, (instant) => ([9, 12].includes(((instant - BEGIN) % DAY) / HOUR) ? {} : null))
    expect(timeline(await loaded(sent(0, 30, { values: noon }))), 'a value at noon is one a day').toMatchObject([
      { kind: 'regular' },
    ])
    const irregular = sparse.map((row, i) => ({ ...row, at: row.at + (i % 7) * 660 }))
    const store = await loaded(
      sent(0, 89, { values: irregular }),
      sent(89, 90, { values: [] }),
      sent(90, 91, { values: values(90, 91, 5 * HOUR) }),
    )
    expect(timeline(store)).toMatchObject([{ kind: 'daily' }])
    expect(store.all('select from_at, to_at, step_s, missing from _absent')).toEqual([
      { from_at: at(89), to_at: at(90), step_s: null, missing: null },
    ])
  })
})

describe('steps', () => {
  test('stored values get the step of the cadence without a revision when it becomes known', async () => {
    const store = await loaded(sent(0, 3, { step: 900, values: values(0, 3) }), sent(3, 8))
    expect(store.all('select distinct step_s from observation')).toEqual([{ step_s: HOUR }])
    expect(store.all('select distinct hours from _day')).toEqual([{ hours: 24 }])
    expect(store.get('select count(*) from observation_revision')).toBe(0)
  })

  test('a coarser step is decided after fourteen days, and changes stored values without a revision', async () => {
    const replies = [sent(0, 14, { step: 900 }), ...Array.from({ length: 14 }, (_, i) => sent(14 + i, 15 + i))]
    const before = await loaded(...replies.slice(0, 14))
    expect(before.get('select count(*) from _cadence')).toBe(1)
    expect(before.get('select sum(missing) from _absent')).toBe(13 * 72 - 3)
    const after = await loaded(...replies)
    expect(after.all('select from_at, step_s from _cadence where from_at > 0')).toEqual([
      { from_at: at(14), step_s: HOUR },
    ])
    expect(missing(after)).toEqual([])
    expect(after.all('select distinct step_s from observation where at >= ?', [at(14)])).toEqual([{ step_s: HOUR }])
    expect(after.get('select count(*) from observation_revision')).toBe(0)
  })

  test('a guessed step does not replace the one that was stated', async () => {
    const store = await loaded(
      sent(0, 2, { step: 900 }),
      sent(0, 2, { step: 900, values: values(0, 2, 900), isGuessed: true }),
    )
    expect(store.all('select distinct step_s from observation')).toEqual([{ step_s: 900 }])
  })
})

describe('the ends of a timeline', () => {
  test('the ends of a timeline follow loads, withdrawals and nulls', async () => {
    const whole = sent(0, 9)
    const row = { step_s: HOUR, kind: 'regular' }
    expect(timeline(await loaded(whole))).toEqual([{ first_at: at(0), last_at: at(9) - HOUR, ...row }])
    const shorter = values(0, 9, HOUR, (one) => {
      if (one === at(0)) return { value: null }
      return one > at(8, 21) ? null : {}
    })
    const cut = await loaded(whole, sent(0, 9, { values: shorter, fetchedAt: NOW + 60 }))
    expect(timeline(cut), 'a final first value stays the begin').toEqual([
      { first_at: at(0), last_at: at(8, 21), ...row },
    ])
    expect(missing(cut), 'nothing is missing after the end').toEqual([{ from_at: at(0), missing: 1, reason: 'null' }])
    const grown = await loaded(
      whole,
      sent(0, 9, { values: shorter, fetchedAt: NOW + 60 }),
      sent(9, 10, { fetchedAt: NOW + 120 }),
    )
    expect(missing(grown)).toMatchObject([{ from_at: at(0) }, { from_at: at(8, 22), missing: 2 }])
  })

  test('a timeline with nothing but null has no ends', async () => {
    expect(timeline(await loaded(sent(0, 1, { values: [{ geo: 3, at: at(0), value: null }] })))).toEqual([
      { first_at: null, last_at: null, step_s: null, kind: 'irregular' },
    ])
  })
})
