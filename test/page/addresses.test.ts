import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningServer } from '../../src/util/listen.ts'
import { emulate, runJob, tempStore } from '../support/kit.ts'
import { NOW, servePage, sharedFile, startPage } from './site.ts'

let server: ListeningServer
beforeAll(async () => {
  server = await startPage(await sharedFile())
})
afterAll(() => server.close())

async function ask(path: string, language = 'en') {
  const response = await fetch(server.url + path, { headers: { 'accept-language': language } })
  return { status: response.status, text: await response.text() }
}

describe('a wrong parameter of an address', () => {
  test.each([
    ['/series/600?by=decade', 'hour, day, week, month, year'],
    ['/series/600?shift=month', 'day, week, weeks, year'],
    ['/series/600?difference=yes', '1'],
    ['/series/600?geo=99', '1 Portugal, 3 España'],
    ['/series/600?geo=Spain', '1 Portugal, 3 España'],
    ['/coverage/600?geo=99', '1 Portugal, 3 España'],
    ['/coverage/600?year=20255', '1970 … 2099'],
    ['/coverage?page=x', '1 … 9'],
    ['/?page=-1', '1 … 9'],
    ['/runs?before=yesterday', '0 … 9'],
    ['/runs/1?before=-', '0 … 9'],
    ['/quarantine?before=x', '0 … 9'],
    ['/indicators?held=some', 'all, held, other'],
    ['/search?q=price&in=everywhere', 'all, '],
    ['/texts?kind=poems', 'news'],
    ['/sql?recipe=cake', 'daily-average, '],
  ])('gets status 400 with what is legal: %s', async (path, legal) => {
    const { status, text } = await ask(path)
    expect(status).toBe(400)
    const [name, value] = [...new URL(path, 'http://x').searchParams].at(-1)!
    expect(text).toContain(`${name} cannot be “${value}”. Possible values: `)
    expect(text).toContain(legal)
    const spanish = await ask(path, 'es')
    expect(spanish.text).toContain(`${name} no puede ser «${value}». Valores posibles: `)
    const data = await ask(path.replace(/^([^?]*[^/?])\??/, '$1.json?').replace(/^\/\?/, '/index.json?'))
    expect(data.status).toBe(400)
    expect(data.text).toContain(legal)
  })

  test.each(['by=decade', 'geo=99', 'from=yesterday', 'from=2026-11-20T99:99', 'to=2026-11-20T23:60', 'last=week'])(
    'of a chart keeps the form usable: %s',
    async (query) => {
      const { text } = await ask(`/series/600?${query}`)
      expect(text).toMatch(/<p class="bad" role="alert">[^<]+<\/p>/)
      expect(text).toContain('<form class="choose"')
    },
  )

  test.each(['by=decade', 'shift=month', 'px=wide'])('is refused with the data of a chart: %s', async (query) => {
    const { status, text } = await ask(`/api/series/600/3?${query}`)
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { code: 'bad-parameter', hint: expect.stringMatching(/Legal/) },
    ])
  })

  test('is not one that a form leaves empty', async () => {
    expect((await ask('/series/600?by=&shift=&geo=&from=&to=')).status).toBe(200)
  })
})

test('a refused statement has its reason in Spanish', async () => {
  const { text } = await ask('/sql?sql=select%20nothing', 'es')
  expect(text).toContain('La base de datos rechazó la sentencia.')
  expect((await ask('/sql?sql=select%20nothing')).text).toContain('The database refused the statement.')
})

/** The sign of the header, and the heading and findings of the overview. */
async function signs(url: string) {
  const text = await (await fetch(`${url}/?lang=en`)).text()
  const runs = await (await fetch(`${url}/runs?lang=en`)).text()
  const sign = (page: string) => /class="synced"[^>]*><span class="(\w+)">/.exec(page)![1]
  return { header: sign(text), other: sign(runs), heading: /<h1>([^<]*)/.exec(text)![1], runs }
}

test('the header of every page has the state of the overview', async () => {
  // The shared database has a request that failed in a run that was finished.
  const wrong = await signs(server.url)
  expect([wrong.heading, wrong.header, wrong.other]).toEqual(['Needs attention', 'warn', 'warn'])
  expect(wrong.runs).toContain('<b>Needs attention</b>')
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  await runJob(store, emulator, 'series: [{ indicators: [600], geoIds: [3], window: { last: 2d } }]', { now: NOW })
  const { url } = await servePage(store.file)
  const well = await signs(url)
  expect([well.heading, well.header, well.other]).toEqual(['Up to date', 'good', 'good'])
  // A later retry that failed for another reason is no finding, so that the header has no sign of it.
  store.run(
    `insert into _run (command, job, version, started_at, finished_at, outcome, message, requests, failed, bytes, rows_new, rows_unchanged,
       rows_revised, rows_withdrawn, rows_rejected)
     values ('retry', 'retry', '0', '2025-11-04T12:00:01Z', '2025-11-04T12:00:02Z', 'failed', 'x', 0, 0, 0, 0, 0, 0, 0, 0)`,
    [],
  )
  const after = await signs(url)
  expect(after.header).toBe(after.heading === 'Up to date' ? 'good' : 'bad')
  expect(after.other).toBe(after.header)
})
