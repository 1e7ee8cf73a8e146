import { expect, test } from 'vitest'
import { formatUtc } from '../../src/base/instant.ts'
import { json, ms, runJob, serve, tempStore } from '../kit.ts'

const DAY = 86_400_000
const START = ms('2025-11-01T00:00:00Z') / 1000
/** Instants that follow no step, some of them alone in their days. */
const EVENTS = [
  17, 131, 148, 377, 1500, 1553, 3100, 4700, 4737, 4801, 6000, 7700, 9001, 9018, 11000, 13131, 14777, 15200,
]

test.each([[undefined], [[{ id: 154, name: 'Evento' }]], [[{ id: 4, name: 'Hora' }]]])(
  'events that never change (tiempo %j) are never revised, whatever window they come in',
  async (tiempo) => {
    const server = await serve((request, response) => {
      const search = new URL(request.url!, 'http://x').searchParams
      const [from, end] = ['start_date', 'end_date'].map((name) => ms(search.get(name)!) / 1000) as [number, number]
      const values = EVENTS.map((minutes) => START + minutes * 60)
        .filter((at) => at >= from && at <= end)
        .map((at) => ({ value: 1, datetime: formatUtc(at).replace('Z', '+00:00'), geo_id: 3 }))
      json(response, { indicator: { id: 888, ...(tiempo ? { tiempo } : {}), values } })
    })
    const store = await tempStore()
    let revised = 0
    for (let night = 0; night < 12; night++) {
      const summary = await runJob(
        store,
        server,
        'series:\n  - { indicators: [888], window: { last: 5d }, lookback: 3d }',
        {
          now: ms('2025-11-02T12:00:00Z') + night * DAY,
        },
      )
      revised += summary.counts.rows_revised
    }
    expect(revised).toBe(0)
    expect(store.get('select count(*) from observation_revision')).toBe(0)
    expect(store.all('select distinct step_s from observation')).toEqual([{ step_s: 3600 }])
  },
)
