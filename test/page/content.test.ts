import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder } from '../support/kit.ts'
import { serveDemo } from './site.ts'

const folder = fileFolder()
let server: ListeningServer
beforeAll(async () => {
  server = await serveDemo(folder)
})
afterAll(() => server.close())

const text = async (path: string) => (await fetch(server.url + path)).text()
const read = async <T>(path: string) => (await (await fetch(server.url + path)).json()) as T

describe('widgets', () => {
  test('are listed with their texts, in the language of the page', async () => {
    const english = await text('/widgets?lang=en')
    expect(english).toMatch(/<a href="\/widgets\/2"><bdi lang="en">DEMANDA<\/bdi><\/a>[\s\S]*DEMAND</)
    expect(await text('/widgets?lang=es')).toMatch(/<html lang="es"[\s\S]*GEN\. CONVENCIONAL/)
    expect(await text('/texts?lang=en'), 'beside the kinds of texts').toContain('<a href="/widgets">Widgets</a>')
  })

  test('have a page with every language, the indicators that they show and all stored fields', async () => {
    const page = await text('/widgets/2?lang=en')
    expect(page).toContain('<div class="lines" dir="auto" lang="es">Demanda real, prevista y programada.</div>')
    expect(page).toMatch(/<a href="\/texts\/indicator\/1293">1293 <bdi>Actual demand<\/bdi><\/a>/)
    expect(page).toContain('&quot;updated_at&quot;')
    const { indicators } = await read<{ indicators: { id: number; kind: string }[] }>('/widgets/7.json')
    expect(indicators, 'the indicator of offers, not the one with its number').toContainEqual(
      expect.objectContaining({ id: 25, kind: 'offer_indicator' }),
    )
    expect((await fetch(`${server.url}/widgets/99`)).status).toBe(404)
  })
})

describe('texts by date', () => {
  interface Texts {
    readonly texts: { readonly id: number; readonly published_at: string }[]
  }

  test('are below their months, and can be limited to days, the last one included', async () => {
    const all = (await read<Texts>('/texts.json?kind=news')).texts
    const days = all.map(({ published_at }) => published_at.slice(0, 10))
    const [newest, , older] = days as [string, string, string]
    const page = await text('/texts?kind=news&lang=en')
    const months = [...page.matchAll(/<h3>([^<]+)<\/h3>/g)].map(([, month]) => month)
    const format = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
    expect(months).toEqual([...new Set(days.map((day) => format.format(Date.parse(day.slice(0, 7)))))])
    const limited = (await read<Texts>(`/texts.json?kind=news&from=${older}&to=${newest}`)).texts
    expect(limited.map(({ id }) => id)).toEqual(all.slice(0, 3).map(({ id }) => id))
    expect((await read<Texts>(`/texts.json?kind=news&from=${newest}`)).texts).toHaveLength(1)
    expect((await read<Texts>(`/texts.json?kind=news&to=${older}`)).texts).toHaveLength(all.length - 2)
  })

  test('without any keep the fields, and a wrong day is refused', async () => {
    const page = await text('/texts?kind=news&from=2001-01-01&to=2001-02-01&lang=en')
    expect(page).toContain('None was published on these days.')
    expect(page).toMatch(/until \(inclusive\) <input type="date" name="to" value="2001-02-01"/)
    expect((await fetch(`${server.url}/texts?kind=news&from=2001-02-30`)).status).toBe(400)
  })
})

test('every edition that is not downloaded has the command that downloads it', async () => {
  const { date, editions } = await read<{
    date: string
    editions: { kind: string; id: number; bytes: number | null }[]
  }>('/archives.json')
  const after = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10)
  const page = await text('/archives?lang=en')
  const missing = editions.filter(({ bytes }) => bytes === null)
  expect(missing.length).toBeGreaterThan(1)
  for (const { kind, id } of missing) {
    const command = `npx indicator-sync archives download ${id} --kind ${kind} --from ${date} --to ${after}`
    expect(page).toContain(`<code data-copy>${command}</code>`)
    expect(await text(`/archives/${kind}/${id}?lang=en`)).toContain(`<code data-copy>${command}</code>`)
  }
})
