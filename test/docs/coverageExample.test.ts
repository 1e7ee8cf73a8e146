import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findGaps } from '../../src/findings/findGaps.ts'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { transform } from '../../src/transform/transform.ts'
import { decompressBody } from '../../src/util/storedBody.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { emulate, ms, runJob, tempStore } from '../support/kit.ts'

const at = (text: string): number => ms(text) / 1000
const DAY = 86_400
const FIRST_NIGHT = at('2025-11-04T20:15:00Z')
const LOST = at('2025-11-01T10:00:00Z')

/** A row with the columns of the example. */
type Row = Readonly<
  Record<'from_at' | 'to_at' | 'lookback_s' | 'count' | 'last' | 'missing' | 'step_s', number> &
    Record<'settled_s' | 'next_at' | 'due_at', number> &
    Record<'kind' | 'state' | 'reason', string>
>

/** A time as the page writes it: `11-04 20:15`. */
const short = (instant: number): string => formatUtc(instant).slice(5, 16).replace('T', ' ')

test('the example of decision 001 has the rows that two nightly runs make', async () => {
  let now = FIRST_NIGHT
  const publication = { do: 'publish', at: FIRST_NIGHT + DAY / 2, from: LOST, to: LOST + 3600 } as const
  const resolutions = [{ from: at('2025-09-30T22:00:00Z'), every: 3600 }]
  const script = { id: 9001, geos: [3], resolutions, lag: 3600, actions: [publication] }
  const emulator = await emulate({ now: () => now, scripts: [script] })
  const store = await tempStore()
  const planned: PlannedRequest[] = []
  const run = () =>
    runJob(
      store,
      emulator,
      'series: [{ indicators: [9001], geoIds: [3], window: { from: 2025-10-20, to: +1d }, lookback: 2d }]',
      { now: now * 1000, onProgress: (progress) => void planned.push(progress.planned) },
    )
  const row = (query: string) => store.all(query)[0] as Row
  const [, section = ''] = readFileSync('docs/decisions/001-coverage.md', 'utf8').split('## An example')
  const stated = Object.fromEntries(
    [...section.split('## Coverage')[0]!.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, table, rows]) => [table, rows]),
  )

  await run()
  const duty = row('select * from _duty')
  const values = row('select count(*) as count, max(at) as last from observation')
  const day = row('select * from _day where month = 24310 and day = 1')
  const cadence = row('select * from _cadence')
  const coverage = row('select * from _coverage')
  const absent = row('select * from _absent')
  const spans = store.all('select * from _span order by from_at, to_at') as Row[]
  const hole = spans.find(({ reason }) => reason === 'absent')!
  const stored = spans.filter(({ reason }) => reason === 'stored')
  const hours = `${short(LOST)} to ${short(LOST + 3600).slice(6)}`
  expect([absent.from_at, absent.to_at, hole.from_at, hole.to_at]).toEqual([LOST, LOST + 3600, LOST, LOST + 3600])
  expect(stored.map(({ state }) => state)).toEqual(['complete', 'provisional'])
  expect(spans.filter((span) => span !== hole && !stored.includes(span)).map(({ due_at }) => due_at)).toEqual([
    expect.any(Number),
    expect.any(Number),
  ])
  expect(stated).toEqual({
    _duty: `${short(duty.from_at)} to ${short(duty.to_at)}, \`lookback_s\` ${duty.lookback_s}`,
    observation: `${values.count} hours, the last at ${short(values.last)}; none at ${short(LOST)}`,
    _day: `11-01: \`count\` ${day.count}, \`missing\` ${day.missing}`,
    _cadence: `\`${cadence.kind}\`, \`step_s\` ${cadence.step_s}`,
    _coverage: `the range, \`${coverage.state}\`, \`settled_s\` −${-coverage.settled_s}: the range ends so many seconds after the reply`,
    _absent: `${hours}, \`${absent.reason}\``,
    _span: `\`complete\` to ${short(stored[0]!.to_at)}, \`provisional\` after it; \`missing\` ${hours}, \`next_at\` ${short(hole.next_at)}; the hours after the last value and after the reply, with a \`due_at\``,
  })
  // The same run is the example of the architecture: one value, from the request to its row.
  const { body, bytes } = store.all('select body, bytes from _reply')[0] as { body: Buffer; bytes: number }
  const received = await decompressBody(body, bytes)
  const { geoIds, at: instants, values: numbers, steps } = transform(received, planned[0]!).observations!
  const travel = /^\| step \| value \|\n.*\n((?:\|.*\n)*)/m.exec(readFileSync('docs/architecture.md', 'utf8'))![1]!
  expect(travel.match(/(?<=\| `)[^`]*(?=` \|$)/gm)).toEqual([
    planned[0]!.http.target,
    JSON.stringify(planned[0]!.window),
    JSON.stringify(JSON.parse(received.toString()).indicator.values[0]),
    JSON.stringify({ geoIds: geoIds[0], at: instants[0], values: numbers[0], steps }),
    JSON.stringify(store.all('select * from observation order by at limit 1')[0]),
  ])
  expect((await findGaps(store, now)).map(({ from }) => at(from))).toEqual([LOST])

  now += DAY
  expect((await run()).counts.requests).toBe(2)
  expect(row('select * from _day where month = 24310 and day = 1').count).toBe(24)
  expect(store.all('select * from _absent')).toEqual([])
  expect(store.all("select * from _span where reason = 'absent'")).toEqual([])
  expect(store.all('select * from _coverage')).toHaveLength(2)
})
