import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'
import { serveNights } from './nights.ts'
import { filledFile, servePage } from './site.ts'

interface Suggestion {
  readonly path: string
  readonly href: string
  readonly name: string
  readonly detail: string
}

let server: ListeningServer & { readonly file: string }
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const suggest = async (text: string, { url }: { url: string } = server, lang = 'en'): Promise<Suggestion[]> =>
  (await (await fetch(`${url}/api/names?lang=${lang}&q=${encodeURIComponent(text)}`)).json()) as Suggestion[]

describe('suggestions for a text', () => {
  test.each([
    ['its number', '1293', '1293'],
    ['the beginning of its number', '129', '1293'],
    ['a name in English', 'actual dem', '1293'],
    ['a name in Spanish', 'demanda real', '1293'],
    ['words in any order and case', 'DEMAND Actual', '1293'],
    ['an everyday name in Spanish', 'luz', '600'],
    ['an everyday phrase', 'precio de la luz', '600'],
    ['an everyday name in English', 'electricity price', '600'],
    ['its unit', '€/MWh', '600'],
    ['a name and a unit', 'demand MW', '544'],
    ['a name and a geo', 'luz portugal', '600:1'],
    ['a geo in the other language', 'price spain', '600:3'],
    ['a number with a geo, as in addresses', '600:1', '600:1'],
  ])('find a series by %s first', async (_, text, path) => {
    expect((await suggest(text))[0]).toMatchObject({ path })
    expect((await suggest(text, server, 'es'))[0]).toMatchObject({ path })
  })

  test('name the page, the geo and the unit in the language of the page', async () => {
    expect(await suggest('precio de la luz de portugal')).toEqual([
      {
        path: '600:1',
        href: '/series/600?geo=1',
        indicator: 600,
        name: '600 Day-ahead spot market price',
        detail: 'Portugal · €/MWh',
      },
    ])
    expect((await suggest('luz', server, 'es'))[0]!.name).toBe('600 Precio mercado SPOT Diario')
  })

  test('do not confuse a unit with a longer one', async () => {
    const found = await suggest('€/MWh')
    expect(found.every(({ detail }) => detail.includes('€/MWh'))).toBe(true)
    expect(await suggest('nothing like it')).toEqual([])
  })
})

test('every field that searches finds the same series as the suggestions', async () => {
  const read = async (path: string) => (await (await fetch(server.url + path)).json()) as never
  for (const text of ['luz', 'precio de la luz', '€/MWh', 'spot portugal', 'price spain', '600']) {
    const q = encodeURIComponent(text)
    const { series } = (await read(`/index.json?q=${q}`)) as { series: { indicatorId: number }[] }
    expect(
      series.map(({ indicatorId }) => indicatorId),
      `overview: ${text}`,
    ).toEqual([600])
    const { stored } = (await read(`/search.json?q=${q}`)) as { stored: { path: string }[] }
    expect(stored[0]?.path, `search: ${text}`).toBe('600')
    const { indicators } = (await read(`/indicators.json?q=${q}`)) as { indicators: { id: number }[] }
    expect(
      indicators.map(({ id }) => id),
      `indicators: ${text}`,
    ).toContain(600)
    const { chart } = (await read(`/series/544.json?from=2025-10-26&to=2025-10-27&with=${q}`)) as {
      chart: { compared: { path: string; line: { geoId: number } }[] }
    }
    expect(
      chart.compared.map(({ path }) => path),
      `compare: ${text}`,
    ).toEqual(['600'])
    expect(chart.compared[0]!.line.geoId, text).toBe(text.includes('portugal') ? 1 : 3)
  }
})

test('suggestions among two thousand series take at most a tenth of a second of processor time', async () => {
  const file = await filledFile()
  const store = await openStore(file)
  store.run(
    `with recursive n (i) as (select 20000 union all select i + 1 from n where i < 21999)
     insert into indicator (kind, id, first_seen_at) select 'indicator', i, '2025-01-01T00:00:00.000Z' from n`,
    [],
  )
  for (const [locale, name] of [
    ['es', 'Generación programada PBF unidad '],
    ['en', 'Scheduled generation PBF unit '],
  ])
    store.run(
      `insert into indicator_text (kind, id, locale, name, fetch_id)
       select kind, id, ?, ? || id, 1 from indicator where id between 20000 and 21999`,
      [locale!, name!],
    )
  store.run(
    `insert into series (kind, indicator_id, time_zone, created_at) select kind, id, 'Europe/Madrid', '2025-01-01T00:00:00.000Z' from indicator where id between 20000 and 21999`,
    [],
  )
  store.run(
    `insert into series_geo (series_id, geo_id)
     select s.id, g.id from series s join (select id from geo union select 3) g where s.indicator_id between 20000 and 21999`,
    [],
  )
  await store.tidy()
  await store.close()
  const page = await servePage(file)
  await suggest('luz', page)
  const texts = ['g', 'generation', 'scheduled 211', 'precio de la luz', 'programada españa']
  const begin = process.cpuUsage()
  for (const text of texts) expect((await suggest(text, page)).length, text).toBeGreaterThan(0)
  const { user, system } = process.cpuUsage(begin)
  expect((user + system) / 1000 / texts.length).toBeLessThan(100)
})
