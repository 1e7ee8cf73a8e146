import { expect, test } from 'vitest'
import { CONTENT_ROUTES } from '../../src/service/routes.ts'
import { emulate } from '../support/kit.ts'
import { HAS_RECORDED, recorded } from '../support/recordedReplies.ts'

const NOW = Date.UTC(2025, 10, 4, 5, 57, 31) / 1000
const DAY = 86_400

// biome-ignore lint/suspicious/noExplicitAny: each test knows the structure of its reply.
type Body = any

async function open() {
  const emulator = await emulate({ now: NOW })
  const planned = async (target: string): Promise<Body> => {
    const response = await fetch(`${emulator.url}${target}`, { headers: { 'x-api-key': emulator.key } })
    expect(response.status, target).toBe(200)
    return response.json()
  }
  return { emulator, ask: planned }
}

const ITEM = [
  ...['title', 'slug', 'metadata', 'body', 'slug_inverse', 'id', 'published_status', 'type', 'published_at'],
  ...['updated_at', 'expires_at', 'created_at', 'summary', 'sticky', 'permalink', 'dummy', 'media'],
  ...['taxonomy_terms', 'vocabularies'],
]

test.each(CONTENT_ROUTES)('%s have the fields of the real service', async (route) => {
  const { ask: planned } = await open()
  const { contents, meta } = await planned(`/es/${route}`)
  expect(meta).toMatchObject({ size: contents.length, cache_date: 'Nov 4, 2025, 5:57:31 AM' })
  for (const item of contents) {
    expect(Object.keys(item)).toEqual(ITEM)
    expect(item.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+]0[12]:00$/)
    expect(item.permalink).toBe(`/es/${route}/${item.slug}`)
  }
  const media = contents.flatMap((item: Body) => item.media)
  expect(media[0].photo_value_file_size).toBe('0')
  expect(media[0].created_at).toMatch(/\.\d{3}Z$/)
  expect(new Set(contents.map(({ id }: Body) => id)).size).toBe(contents.length)
  expect(new Set(contents.map(({ slug }: Body) => slug)).size).toBe(contents.length)
})

test('the emulator has enough texts in two languages, with HTML entities', async () => {
  const { ask: planned } = await open()
  const sizes = await Promise.all(CONTENT_ROUTES.map(async (route) => (await planned(`/es/${route}`)).meta.size))
  expect(sizes[0]).toBeGreaterThanOrEqual(8)
  expect(sizes[1]).toBeGreaterThanOrEqual(5)
  expect(sizes[2]).toBeGreaterThanOrEqual(30)
  expect(sizes[3]).toBe(12)
  const spanish = (await planned('/es/glossaries?locale=es')).contents
  const english = (await planned('/es/glossaries?locale=en')).contents
  expect(spanish.map(({ body }: Body) => body).join()).toMatch(/&oacute;/)
  expect(english.map(({ id }: Body) => id)).toEqual(spanish.map(({ id }: Body) => id))
  expect(english[0].title).not.toBe(spanish[0].title)
  const { contents } = await planned('/es/documentations')
  expect(contents.some(({ published_at }: Body) => published_at === null)).toBe(true)
})

test.each([
  ['news', 'expires', 'expires_at'],
  ['news', 'updated', 'updated_at'],
  ['documentations', 'created', 'created_at'],
])('%s are sorted by %s', async (route, order, field) => {
  const { ask: planned } = await open()
  const times = (await planned(`/es/${route}?order=${order}`)).contents.map((item: Body) => Date.parse(item[field]))
  expect(times).toEqual(times.toSorted((a: number, b: number) => b - a))
})

test('news disappear on their expiry date, and one is edited over time', async () => {
  const { emulator, ask: planned } = await open()
  const before = (await planned('/es/news')).contents as Body[]
  const oldest = before.toSorted((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at))[0]
  const newest = before[0]
  const idsAt = async (at: number) => {
    emulator.setNow(at)
    return (await planned('/es/news')).contents.map(({ id }: Body) => id)
  }
  const expires = Date.parse(oldest.expires_at) / 1000
  expect(await idsAt(expires - 1)).toContain(oldest.id)
  expect(await idsAt(expires)).not.toContain(oldest.id)
  expect((await idsAt(NOW + 60 * DAY)).some((id: number) => before.every((item) => item.id !== id))).toBe(true)
  emulator.setNow(NOW + 6 * DAY)
  const edited = (await planned('/es/news')).contents.find(({ id }: Body) => id === newest.id)
  expect(edited.body).not.toBe(newest.body)
  expect(Date.parse(edited.updated_at)).toBeGreaterThan(Date.parse(newest.updated_at))
})

test('a past day has at least forty archives, and a future day only a few', async () => {
  const { ask: planned } = await open()
  const past = (await planned('/archives?start_date=2025-10-20&end_date=2025-10-20')).archives as Body[]
  expect(past.length).toBeGreaterThanOrEqual(40)
  expect((await planned('/archives?start_date=2025-12-20&end_date=2025-12-20')).archives).toHaveLength(2)
  expect((await planned('/archives?start_date=2025-10-20&end_date=2025-10-22')).archives.length).toBe(3 * past.length)
  expect(new Set(past.map(({ horizon }) => horizon))).toEqual(new Set(['D', 'M', 'A', 'H', 'S', 'T', 'QM', 'O', 'NA']))
  expect(new Set(past.map(({ archive_type }) => archive_type))).toEqual(new Set(['zip', 'xls', 'xml', 'pdf', 'csv']))
  expect(new Set(past.map(({ date_times }) => date_times.length))).toEqual(new Set([0, 1, 2]))
  expect(new Set(past.map(({ publication_date }) => publication_date.length))).toEqual(new Set([1, 2]))
  expect(new Set(past.map(({ id }) => id)).size).toBe(past.length)
  expect(past[0].download.url).toContain('date=2025-10-20T23%3A59%3A59T%2B00%3A00')
  expect(past.find(({ name }) => name === 'COEF_KEST_MM').date_times).toEqual(['2025-10-01', '2025-10-31'])
  expect(past.find(({ horizon }) => horizon === 'T').publication_date).toEqual(['2025-09-12'])
})

/** Returns the identifying fields of an archive. */
const identity = (item: Body) => [item.id, item.name, item.horizon, item.archive_type]

async function madeArchives() {
  const { ask: planned } = await open()
  return ((await planned('/archives?start_date=2024-01-01&end_date=2024-01-01')).archives as Body[]).map(identity)
}

test('archives have the ids, horizons and types of the real service', async () => {
  const made = await madeArchives()
  for (const known of [
    [29, 'totalp48', 'H', 'xml'],
    [30, 'totalp48cierre', 'D', 'xml'],
    [106, 'PlanesMantenimiento', 'M', 'xls'],
    [187, 'C2_PrecioFinal', 'M', 'zip'],
  ])
    expect(made).toContainEqual(known)
})

test.skipIf(!HAS_RECORDED)('the emulator has every recorded archive', async () => {
  const made = await madeArchives()
  for (const known of recorded('archives_2023-12-31_inner-array.json') as Body[])
    expect(made).toContainEqual(identity(known))
})

test('archives by publication date are listed on the day of their publication', async () => {
  const { ask: planned } = await open()
  const { archives } = await planned('/archives?date_type=publicacion&start_date=2025-10-05&end_date=2025-10-12')
  expect(archives.length).toBeGreaterThan(20)
  for (const { publication_date } of archives) {
    expect(publication_date[0] >= '2025-10-05').toBe(true)
    expect(publication_date[0] <= '2025-10-12').toBe(true)
  }
  const monthly = archives.find(({ name }: Body) => name === 'C2_liquicomun')
  expect(monthly).toMatchObject({ date_times: ['2025-09-01', '2025-09-30'], publication_date: ['2025-10-09'] })
})

test('archives can be filtered by terms and vocabularies', async () => {
  const { ask: planned } = await open()
  const count = async (query: string) => (await planned(`/archives?start_date=2025-10-20&${query}`)).meta.size as number
  const all = await count('')
  expect(await count('taxonomy_terms[]=Liquidaciones')).toBeLessThan(all)
  expect(await count('taxonomy_terms[]=Liquidaciones')).toBeGreaterThan(0)
  expect(await count('vocabularies[]=Universo')).toBe(all)
  expect(await count('vocabularies[]=nothing')).toBe(0)
})

test('JSON archives have their own format', async () => {
  const { ask: planned } = await open()
  const { archives, meta } = await planned('/archives_json?date=2025-10-20')
  expect(meta.size).toBe(archives.length)
  for (const item of archives) {
    expect(item).toMatchObject({ archive_type: 'json', json_download: { name: item.name, type: 'json' } })
    expect(item).not.toHaveProperty('download')
  }
  expect((await planned('/archives_json?date=2026-10-20')).archives).toEqual([])
})

test('widgets are listed by type and found by id or name', async () => {
  const { ask: planned } = await open()
  const ids = async (query: string) => (await planned(`/widgets${query}`)).widgets.map(({ id }: Body) => id) as string[]
  const offers = await ids('?widget_type=offer')
  const widgets = await ids('?widget_type=widget')
  expect([...widgets, ...offers]).toEqual(await ids(''))
  const [first] = (await planned('/widgets')).widgets
  expect(first).toMatchObject({ id_widget: 1, id: 'potencia', name: 'POTENCIA', type: 'Widget' })
  const byName = await planned('/widgets/potencia')
  expect(byName).toEqual(await planned('/widgets/1'))
  expect(byName.widget.indicators.map(({ id }: Body) => id).toSorted()).toEqual([546, 549, 550])
  expect((await planned('/widgets/potencia?locale=en')).widget.subtitle).toBe('CONVENTIONAL GEN.')
})

test('the catalogue can be filtered by term in both languages, and some descriptions are missing', async () => {
  const { ask: planned } = await open()
  const size = async (query: string) => (await planned(`/indicators?${query}`)).meta.size as number
  const all = await size('')
  const spanish = await size('taxonomy_terms[]=Generación y consumo')
  expect(spanish).toBeGreaterThan(0)
  expect(spanish).toBeLessThan(all)
  expect(await size('locale=en&taxonomy_terms[]=Generation and consumption')).toBe(spanish)
  expect(await size('taxonomy_terms[]=nothing')).toBe(0)
  const { indicators } = await planned('/indicators')
  expect(indicators.some((row: Body) => !('description' in row))).toBe(true)
  expect(indicators[0].description).toContain('&oacute;')
})
