import { describe, expect, test } from 'vitest'
import { readSeriesGaps } from '../../src/findings/readers/missing.ts'
import { ms, tempStore } from '../kit.ts'
import { source } from '../source.ts'

const DAY = 86_400_000
const NIGHT = ms('2025-11-04T20:15:00Z')
const entry = (from: string, to: string) => `{ indicators: [5], window: { from: ${from}, to: ${to} }, lookback: 2d }`

describe('the time since which data is missing', () => {
  test('it is that of the gaps of each job, in the view and in the findings', async () => {
    const [store, market] = [await tempStore(), await source()]
    market.state.status = () => 400
    await market.run(store, `name: a\nseries: [${entry('2025-10-01', '2025-10-03')}]`, NIGHT)
    await market.run(store, `name: b\nseries: [${entry('2025-10-10', '2025-10-12')}]`, NIGHT + 3 * DAY)
    expect(store.all('select job, since_at from gaps order by job')).toEqual([
      { job: 'a', since_at: '2025-11-04T20:15:00Z' },
      { job: 'b', since_at: '2025-11-07T20:15:00Z' },
    ])
    const gaps = await readSeriesGaps(store, NIGHT / 1000 + 4 * 86_400)
    expect(gaps.map(({ sinceAt }) => sinceAt)).toEqual([NIGHT / 1000, NIGHT / 1000 + 3 * 86_400])
  })
})
