import { expect, test } from 'vitest'
import { gapsAtLastRun, json, ms, requestedWindow, runJob, serve, tempStore, valueAt } from '../support/kit.ts'

const DAY = 86_400_000
const START = ms('2025-11-01T00:00:00Z') / 1000
/** Instants without a regular step, some of them alone on their day. */
const EVENTS = [
  17, 131, 148, 377, 1500, 1553, 3100, 4700, 4737, 4801, 6000, 7700, 9001, 9018, 11000, 13131, 14777, 15200,
]

/** Starts a service of events at some minutes after the start. */
const events = (minutes: readonly number[], tiempo?: readonly object[]) =>
  serve((request, response) => {
    const { from, end } = requestedWindow(request)
    const values = minutes
      .map((minute) => START + minute * 60)
      .filter((at) => at >= from && at <= end)
      .map((at) => valueAt(at))
    json(response, { indicator: { id: 888, ...(tiempo ? { tiempo } : {}), values } })
  })

test.each([[false], [true]])(
  'rare events that are fetched day by day are never absent (newest first: %j)',
  async (newestFirst) => {
    const server = await events([1500, 4737, 9001, 14777], [{ id: 154, name: 'Evento' }])
    const store = await tempStore()
    const yaml = `pace: { concurrency: 1 }
newestFirst: ${newestFirst}
series: [{ indicators: [888], window: { from: 2025-11-01, to: 2025-11-15 }, chunk: 1d }]`
    await runJob(store, server, yaml, { now: ms('2025-11-20T12:00:00Z') })
    expect(store.get('select count(*) from observation')).toBe(4)
    expect(await gapsAtLastRun(store)).toEqual([])
  },
)

test.each([[undefined], [[{ id: 154, name: 'Evento' }]], [[{ id: 4, name: 'Hora' }]]])(
  'unchanged events (tiempo %j) are never revised, for any window',
  async (tiempo) => {
    const server = await events(EVENTS, tiempo)
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
