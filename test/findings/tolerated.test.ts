import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { askPage } from '../page/askPage.ts'
import { json, ms, requestedWindow, runCommand, runJob, serve, tempFolder, tempStore, valueAt } from '../support/kit.ts'

test('tolerated periods are not a finding, but check and the overview mention them', async () => {
  const store = await tempStore()
  const lost = ['2025-10-12T10:05:00Z', '2025-10-13T10:05:00Z', '2025-10-13T10:10:00Z'].map((at) => ms(at) / 1000)
  const server = await serve((request, response) => {
    const { from, end } = requestedWindow(request)
    const times = Array.from({ length: Math.ceil((end + 1 - from) / 300) }, (_, i) => from + i * 300)
    const values = times.filter((at) => !lost.includes(at)).map((at) => valueAt(at))
    json(response, { indicator: { id: 5, tiempo: [], geos: [], values } })
  })
  const yaml = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d }]'
  const now = ms('2025-11-04T12:00:00Z')
  await runJob(store, server, yaml, { now })
  expect(await findFindings(store, now / 1000)).toEqual([])
  const { html } = await askPage(store, '/')
  expect(html).toContain('no final data is missing or late, except 3 tolerated periods;')
  expect((await runCommand(tempFolder(), ['check', '--database', store.file])).out).toBe(
    'No findings.\n3 missing periods are tolerated (list: indicator-sync gaps)\n',
  )
})
