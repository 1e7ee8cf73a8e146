import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { RECIPES } from '../support/genericRecipes.ts'
import { fileFolder } from '../support/kit.ts'
import { serveDemo } from './site.ts'

let server: ListeningServer
const folder = fileFolder()
beforeAll(async () => {
  server = await serveDemo(folder)
})
afterAll(() => server.close())

const get = (path: string) => fetch(server.url + path)
const page = async (path: string): Promise<string> => (await get(path)).text()
const statement = (sql: string, more = '', path = '/sql'): string => `${path}?sql=${encodeURIComponent(sql)}${more}`

const DAYS = 'select local_date, min, max from observations_daily where series_id = 1 and geo_id = 3 order by 1'

/** The addresses of the links that choose a chart. */
const choices = (html: string): URLSearchParams[] =>
  [...html.matchAll(/<a href="\/sql\?([^"]*)"(?: aria-current="true")?>(?:Table|Line|Bars)<\/a>/g)].map(
    ([, query]) => new URLSearchParams(query!.replaceAll('&amp;', '&')),
  )
const current = (html: string): string | undefined => /aria-current="true">(Table|Line|Bars)</.exec(html)?.[1]

describe('the chart of a statement', () => {
  test('a result of days has a table by default, lines and bars by its address, and the table stays below', async () => {
    const table = await page(statement(DAYS))
    expect(choices(table).map((query) => query.get('chart'))).toEqual(['table', 'line', 'bars'])
    expect(current(table)).toBe('Table')
    expect(table).not.toContain('<svg class="figure"')
    const line = await page(statement(DAYS, '&chart=line&y=max'))
    expect(current(line)).toBe('Line')
    expect(line).toMatch(/<svg class="figure"[^>]*aria-label="max by local_date\./)
    expect(line.match(/<path class="line now" d="M/g)).toHaveLength(1)
    expect(line).toContain('<th scope="col"><bdi>local_date</bdi></th>')
    // The other kinds keep the columns, and the statement keeps the chart when it runs again.
    expect(choices(line).map((query) => [query.get('chart'), query.get('y')])).toEqual([
      ['table', 'max'],
      ['line', 'max'],
      ['bars', 'max'],
    ])
    expect(line).toContain('<input type="hidden" name="chart" value="line">')
    const bars = await page(statement(DAYS, '&chart=bars&y=min&y=max'))
    expect(bars.match(/<path class="bar (now|then)" d="M/g)).toHaveLength(2)
    expect(bars).toContain('name="y" value="min" checked>')
  })

  test('a result of names has bars only, and one without numbers no chart', async () => {
    const names = await page(statement('select geo_name, count(*) as n from freshness group by 1', '&chart=line'))
    expect(choices(names).map((query) => query.get('chart'))).toEqual(['table', 'bars'])
    expect(names).toMatch(/<svg class="figure"[\s\S]*<rect class="bar now"/)
    const texts = await page(statement("select '2025-10-01' as day, 'x' as text", '&chart=line'))
    expect(choices(texts)).toEqual([])
    expect(texts).not.toContain('<svg class="figure"')
  })

  test('names and column names with markup stay text', async () => {
    const sql = `select '<script>x</script>' as "<b>", 1 as "<i>"`
    for (const path of ['/sql', '/sql.svg']) {
      const text = await page(statement(sql, '&chart=bars', path))
      expect(text).not.toMatch(/<script>|<b>|<i>/)
      expect(text).toContain('&lt;script&gt;x&lt;/script&gt;: 1.00')
    }
  })

  test('the chart is also a picture, with its source', async () => {
    const response = await get(statement(DAYS, '&chart=line', '/sql.svg'))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    const svg = await response.text()
    expect(svg).toMatch(/<text[^>]*>Practice data, not real: SQL query · database fetched [\d :-]{16}</)
    expect(svg).toMatch(/<path fill="none" stroke="#0b57a4"[^>]* d="M/)
    expect(svg).not.toContain('class=')
    const none = await get(statement('select 1', '', '/sql.svg'))
    expect([none.status, await none.json()]).toEqual([400, expect.objectContaining({ code: 'no-chart' })])
    expect((await get('/sql.svg')).status).toBe(400)
    const foreign = await fetch(server.url + statement(DAYS, '&chart=line', '/sql.svg'), {
      headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
    })
    expect(foreign.status).toBe(403)
  })
})

describe('a recipe on the page', () => {
  test.each(RECIPES.map((recipe) => [recipe.name, recipe] as const))(
    '%s shows its chart at once, as a page and as a picture',
    async (name, { chart }) => {
      const html = await page(`/sql?recipe=${name}&p.from=`)
      expect(html).not.toContain('role="alert"')
      if (chart === null) {
        expect(html).not.toContain('<svg class="figure"')
        return
      }
      const kind = chart.kind === 'line' ? 'Line' : 'Bars'
      // Without rows there is nothing to draw.
      if (html.includes('No rows.')) return
      expect(current(html)).toBe(kind)
      const mark = chart.kind === 'line' ? 'line' : 'bar'
      const lines = html.match(new RegExp(`<path class="${mark} [\\w-]+" d="M`, 'g')) ?? []
      expect(lines.length).toBeGreaterThanOrEqual(chart.by === undefined ? chart.y.length : 1)
      expect(html).toMatch(new RegExp(`<option value="${chart.x}" selected>`))
      for (const y of chart.y) expect(html).toContain(`value="${y}" checked>`)
      expect((await get(`/sql.svg?recipe=${name}&p.from=`)).status).toBe(200)
    },
  )

  test('few recipes have no rows in the practice data', async () => {
    const empty = await Promise.all(
      RECIPES.map(async ({ name }) => ((await page(`/sql?recipe=${name}&p.from=`)).includes('No rows.') ? name : [])),
    )
    // Five weeks have no year before, and no unusual day.
    expect(empty.flat()).toEqual(['year-on-year', 'spikes'])
  })

  test('its range begins a year ago by default, and an empty field means no limit', async () => {
    const data = async (path: string) =>
      (await (await get(path)).json()) as { parameters: { name: string; value: string; type: string }[] }
    const from = async (path: string) => (await data(path)).parameters.find(({ name }) => name === 'from')
    expect(await from('/sql.json?recipe=daily-average')).toEqual({ name: 'from', value: '2024-11-04', type: 'day' })
    expect(await from('/sql.json?recipe=daily-average&p.from=')).toMatchObject({ value: '' })
    expect(await page('/sql?recipe=daily-average')).toContain(
      '<input id="p.from" name="p.from" value="2024-11-04" type="date" autocomplete="off">',
    )
    // A statement without a recipe gets what the address says.
    expect((await data(statement('select :from', '', '/sql.json'))).parameters[0]).toMatchObject({ value: '' })
  })

  test('indicators and geos may be names, and are shown with their names', async () => {
    const html = await page('/sql?recipe=daily-average&p.indicator=day-ahead+spot+market+price&p.geo=espana')
    expect(html).toMatch(
      /name="p\.indicator" value="600"[^>]* data-pick="indicator"[^>]*>.*?<small[^>]*><bdi>Day-ahead spot/,
    )
    expect(html).toMatch(/name="p\.geo" value="3"[^>]* list="geos"[^>]*> <small[^>]*><bdi>España/)
    const several = await page('/sql?recipe=monthly-energy&p.indicators=real-time+wind+generation,1295')
    expect(several).toMatch(
      /name="p\.indicators" value="551,1295"[^>]*>.*?<small[^>]*><bdi>Real-time wind[^<]*, [^<]+</,
    )
    const csv = await page('/sql.csv?recipe=daily-average&p.indicator=day-ahead+spot+market+price&p.geo=espana')
    expect(csv.split('\n').length).toBeGreaterThan(10)
    const unknown = await get('/sql?recipe=daily-average&p.geo=atlantis')
    expect(unknown.status).toBe(400)
    expect(await unknown.text()).toContain('No stored name or number matches “atlantis”.')
    const ambiguous = await get('/sql?recipe=daily-average&p.indicator=demand')
    expect([ambiguous.status, await ambiguous.text()]).toEqual([400, expect.stringContaining('matches several series')])
  })

  test('a moment of a form is local time', async () => {
    const html = await page('/sql?recipe=known-at&p.at=2025-11-03T19:00')
    expect(html).toContain('name="p.at" value="2025-11-03T19:00" type="datetime-local"')
    const { parameters } = (await (await get('/sql.json?recipe=known-at&p.at=2025-11-03T19:00')).json()) as {
      parameters: object[]
    }
    expect(parameters).toContainEqual({ name: 'at', value: '2025-11-03T18:00:00.000Z', type: 'instant' })
  })
})
