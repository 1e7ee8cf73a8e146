import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { onDemo } from '../../support/demoCopy.ts'
import {
  json,
  ms,
  requestedWindow,
  runCommand,
  runJob,
  serve,
  tempFolder,
  tempStore,
  valueAt,
} from '../../support/kit.ts'

test('show draws the values known at an instant, and revisions are read latest first', async () => {
  const hours: (number | null)[] = Array.from({ length: 24 }, (_, i) => i)
  const server = await serve((request, response) => {
    const { from } = requestedWindow(request)
    const values = hours.flatMap((value, i) =>
      value === null ? [] : [{ ...valueAt(from + i * 3600, value), geo_name: 'España' }],
    )
    const body = { id: 600, name: 'Precio', tiempo: [{ id: 4, name: 'Hora' }], geos: [], values }
    json(response, { indicator: body })
  })
  const store = await tempStore()
  const job =
    'series: [{ indicators: [600], geoIds: [3], window: { from: 2025-01-01, to: 2025-01-02 }, lookback: 8mo }]'
  const sync = (now: string) => runJob(store, server, job, { now: ms(now), options: { restate: true } })
  await sync('2025-01-05T00:00:00Z')
  hours[3] = 77
  await sync('2025-01-06T00:00:00Z')
  hours[3] = 80
  hours[23] = null
  await sync('2025-01-07T00:00:00Z')

  const show = (...args: string[]) =>
    runCommand(tempFolder(), ['show', '600', ...args], { INDICATOR_SYNC_DATABASE: store.file })
  const valuesAt = async (...args: string[]): Promise<(number | null)[]> =>
    JSON.parse((await show('--json', ...args)).out)[0].values.slice(0, 24)
  const first = Array.from({ length: 24 }, (_, i) => i)
  expect(await valuesAt('--as-of', '2025-01-05T12:00:00Z')).toEqual(first)
  expect((await valuesAt('--as-of', '2025-01-06T12:00:00Z'))[3]).toBe(77)
  expect((await valuesAt())[3]).toBe(80)
  expect(await show('--as-of', '2025-01-01')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/No values of indicator 600 .* were known at 2024-12-31T23/),
  })

  expect(await show('--geo', '99')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/geo 99 are stored\.[\s\S]*discover/),
  })

  const { out, code } = await show('--as-of', '2025-01-06T12:00:00Z')
  expect(code).toBe(0)
  expect(out).toMatch(/, as known at 2025-01-06T13:00:00\+01:00: mean/)
})

const demo = onDemo()

test('show draws the picture of the page to an SVG file, and replaces a file only with --overwrite', async () => {
  const file = join(tempFolder(), 'price.svg')
  const show = (...args: string[]) => demo.run(['show', '600', '--output', file, ...args])
  const first = await show('--from', '2025-10-20', '--to', '2025-10-25')
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/price\.svg: [\d,]+ bytes\./) })
  const svg = readFileSync(file, 'utf8')
  expect(svg).toContain('2025-10-20 00:00 – 2025-10-25 00:00')
  expect(svg).toMatch(/<path fill="none" stroke="#0b57a4"[^>]* d="M/)
  expect(await show()).toMatchObject({ code: 2, err: expect.stringContaining('it exists') })
  expect(readFileSync(file, 'utf8')).toBe(svg)
  const { code, out } = await show('--overwrite', '--json', '--as-of', '2025-11-03T18:00:00Z')
  expect([code, JSON.parse(out).bytes]).toEqual([0, statSync(file).size])
  expect(readFileSync(file, 'utf8')).toContain('as known at 2025-11-03 19:00')
})

test('without a range, the picture is of thirty days up to the last value, as on the page', async () => {
  const file = join(tempFolder(), 'price.svg')
  await demo.run(['show', '600', '--output', file])
  const [, from, to] = /(\d{4}-\d\d-\d\d) 00:00 – (\d{4}-\d\d-\d\d) 00:00/.exec(readFileSync(file, 'utf8'))!
  expect((Date.parse(to!) - Date.parse(from!)) / 86_400_000).toBe(30)
})

test('show refuses files that are not SVG before it reads the database', async () => {
  for (const name of ['chart.png', 'chart', 'chart.svg.gz'])
    expect(
      await runCommand(tempFolder(), ['show', '600', '--output', name, '--database', 'none.db'], {}),
    ).toMatchObject({ code: 2, err: expect.stringMatching(/a picture is an SVG file[\s\S]*\.svg/) })
})
