import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { fileFolder, ms } from '../support/kit.ts'
import { NIGHTS, serveNights } from './nights.ts'
import { filledFile, HOSTILE, servePage } from './site.ts'

let server: ListeningServer & { readonly file: string }
const folder = fileFolder()
beforeAll(async () => {
  server = await serveNights(folder)
})
afterAll(() => server.close())

const get = (path: string) => fetch(server.url + path)
const picture = async (path: string): Promise<string> => (await get(path)).text()

/** The texts of a picture, as a reader sees them. */
const texts = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!)
const paths = (svg: string, colour: string): string[] =>
  [...svg.matchAll(/<path [^>]*\bd="([^"]*)"/g)].flatMap(([whole, d]) => (whole.includes(colour) ? [d!] : []))

/** Checks that elements are nested and closed, and that no attribute is repeated. */
function expectWellFormed(svg: string): void {
  const open: string[] = []
  for (const [, end, name, attributes, closed] of svg.matchAll(/<(\/?)([\w:]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g)) {
    if (end) expect(open.pop()).toBe(name)
    else if (!closed) open.push(name!)
    const names = [...attributes!.matchAll(/([\w:-]+)="/g)].map(([, key]) => key)
    expect(new Set(names).size, name).toBe(names.length)
  }
  expect(open).toEqual([])
  // Every other `<` would be markup that the pattern above does not know.
  expect(svg.replaceAll(/<\/?[\w:]+(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/g, '')).not.toContain('<')
}

describe('the picture of a series', () => {
  test('it is an SVG file with title, unit, range, source, date and legend, and needs no style or script', async () => {
    const response = await get('/series/600.svg?geo=3&from=2025-10-20&to=2025-10-27')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    const svg = await response.text()
    expectWellFormed(svg)
    expect(svg).not.toMatch(/<style|<script|style=|class=|currentColor|var\(/)
    const shown = texts(svg)
    expect(shown[0]).toMatch(/^600 .*España/)
    expect(shown[1]).toBe('€/MWh · 2025-10-20 00:00 – 2025-10-27 00:00')
    expect(shown).toContain('current values (€/MWh)')
    expect(shown.at(-2)).toMatch(/^Practice data, not real: indicator 600 · database fetched 2025-10-29 05:00$/)
    expect(shown.at(-1)).toMatch(/^Drawn 2025-10-29 11:00 · times: Europe\/Madrid$/)
    // Marks of days in local time, and a line without a gap.
    expect(shown).toContain('Fri 24')
    expect(paths(svg, '#0b57a4').some((d) => d.match(/M/g)!.length === 1 && d.length > 500)).toBe(true)
  })

  test('data of the service names it as the source', async () => {
    const { url } = await servePage(
      await filledFile((own) => own.run(`update _source set host = 'api.esios.ree.es'`, [])),
    )
    const svg = await (await fetch(`${url}/series/600.svg?geo=3`)).text()
    expect(texts(svg).at(-2)).toMatch(/^e·sios \(REE\) indicator 600 · database fetched 2025-11-04 13:00$/)
  })

  test('its parameters are those of the page: moment, compared series, summary, last days, language', async () => {
    const past = await picture(`/series/1293.svg?from=2025-10-24&to=2025-10-29&asof=${NIGHTS[2]}&with=544,600:3`)
    expect(texts(past)[1]).toMatch(/as known at 2025-10-26 05:00/)
    expect(texts(past).filter((text) => text === '€/MWh')).toHaveLength(1)
    expect(texts(past).some((text) => /544|Forecast|Demanda prevista/.test(text))).toBe(true)
    expect(texts(past).at(-2)).toContain('indicator 1293, 544, 600')
    const daily = await picture('/series/1293.svg?last=3&by=day')
    expect(texts(daily)).toContain('line: mean of each day; band: smallest to largest')
    expect(texts(daily)[1]).toContain('2025-10-27 00:00 – 2025-10-30 00:00')
    const spanish = await picture('/series/1293.svg?last=3&lang=es')
    expect(texts(spanish).at(-1)).toMatch(/^Dibujado el/)
  })

  test('missing values leave the line open, and parts that may change are shaded', async () => {
    const { url } = await servePage(
      await filledFile((store) => {
        const from = ms('2025-10-10T00:00:00Z') / 1000
        store.run('delete from observation where series_id = 1 and at >= ? and at < ?', [from, from + 86_400])
      }),
    )
    const whole = await (await fetch(`${url}/series/600.svg?geo=3&from=2025-10-05&to=2025-10-09`)).text()
    const holed = await (await fetch(`${url}/series/600.svg?geo=3&from=2025-10-05&to=2025-10-15`)).text()
    const parts = (svg: string): number => Math.max(...paths(svg, '#0b57a4').map((d) => d.match(/M/g)!.length))
    expect([parts(whole), parts(holed)]).toEqual([1, 2])
    const open = await (await fetch(`${url}/series/600.svg?geo=3&from=2025-10-25&to=2025-11-06`)).text()
    expect(open).toMatch(/<rect fill="url\(#state-provisional\)" x="[\d.]+" y="26"/)
    expect(texts(open)).toContain('provisional, may still be revised')
  })

  test('values do not touch the borders, and the present has a line', async () => {
    const svg = await picture('/series/600.svg?geo=3&from=2025-10-20&to=2025-10-31')
    const [line] = paths(svg, '#0b57a4').filter((d) => d.length > 500)
    const heights = [...line!.matchAll(/(?:V|[ML][\d.]+ )([\d.]+)/g)].map(([, y]) => Number(y))
    // The drawing begins at 26 and ends at 374.
    expect(Math.min(...heights)).toBeGreaterThan(35)
    expect(Math.max(...heights)).toBeLessThan(365)
    expect(svg).toMatch(/<text font-size="12"[^>]*>now</)
    expect(texts(await picture('/series/600.svg?geo=3&from=2025-10-20&to=2025-10-27'))).not.toContain('now')
  })

  test('a difference has its figures, a thin zero line and the hatch of the unfinished day', async () => {
    const query = 'geo=8741&from=2025-10-24&to=2025-10-30&with=1293&difference=1'
    const svg = await picture(`/series/544.svg?${query}`)
    expectWellFormed(svg)
    expect(texts(svg).slice(1, 4).join(' · ')).toMatch(/bias [+-][\d.,]+ MW, MAE [\d.,]+ MW, RMSE [\d.,]+ MW/)
    for (const text of texts(svg).slice(1, 4)) expect(text).not.toContain('…')
    const zero = [...svg.matchAll(/<path [^>]*stroke-width="0\.5"[^>]*>/g)]
    expect(zero).toHaveLength(1)
    expect(svg).not.toContain('stroke="#5b6f7c"')
    expect(svg).toMatch(/<pattern id="state-unfinished"/)
    expect(svg).toMatch(/<rect fill="url\(#state-unfinished\)"/)
    expect(texts(svg)).toContain('today, unfinished')
    const past = await picture('/series/544.svg?geo=8741&from=2025-10-24&to=2025-10-27&with=1293&difference=1')
    expect(past).not.toContain('unfinished')
  })

  test('a name with markup and control characters stays text', async () => {
    const file = await filledFile((store) =>
      store.run(`update indicator_text set name = ? || char(65535, 11) where id = 600`, [HOSTILE]),
    )
    const { url } = await servePage(file)
    const svg = await (await fetch(`${url}/series/600.svg?geo=3`)).text()
    expectWellFormed(svg)
    expect(svg).not.toMatch(/<(?:script|img|a)\b/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML must not contain them
    expect(svg).not.toMatch(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/)
  })

  test('an unknown series and a wrong time return their status, and the page of the series stays', async () => {
    expect((await get('/series/999.svg')).status).toBe(404)
    const wrong = await get('/series/600.svg?from=soon')
    expect([wrong.status, await wrong.json()]).toEqual([400, expect.objectContaining({ code: 'bad-time' })])
    expect((await get('/series/600')).headers.get('content-type')).toMatch(/^text\/html/)
    expect((await get('/series/600.json')).headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('the page links to the picture of its own range', async () => {
    const html = await picture(`/series/600?geo=3&last=7&asof=${NIGHTS[3]}`)
    const [, address] = /<a href="([^"]+)" download="600-3-[\w-]+\.svg">SVG<\/a>/.exec(html) ?? []
    const query = new URL(address!.replaceAll('&amp;', '&'), 'http://here').searchParams
    expect(Object.fromEntries(query)).toMatchObject({ geo: '3', last: '7', asof: NIGHTS[3] })
  })
})

test('the panel of a difference ends where the chart above does, beside an axis of another unit', async () => {
  const svg = await picture('/series/544.svg?geo=8741&from=2025-10-24&to=2025-10-27&with=1293,600:3&difference=1')
  const rights = [...svg.matchAll(/<path fill="none" stroke="#dbe0dc" d="M64 [\d.]+H([\d.]+)"/g)].map(
    ([, right]) => right,
  )
  expect(rights.length).toBeGreaterThan(4)
  expect(new Set(rights).size).toBe(1)
})
