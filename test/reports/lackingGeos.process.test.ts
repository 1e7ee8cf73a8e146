import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findLackingGeos, lackingGeosText } from '../../src/findings/readers/lackingGeos.ts'
import { jobFolder, serviceAt } from '../cli/jobFolder.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { emulate, json, ms, requestedWindow, runCommand, runJob, serve, tempStore, valueAt } from '../support/kit.ts'

const NOW = '2025-11-05T20:15:00Z'
const WINDOW = 'window: { from: 2025-10-01, to: 2025-10-04 }'

test('sync, plan, gaps and check name geos that an indicator lacks, and its existing ones', async () => {
  const emulator = await emulate({ now: ms(NOW) / 1000 })
  const entry = (geoIds: string) => `series:\n  - { indicators: [600], geoIds: [${geoIds}], ${WINDOW}, lookback: 1d }\n`
  const pace = 'pace: { perSecond: 50 }\n'
  const dir = jobFolder({
    'job.yaml': `name: one\n${pace}${entry('1, 3, 8741')}`,
  })
  const env = serviceAt(emulator.url, emulator.key)
  const warning = 'indicator 600 has no values for geo 8741; values are stored for 1 (Portugal), 3 (España).'
  expect((await runCommand(dir, ['plan', 'job.yaml'], env)).out).not.toContain('has no values')
  expect(await runCommand(dir, ['sync', 'job.yaml'], env)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`\nWarning: ${warning}\n`),
  })
  const [again] = JSON.parse((await runCommand(dir, ['sync', 'job.yaml', '--json'], env)).out)
  expect(again.missing_geos).toEqual([
    {
      series_id: 1,
      kind: 'indicator',
      indicator_id: 600,
      geo_ids: [8741],
      stored: [
        { id: 1, name: 'Portugal' },
        { id: 3, name: 'España' },
      ],
    },
  ])
  for (const command of [['plan', 'job.yaml'], ['gaps']])
    expect(await runCommand(dir, command, env)).toMatchObject({ code: 0, out: expect.stringContaining(warning) })
  expect(await runCommand(dir, ['gaps', '--fail'], env)).toMatchObject({
    code: 6,
    out: expect.not.stringContaining('No gaps'),
  })
  const check = await runCommand(dir, ['check', '--json'], env)
  const finding = {
    kind: 'geo',
    subject: 'indicator 600',
    message: `${warning} Unless they are still to come, correct job one, then run the job`,
  }
  expect([check.code, JSON.parse(check.out)]).toMatchObject([
    6,
    [{ ...finding, command: expect.stringMatching(/^indicator-sync sync job\.yaml/) }],
  ])

  writeFileSync(join(dir, 'job.yaml'), `name: one\n${pace}${entry('1, 3')}`)
  for (const command of [['sync', 'job.yaml'], ['plan', 'job.yaml'], ['gaps'], ['check']])
    expect((await runCommand(dir, command, env)).out).not.toContain('has no values for geo')
})

const lackingOf = async (yaml: string, now = NOW, has: (at: number, geo: number) => boolean = () => true) => {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4], has })
  const { lackingGeos } = await runJob(store, service, yaml, { now: ms(now) })
  expect(await findLackingGeos(store, ms(now) / 1000)).toEqual(lackingGeos)
  return lackingGeos.map((geos) => lackingGeosText(geos))
}
const lacks = 'indicator 5 has no values for geo'
const REST = `${WINDOW}, lookback: 1d`

test.each([
  [
    'only missing geos',
    `[{ indicators: [5], geoIds: [7, 8], ${REST} }]`,
    [
      `${lacks} 7, 8; no values are stored for any geo. Check the id and the window, or remove geoIds from the job to fetch all geos.`,
    ],
  ],
  ['some missing geos', `[{ indicators: [5], geoIds: [3, 7], ${REST} }]`, [`${lacks} 7; values are stored for 3.`]],
  [
    'a geo that is missing in the values of all geos',
    `[{ indicators: [5], ${REST} }, { indicators: [5], geoIds: [7], ${REST} }]`,
    [`${lacks} 7; values are stored for 3, 4.`],
  ],
  ['existing geos', `[{ indicators: [5], geoIds: [3, 4], ${REST} }]`, []],
  ['no geos', `[{ indicators: [5], ${REST} }]`, []],
  ['geos to aggregate', `[{ indicators: [5], geoIds: [3, 7], geoAgg: sum, ${REST} }]`, []],
])('a job with %s gets warnings for exactly the geos without values', async (_name, series, warnings) => {
  expect(await lackingOf(`series: ${series}`)).toEqual(warnings)
})

test('an indicator without values is reported as soon as its values are final', async () => {
  const late = REST.replace('lookback: 1d', 'lookback: 8mo')
  const says = ['indicator 5 has no values: the service responded without any.']
  expect(await lackingOf(`series: [{ indicators: [5], ${REST} }]`, NOW, () => false)).toEqual(says)
  expect(await lackingOf(`series: [{ indicators: [5], ${late} }]`, NOW, () => false)).toEqual([])
})

test('an aggregation without values is named as such', async () => {
  const series = `[{ indicators: [5], geoIds: [3, 4], geoAgg: sum, ${REST} }]`
  expect(await lackingOf(`series: ${series}`, NOW, () => false)).toEqual([
    'indicator 5 as sum of geos, series 1 has no values: the service responded without any.',
  ])
})

test('a geo whose values are only late is not reported', async () => {
  const yaml = 'series: [{ indicators: [5], geoIds: [3, 4], window: { from: 2025-11-04, to: +1d }, lookback: 1d }]'
  expect(await lackingOf(yaml, NOW, (_at, geo) => geo === 3)).toEqual([])
})

test('an entry with an instant gets a warning until its job names other geos', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: ms(NOW) / 1000 })
  const run = async (geoIds: string, datetime = '2025-09-01T00:00') => {
    const yaml = `series: [{ indicators: [600], geoIds: [${geoIds}], datetime: ${JSON.stringify(datetime)} }]`
    const { lackingGeos } = await runJob(store, emulator, yaml, { now: ms(NOW) })
    expect(await findLackingGeos(store, ms(NOW) / 1000)).toEqual(lackingGeos)
    return lackingGeos.map((geos) => lackingGeosText(geos))
  }
  expect(await run('3, 8741')).toEqual(['indicator 600 has no values for geo 8741; values are stored for 3 (España).'])
  expect(await run('3')).toEqual([])
  expect(await run('3, 8742', '2025-11-05T12:00'), 'not published yet').toEqual([])
})

test('a geo with nothing but nulls has no values', async () => {
  const server = await serve((request, response) => {
    const { from } = requestedWindow(request)
    const values = [3, 4].flatMap((geo) => [0, 1].map((i) => valueAt(from + i * 3600, geo === 3 ? 1 : null, geo)))
    json(response, { indicator: { id: 5, tiempo: [{ id: 4 }], geos: [], values } })
  })
  const run = async (geoIds: string) => {
    const store = await tempStore()
    const yaml = `series: [{ indicators: [5], geoIds: [${geoIds}], ${REST} }]`
    const { lackingGeos } = await runJob(store, server, yaml, { now: ms(NOW) })
    return lackingGeos.map((geos) => lackingGeosText(geos))
  }
  expect(await run('3, 4')).toEqual([`${lacks} 4; values are stored for 3.`])
  // The server sends both geos.
  expect(await run('4')).toEqual([`${lacks} 4; values are stored for 3.`])
})

test('indicators with geos of their own in one entry need no warning', async () => {
  const emulator = await emulate({ now: ms(NOW) / 1000 })
  const entry = (indicators: string) =>
    `name: one\npace: { perSecond: 50 }\nseries:\n  - { indicators: [${indicators}], geoIds: [3], ${WINDOW}, lookback: 1d }\n`
  const dir = jobFolder({ 'job.yaml': entry('600, { id: 1293, geoIds: [Península] }') })
  const env = serviceAt(emulator.url, emulator.key)
  const run = async (...args: string[]) => JSON.parse((await runCommand(dir, [...args, '--json'], env)).out)
  const plan = await run('plan', 'job.yaml')
  expect(plan.map(({ entry, target }: { entry: string; target: string }) => [entry, target])).toEqual([
    ['series[0]', expect.stringMatching(/\/600\?.*geo_ids(\[\]|%5B%5D)=3&|\/600\?.*geo_ids(\[\]|%5B%5D)=3$/)],
    ['series[0]', expect.stringMatching(/\/1293\?.*geo_ids(\[\]|%5B%5D)=8741/)],
  ])
  const [first] = await run('sync', 'job.yaml')
  expect(first).toMatchObject({ outcome: 'done', requests: 2, missing_geos: [], unselected: 0 })
  const stored = await run('query', 'select indicator_id, geo_id from latest order by 1')
  expect(stored).toEqual([
    { indicator_id: 600, geo_id: 3 },
    { indicator_id: 1293, geo_id: 8741 },
  ])
  expect((await run('sync', 'job.yaml'))[0]).toMatchObject({ requests: 0, unselected: 0 })
  expect((await runCommand(dir, ['check'], env)).code).toBe(0)
  expect((await run('sync', 'job.yaml', '--only', '1293'))[0]).toMatchObject({ requests: 0, selected: true })

  // The same in two entries selects nothing else.
  writeFileSync(
    join(dir, 'job.yaml'),
    `${entry('600')}  - { indicators: [1293], geoIds: [8741], ${WINDOW}, lookback: 1d }\n`,
  )
  expect((await run('sync', 'job.yaml'))[0]).toMatchObject({ requests: 0, unselected: 0 })
})
