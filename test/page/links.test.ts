import { join } from 'node:path'
import { expect, test } from 'vitest'
import { publish } from '../../src/reports/publishCopy.ts'
import { RECIPES } from '../support/genericRecipes.ts'
import { tempFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'
import { filledFile, servePage } from './site.ts'

/** Returns the form of a URL without its numbers: one page of each form is enough. */
const shapeOf = ({ pathname, searchParams }: URL): string =>
  `${pathname.replace(/\d[\d:T+-]*/g, '0')}?${[...searchParams.keys()].sort()}`

/** A database of series that were fetched with all geos together. */
const together = () =>
  filledFile((store) => {
    store.run('update _coverage set geo_id = 0 where geo_id = 8741', [])
  })

test('every link of every page leads to an existing page', async () => {
  const { url } = await servePage(await together())
  const shapes = new Set<string>()
  const left: (readonly [address: URL, from: string])[] = [[new URL(url), '']]
  const broken: string[] = []
  for (const [address, from] of left) {
    const response = await fetch(address, { headers: { 'sec-fetch-site': 'same-origin' } })
    const text = await response.text()
    if (!response.ok) broken.push(`${response.status} ${address} of ${from}`)
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue
    for (const [, link] of text.matchAll(/(?:href|src|action)="([^"]*)"/g)) {
      const to = new URL(link!.replaceAll('&amp;', '&'), address)
      const shape = shapeOf(to)
      if (to.origin !== address.origin) broken.push(`${to} of ${address}`)
      // One page of each form in one language is enough; endless responses are not read.
      if (shapes.has(shape) || to.searchParams.has('lang') || to.pathname === '/api/live') continue
      shapes.add(shape)
      left.push([to, String(address)])
    }
  }
  expect(broken).toEqual([])
  expect(shapes.size).toBeGreaterThan(40)
})

test('a geo that was requested with all others has the coverage of all', async () => {
  const { url } = await servePage(await together())
  const read = async (query: string): Promise<object> =>
    (await (await fetch(`${url}/coverage/1293.json${query}`)).json()) as object
  expect(await read('?geo=8741')).toEqual({ ...(await read('')), geo: 8741 })
  expect((await fetch(`${url}/coverage/1293?geo=3`)).status).toBe(400)
})

test('/series without a name redirects to the list of series', async () => {
  const { url } = await servePage(await together())
  for (const [path, to] of [
    ['/series', '/'],
    ['/series/', '/'],
    ['/series.json', '/index.json'],
  ]) {
    const { status, headers } = await fetch(url + path, { redirect: 'manual' })
    expect([path, status, headers.get('location')]).toEqual([path, 302, to])
  }
})

test('a state has the same symbol on every page', async () => {
  const { url } = await servePage(await together())
  const text = async (path: string) => (await fetch(url + path)).text()
  const overview = await text('/coverage')
  expect(overview).toMatch(/<td class="provisional[^>]*>/)
  expect(overview).toMatch(/<span class="cell provisional"[^>]*>~</)
  const [, style] = /href="([^"]*page\.css)"/.exec(overview)!
  expect(await text(style!)).toContain('.grid td.provisional > ::before{content:"~"')
  expect(await text('/series/600')).toMatch(/class="mark state-provisional"[^>]*>~</)
})

test('the page of a published copy says so and lists its runs, unlike an empty database', async () => {
  const empty = join(tempFolder(), 'empty.db')
  await (await openStore(empty)).close()
  const copy = join(tempFolder(), 'copy.db')
  const store = await openStore(await filledFile(() => undefined))
  await publish(store, copy)
  await store.close()
  const home = async (file: string) => (await fetch((await servePage(file)).url)).text()
  expect(await home(empty)).not.toMatch(/published|Last runs/)
  expect(await home(copy)).toMatch(/Last runs[\s\S]*href="\/runs\/1"/)
})

test('a recipe names the indicators that it needs and that are not stored, with the line of a job', async () => {
  const { url } = await servePage(await together())
  const get = async (path: string) => (await fetch(url + path)).text()
  const page = await get('/sql?recipe=session-spread&lang=en')
  expect(page).toMatch(/needs indicators that are not stored:<\/p>\n<ul><li>612 /)
  expect(page).toContain('series: [{ indicators: [612], window: { last: 30d } }]')
  expect(page).not.toContain('No rows.')
  expect(await get('/sql?recipe=session-spread&lang=es')).toContain('Esta receta necesita indicadores que no están')
  expect(JSON.parse(await get('/sql.json?recipe=session-spread'))).toMatchObject({
    lacking: [{ id: 612 }],
    result: null,
  })
  // With other parameters, and as an edited statement, it runs.
  expect(await get('/sql?recipe=session-spread&p.other=600&lang=en')).not.toContain('not stored')
  const edited = new URLSearchParams({ recipe: 'session-spread', sql: 'select 7 as seven', lang: 'en' })
  expect(await get(`/sql?${edited}`)).toContain('seven')
})

test('a recipe lists the geos of its indicator and its question in the language of the page', async () => {
  const { url } = await servePage(await together())
  const get = async (path: string) => (await fetch(url + path)).text()
  const box = await get('/sql?recipe=daily-average&lang=es')
  expect(box).toMatch(/name="p\.geo"[^>]* list="geos"/)
  expect(box).toMatch(/<datalist id="geos">(?:<option value="\d+">[^<]*<\/option>)*<option value="3">Espa/)
  for (const { name } of RECIPES) expect(box).toMatch(new RegExp(`>${name}</a> <span lang="es">¿`))
  expect(await get('/sql?lang=en')).toMatch(/>latest-news<\/a> <span lang="en">What is the latest news/)
})
