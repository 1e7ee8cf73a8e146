import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Parameters, prepareRecipe } from '../../src/cli/statements/prepareRecipe.ts'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { copyInto } from '../../src/reports/publishCopy.ts'
import { SERVICES } from '../../src/service/services.ts'
import { InputError } from '../../src/util/errors.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { RECIPES } from '../support/genericRecipes.ts'
import { fileFolder, ms, onlyInFile, runCommand, runJob, tempStore } from '../support/kit.ts'
import { openStore, type Store } from '../support/testStore.ts'

type Row = Record<string, number | string | null>
const NOW = Date.parse('2025-11-20T12:00:00Z')

/** Returns the rows of a recipe, or the explanation of an empty result, as a user gets it. */
async function answerOf(store: Store, name: string, given: Parameters = {}, now = NOW): Promise<Row[] | string> {
  const recipe = RECIPES.find((one) => one.name === name)!
  try {
    const { parameters } = await prepareRecipe(store, recipe, given, SERVICES.generic, now / 1000)
    const rows = store.all(recipe.sql, parameters) as Row[]
    return rows.length > 0 ? rows : recipe.empty.message
  } catch (error) {
    if (error instanceof InputError) return `${error.message} → ${error.hint}`
    throw error
  }
}
const rowsOf = async (store: Store, name: string, given: Parameters = {}): Promise<Row[]> => {
  const answer = await answerOf(store, name, given)
  if (typeof answer === 'string') throw new Error(answer)
  return answer
}

/** The start of quarter-hours for the indicators that changed in October 2025. */
const CHANGE = Date.parse('2025-09-30T22:00:00Z') / 1000
function stepAt(id: number, at: number): number {
  if (id !== 600 && id !== 602) return 300
  return at < CHANGE ? 3600 : 900
}
const worthOf = (id: number, geo: number, at: number): number =>
  Math.round(100 * (Math.sin(at / 7_919 + id) * 60 + ((at / 300) % 7) + geo + (id === 600 ? 0 : 200))) / 100

/** Starts a service whose grouped values differ strongly from the native ones, to reveal mix-ups. */
function startService() {
  return createServer((request, response) => {
    const url = new URL(request.url!, 'http://x')
    const id = Number(/\d+/.exec(url.pathname)![0])
    const [from, to] = ['start_date', 'end_date'].map((name) => Date.parse(url.searchParams.get(name)!) / 1000) as [
      number,
      number,
    ]
    const grouped = url.searchParams.get('time_trunc') !== null
    const values = []
    for (let at = from; at <= to; at += grouped ? 3600 : stepAt(id, at))
      for (const geo of id === 600 ? [3, 8741] : [8741])
        values.push({
          value: grouped ? 100_000 : worthOf(id, geo, at),
          datetime: new Date(at * 1000).toISOString(),
          geo_id: geo,
          geo_name: `Geo ${geo}`,
        })
    const tiempo = { 300: 222, 900: 218, 3600: 4 }[grouped ? 3600 : stepAt(id, from)]
    response.setHeader('Content-Type', 'application/json')
    const magnitud = [id === 600 ? { id: 23, name: 'Precio' } : { id: 20, name: 'Potencia' }]
    response.end(
      JSON.stringify({ indicator: { id, name: `Indicator ${id}`, magnitud, tiempo: [{ id: tiempo }], values } }),
    )
  })
}
const JOB = `series:
  - { indicators: [600], window: { from: 2025-03-27, to: 2025-04-02 } }
  - { indicators: [600], window: { from: 2025-09-29, to: 2025-11-03 } }
  - { indicators: [600, 1293], timeTrunc: hour, timeAgg: average, window: { from: 2025-09-29, to: 2025-11-03 } }
  - { indicators: [544], window: { from: 2024-10-25, to: 2024-10-29 } }
  - { indicators: [551, 1295, 544], window: { from: 2025-10-24, to: 2025-11-01 } }
`

const folder = fileFolder()
let store: Store
let demo: Store
beforeAll(async () => {
  store = await openStore(join(folder, 'own.db'))
  demo = await copyDemo(join(folder, 'demo.db'))
  const server = startService()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { outcome } = await runJob(store, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, JOB, {
    now: NOW,
  })
  server.close()
  expect(outcome).toBe('done')
})
afterAll(async () => {
  await store.close()
  await demo.close()
})

const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Madrid',
  dateStyle: 'short',
  timeStyle: 'medium',
})
/** Returns the values of the native series, with local day and hour by Intl. */
function raw(db: Store, indicator: number, geo: number) {
  const rows = db.all(
    `select o.at, o.value, o.step_s as step from observation o join series s on s.id = o.series_id
     where s.indicator_id = ? and s.time_trunc is null and s.geo_agg is null and o.geo_id = ? order by o.at`,
    [indicator, geo],
  ) as { at: number; value: number; step: number }[]
  return rows.map((row) => {
    const [day, clock] = CLOCK.format(row.at * 1000).split(' ') as [string, string]
    return { ...row, day, hour: Math.floor(row.at / 3600), clock: clock.slice(0, 2) }
  })
}
type Raw = ReturnType<typeof raw>[number]
function grouped<K>(rows: readonly Raw[], key: (row: Raw) => K): Map<K, Raw[]> {
  const groups = new Map<K, Raw[]>()
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row])
  return groups
}
const mean = (rows: readonly Raw[]): number =>
  rows.reduce((sum, { value, step }) => sum + value * step, 0) / rows.reduce((sum, { step }) => sum + step, 0)
const hours = (rows: readonly Raw[]): Map<number, number> =>
  new Map([...grouped(rows, ({ hour }) => hour)].map(([hour, all]) => [hour, mean(all)]))

describe('every recipe', () => {
  test('every recipe returns rows after init and sync, or its explanation', async () => {
    const now = Date.parse('2025-11-20T12:00:00Z')
    const filled = await tempStore()
    const emulator = await startEmulator({ now: now / 1000 })
    const job = readFileSync('jobs/nightly.yaml', 'utf8').replace(/^pace:.*$|^name:.*$/gm, '')
    // Ten years of history would add nothing here.
    const summary = await runJob(filled, emulator, job.replaceAll('2021-06-01', '2025-10-20'), { now })
    await emulator.close()
    expect(summary.failures.map(({ error }) => error.message)).toEqual([])
    const results: Record<string, Row[] | string> = {}
    for (const { name } of RECIPES) results[name] = await answerOf(filled, name, {}, now)
    const sentences = Object.entries(results).filter(([, answer]) => typeof answer === 'string')
    expect(Object.fromEntries(sentences)).toEqual({
      'known-at': expect.stringMatching(/No value that was stored at that instant has changed/),
      'year-on-year': expect.stringMatching(/No stored day in this range has a counterpart a year before/),
      spikes: expect.stringMatching(/No day in this range had an unusual extreme/),
      'revisions-by-age': expect.stringMatching(/No value in this range has been revised/),
    })
    for (const id of [600, 612, 1001, 1739, 602, 10211, 1293])
      expect(
        filled.get(
          'select count(*) from series_geo g join series s on s.id = g.series_id where s.indicator_id = ? and s.time_trunc is null',
          [id],
        ),
        `${id} has the geos that the job asks`,
      ).toBe(1)
  })
})

describe('recipe results, compared with a loop over the values', () => {
  test.each([3, 8741])(
    'daily-average of geo %i is correct on days of 23 and 25 hours and with mixed steps',
    async (geo) => {
      const days = grouped(raw(store, 600, geo), ({ day }) => day)
      const rows = await rowsOf(store, 'daily-average', { geo })
      expect(rows.map(({ local_date }) => local_date)).toEqual([...days.keys()])
      for (const { local_date, periods, average, minimum } of rows) {
        const all = days.get(String(local_date))!
        expect(periods).toBe(all.length)
        expect(average).toBeCloseTo(mean(all), 1)
        expect(minimum).toBe(Math.min(...all.map(({ value }) => value)))
      }
      const periods = Object.fromEntries(rows.map((row) => [row.local_date, row.periods]))
      expect([periods['2025-03-30'], periods['2025-09-30'], periods['2025-10-01'], periods['2025-10-26']]).toEqual([
        23, 24, 96, 100,
      ])
    },
  )

  test('sums are rounded twice, so that engines agree at halves', () => {
    /** Returns the arguments of each call of round. */
    const rounds = (sql: string): string[] =>
      [...sql.matchAll(/\bround\(/g)].map(({ index }) => {
        let at = index + 'round('.length
        let depth = 1
        const from = at
        for (; depth > 0; at++) {
          if (sql[at] === '(') depth++
          if (sql[at] === ')') depth--
        }
        return sql.slice(from, at - 1)
      })
    for (const { name, sql } of RECIPES)
      for (const one of rounds(sql).filter((text) => /\b(?:sum|avg)\(/.test(text) && !/, [456]$/.test(text)))
        expect(one, name).toMatch(/^round\(.*, [456]\), [012]$/)
  })

  test('negative-price-hours counts time, not periods', async () => {
    const months = grouped(raw(store, 600, 3), ({ day }) => day.slice(0, 7))
    for (const row of await rowsOf(store, 'negative-price-hours')) {
      const below = months.get(String(row.local_month))!.filter(({ value }) => value < 0)
      expect(below.length).toBeGreaterThan(0)
      expect(row.hours_below_zero).toBe(below.reduce((sum, { step }) => sum + step, 0) / 3600)
    }
  })

  test('price-duration-curve contains every twentieth of the time', async () => {
    const sorted = raw(store, 600, 3).sort((a, b) => b.value - a.value)
    const whole = sorted.reduce((sum, { step }) => sum + step, 0)
    const curve = await rowsOf(store, 'price-duration-curve')
    expect(curve.map(({ percent_of_time }) => percent_of_time)).toEqual(Array.from({ length: 20 }, (_, i) => 5 * i + 5))
    for (const { percent_of_time, price } of curve) {
      const time = sorted.filter(({ value }) => value >= Number(price)).reduce((sum, { step }) => sum + step, 0)
      const less = sorted.filter(({ value }) => value > Number(price)).reduce((sum, { step }) => sum + step, 0)
      expect(time * 100).toBeGreaterThanOrEqual(whole * Number(percent_of_time))
      expect(less * 100).toBeLessThan(whole * Number(percent_of_time))
    }
  })

  test('daily-profile weights hours and quarter-hours by their length', async () => {
    const rows = raw(store, 600, 3)
    for (const { local_hour, weekday, weekend } of await rowsOf(store, 'daily-profile')) {
      const at = rows.filter(({ clock }) => clock === local_hour)
      const free = ({ day }: Raw) => [0, 6].includes(new Date(day).getUTCDay())
      expect(weekend).toBeCloseTo(mean(at.filter(free)), 1)
      expect(weekday).toBeCloseTo(mean(at.filter((row) => !free(row))), 1)
    }
  })

  test('by-canary-hour has the days and hours of Canary clocks, also on days with 23 and 25 hours', async () => {
    const canary = new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'Atlantic/Canary',
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    const days = { indicator: 600, geo: 3, from: '2025-03-30', to: '2025-10-27' }
    const wanted = [...grouped(raw(store, 600, 3), ({ hour }) => hour)].flatMap(([hour, all]) => {
      const [canary_date, clock] = canary.format(hour * 3_600_000).split(' ') as [string, string]
      if (canary_date < days.from || canary_date >= days.to) return []
      return [{ canary_date, canary_hour: clock.slice(0, 2), mainland_hour: all[0]!.clock, price: mean(all) }]
    })
    const found = await rowsOf(store, 'by-canary-hour', days)
    expect(found.map(({ price, unit, canary_time, ...row }) => row)).toEqual(wanted.map(({ price, ...row }) => row))
    for (const [i, { price }] of found.entries()) expect(price).toBeCloseTo(wanted[i]!.price, 1)
    const hoursOf = (date: string) =>
      found.filter(({ canary_date }) => canary_date === date).map((row) => row.canary_hour)
    expect([hoursOf('2025-03-30').length, hoursOf('2025-10-26').length]).toEqual([23, 25])
    expect(hoursOf('2025-10-26').slice(0, 4)).toEqual(['00', '01', '01', '02'])
    expect(await rowsOf(demo, 'by-canary-hour')).not.toEqual([])
  })

  test('capture-price weights each hour by its production', async () => {
    const price = hours(raw(store, 600, 3))
    const made = raw(store, 1295, 8741).filter(({ day }) => day < '2025-11')
    const energy = [...grouped(made, ({ hour }) => hour)].map(([hour, all]) => [price.get(hour)!, mean(all)] as const)
    const total = energy.reduce((sum, [, mwh]) => sum + mwh, 0)
    expect(await rowsOf(store, 'capture-price')).toEqual([
      expect.objectContaining({
        local_month: '2025-10',
        mwh: Math.round(total),
        capture_price: expect.closeTo(energy.reduce((sum, [eur, mwh]) => sum + eur * mwh, 0) / total, 1),
        average_price: expect.closeTo(energy.reduce((sum, [eur]) => sum + eur, 0) / energy.length, 1),
      }),
    ])
  })

  test('monthly-energy and forecast-error match the calculation', async () => {
    const energy = await rowsOf(store, 'monthly-energy', { indicators: '551,1295' })
    expect(energy).toHaveLength(2)
    for (const { indicator_id, mwh, hours: covered } of energy) {
      const all = raw(store, Number(indicator_id), 8741)
      expect(mwh).toBe(Math.round(all.reduce((sum, { value, step }) => sum + (value * step) / 3600, 0)))
      expect(covered).toBe(8 * 24 + 1)
    }
    const f = hours(raw(store, 544, 8741))
    const r = grouped(raw(store, 551, 8741), ({ day }) => day)
    for (const row of await rowsOf(store, 'forecast-error', { real: 551 })) {
      const errors = [...hours(r.get(String(row.local_date))!)].map(([hour, mw]) => f.get(hour)! - mw)
      expect(row.hours).toBe(row.local_date === '2025-10-26' ? 25 : 24)
      const average = (of: (error: number) => number) =>
        Math.round((100 * errors.reduce((sum, error) => sum + of(error), 0)) / errors.length) / 100
      expect(row.bias).toBeCloseTo(
        average((error) => error),
        1,
      )
      expect(row.mae).toBeCloseTo(average(Math.abs), 1)
      expect(row.rmse).toBeCloseTo(Math.sqrt(average((error) => error ** 2)), 1)
    }
  })

  test('an indicator that is listed twice counts once', async () => {
    for (const [name, list] of [
      ['residual-load', 'renewables'],
      ['renewable-share', 'renewables'],
      ['monthly-energy', 'indicators'],
    ] as const) {
      const given = { ...(list === 'renewables' && { demand: 544 }), from: '2025-10-24', to: '2025-11-01' }
      const once = await rowsOf(store, name, { ...given, [list]: '551,1295' })
      expect(await rowsOf(store, name, { ...given, [list]: '551, 1295,551' })).toEqual(once)
    }
  })

  test('load-weighted-price weights each hour by any other indicator', async () => {
    const prices = hours(raw(store, 600, 3))
    const weights = hours(raw(store, 544, 8741).filter(({ day }) => day > '2025'))
    const pairs = [...weights].map(([hour, weight]) => [prices.get(hour)!, weight] as const)
    const weight = pairs.reduce((sum, [, mwh]) => sum + mwh, 0)
    const average = pairs.reduce((sum, [eur]) => sum + eur, 0) / pairs.length
    const weighted = pairs.reduce((sum, [eur, mwh]) => sum + eur * mwh, 0) / weight
    expect(await rowsOf(store, 'load-weighted-price', { weight: 544 })).toEqual([
      {
        local_month: '2025-10',
        hours: pairs.length,
        weight: Math.round(weight),
        weighted_price: expect.closeTo(weighted, 1),
        average_price: expect.closeTo(average, 1),
        difference: expect.closeTo(weighted - average, 1),
      },
    ])
    // A price has no energy: its values are the weights.
    const own = [...prices].filter(([hour]) => weights.has(hour)).map(([, eur]) => eur)
    const range = { from: '2025-10-24', to: '2025-11-01' }
    const [row] = await rowsOf(store, 'load-weighted-price', { weight: 600, weight_geo: 3, ...range })
    expect(row!.weighted_price).toBeCloseTo(
      own.reduce((sum, eur) => sum + eur ** 2, 0) / own.reduce((sum, eur) => sum + eur, 0),
      1,
    )
  })

  test('year-on-year compares the days that both years have', async () => {
    const all = raw(store, 544, 8741)
    const days = ['25', '26', '27', '28'].map((day) => `10-${day}`)
    const mean = (year: number) => {
      const rows = all.filter(({ day }) => days.some((end) => day === `${year}-${end}`))
      return (
        rows.reduce((sum, { value, step }) => sum + value * step, 0) / rows.reduce((sum, { step }) => sum + step, 0)
      )
    }
    expect(await rowsOf(store, 'year-on-year', { indicator: 544, geo: 8741 })).toEqual([
      {
        local_month: '2025-10',
        days: 4,
        average: expect.closeTo(mean(2025), 1),
        year_before: expect.closeTo(mean(2024), 1),
        change: expect.closeTo(mean(2025) - mean(2024), 1),
        change_percent: expect.closeTo((100 * mean(2025)) / mean(2024) - 100, 0),
        unit: 'MW',
      },
    ])
    const range = { from: '2025-10-26', to: '2025-10-28' }
    expect(await rowsOf(store, 'year-on-year', { indicator: 544, geo: 8741, ...range })).toMatchObject([{ days: 2 }])
    expect(await answerOf(store, 'year-on-year')).toMatch(/No stored day in this range has a counterpart/)
  })

  test('spikes are days whose extremes are far from those of the 30 days before, with their news', async () => {
    for (const [db, deviations] of [
      [store, 1.5],
      [demo, 1],
    ] as const) {
      const days = [...grouped(raw(db, 600, 3), ({ day }) => day)]
      const expected = days.flatMap(([day], i) =>
        (['high', 'low'] as const).flatMap((kind) => {
          const extreme = (all: readonly Raw[]) =>
            (kind === 'high' ? Math.max : Math.min)(...all.map(({ value }) => value))
          const before = days.slice(Math.max(0, i - 30), i).map(([, all]) => extreme(all))
          const usual = before.reduce((sum, value) => sum + value, 0) / before.length
          const deviation = Math.sqrt(before.reduce((sum, value) => sum + (value - usual) ** 2, 0) / before.length)
          const distance = (extreme(days[i]![1]) - usual) / deviation
          const isSpike = before.length >= 7 && (kind === 'high' ? distance : -distance) > deviations
          return isSpike ? [[day, kind, Number(distance.toFixed(1))]] : []
        }),
      )
      expect(expected.length).toBeGreaterThan(2)
      const spikes = await rowsOf(db, 'spikes', { deviations })
      expect(spikes.map((row) => [row.local_date, row.kind, row.deviations])).toEqual(
        expected.map(([day, kind, distance]) => [day, kind, expect.closeTo(distance as number, 0)]),
      )
    }
    const day = '2025-11-03'
    const titles = demo.all(
      `select title from news where locale = 'en' and published_at >= '${day}' and published_at < '2025-11-04' order by id`,
    ) as { title: string }[]
    const [row] = await rowsOf(demo, 'spikes', { deviations: 1e-9, from: day, to: '2025-11-04' })
    expect(row!.news).toBe(titles.length > 0 ? titles.map(({ title }) => title).join('; ') : null)
    const withNews = (await rowsOf(demo, 'spikes', { deviations: 1e-9 })).filter(({ news }) => news !== null)
    expect(withNews.length).toBeGreaterThan(0)
  })

  test('household-cost multiplies the price of each local hour by the consumption of a CSV file', async () => {
    const own = join(folder, 'profile.csv')
    writeFileSync(own, 'hour;kwh\n0;0,5\n2;1\n13;2,25\n13;0,25\n')
    const kwh = new Map([
      ['00', 0.5],
      ['02', 1],
      ['13', 2.5],
    ])
    const rows = raw(store, 600, 3).filter(({ day }) => day >= '2025-10-01' && day < '2025-11-01')
    const prices = [...grouped(rows, ({ hour }) => hour).values()].map((all) => [
      mean(all),
      kwh.get(all[0]!.clock) ?? 0,
    ])
    const energy = prices.reduce((sum, [, used]) => sum + used!, 0)
    const cost = prices.reduce((sum, [eur, used]) => sum + (eur! * used!) / 1000, 0)
    const query = (...args: string[]) =>
      runCommand(folder, [
        ...'query household-cost --indicator 600 --geo 3 --from 2025-10-01 --to 2025-11-01 --json --quiet'.split(' '),
        ...args,
        ...['--database', 'own.db', '--timeout', '0'],
      ])
    expect(JSON.parse((await query('--with', own)).out)).toEqual([
      {
        local_month: '2025-10',
        days: 31,
        hours: 31 * 24 + 1,
        // The hour from two to three happens twice on the day of the clock change.
        kwh: 31 * 4 + 1,
        cost_eur: expect.closeTo(cost, 1),
        price_paid: expect.closeTo((1000 * cost) / energy, 1),
        average_price: expect.closeTo(mean(rows), 1),
      },
    ])
    expect(await query()).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /needs a CSV file as the table profile, with the columns hour.*\n.*--with profile=FILE/,
      ),
    })
    for (const [content, message] of [
      ['hour;kwh\n1;1\n24;1\n', /line 3, column hour: 24 is no whole number from 0 to 23.*\n.*subtract 1/],
      ['hour;kwh\n1;1\n1,5;1\n', /line 3, column hour: 1,5 is no whole number/],
      ['hour;kwh\n00:00;1\n', /line 2, column hour: 00:00 is no whole number/],
      ['hour;kwh\n1;1\n2;\n', /line 3, column kwh: an empty cell is no number/],
      ['hour;kwh\n1;1\n2;N/D\n', /line 3, column kwh: N\/D is no number/],
      [
        'hora;consumo\n1;1\n',
        /has no column hour; it has: hora, consumo.*\n.*needs the columns hour \(0 to 23\) and kwh/,
      ],
    ] as const) {
      writeFileSync(own, content)
      expect(await query('--with', own)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(message) })
    }
  })

  test('household-cost of the Canary Islands has the hours and days of their clock', async () => {
    const own = join(folder, 'canary', 'profile.csv')
    mkdirSync(join(folder, 'canary'))
    writeFileSync(own, 'hour,kwh\n0,1\n')
    const days = { indicator: 1001, geo: 8742, from: '2025-11-01', to: '2025-11-03' }
    const hours = (await rowsOf(demo, 'by-canary-hour', days)).filter(({ canary_hour }) => canary_hour === '00')
    expect(hours.map(({ mainland_hour }) => mainland_hour)).toEqual(['01', '01'])
    const flags = ['--geo', '8742', '--from', '2025-11-01', '--to', '2025-11-03', '--with', own, '--json', '--quiet']
    const { out } = await runCommand(folder, ['query', 'household-cost', ...flags, '--database', 'demo.db'])
    const average = hours.reduce((sum, { price }) => sum + Number(price), 0) / 2
    expect(JSON.parse(out)).toMatchObject([{ days: 2, hours: 48, kwh: 2, price_paid: expect.closeTo(average, 1) }])
  })

  test('completeness has the months that overlap the range', async () => {
    const months = async (given: Parameters) =>
      (await rowsOf(store, 'completeness', given)).map(({ local_month }) => local_month)
    const all = await months({})
    expect(all).toEqual(['2025-03', '2025-04', '2025-09', '2025-10', '2025-11'])
    expect(await months({ from: '2025-04-01', to: '2025-10-01' })).toEqual(['2025-04', '2025-09'])
    expect(await months({ from: '2025-09-30T12:00:00Z', to: '2025-10-01T12:00:00Z' })).toEqual(['2025-09', '2025-10'])
    expect((await rowsOf(store, 'completeness', { from: '2025-10-15', to: '2025-10-16' }))[0]).toMatchObject({
      hours: 745,
      complete_percent: 100,
    })
  })

  test('an incomplete hour is neither compared nor summed', async () => {
    const range = { from: '2025-10-25T10:30:00Z', to: '2025-10-25T12:15:00Z' }
    const eleven = (id: number) => hours(raw(store, id, 8741)).get(ms('2025-10-25T11:00:00Z') / 3_600_000)!
    const [row] = await rowsOf(store, 'renewable-share', { demand: 544, renewables: '551,1295', ...range })
    expect(row).toMatchObject({
      hours: 1,
      renewable_mwh: Math.round(eleven(551) + eleven(1295)),
      demand_mwh: Math.round(eleven(544)),
    })
    expect(await rowsOf(store, 'residual-load', { demand: 544, renewables: '551', ...range })).toHaveLength(1)
    expect(await rowsOf(store, 'forecast-error', { real: 551, ...range })).toMatchObject([{ hours: 1 }])
  })

  test('recipes by whole days explain an empty range within a day', async () => {
    const range = { from: '2025-10-25T10:30:00Z', to: '2025-10-25T12:15:00Z' }
    expect(await answerOf(store, 'monthly-energy', { indicators: '551', ...range })).toMatch(
      /a local day counts if it starts in the range/,
    )
  })

  test('monthly-energy excludes prices', async () => {
    expect(await answerOf(store, 'monthly-energy', { indicators: '600' })).toMatch(/only power and energy have energy/)
    expect(await rowsOf(store, 'monthly-energy', { indicators: '600,551' })).toMatchObject([{ indicator_id: 551 }])
  })

  test('battery-spread uses all 25 hours of a clock change day', async () => {
    for (const row of await rowsOf(store, 'battery-spread', { hours: 2, from: '2025-10-26', to: '2025-10-27' })) {
      const day = [...hours(raw(store, 600, 3).filter(({ day }) => day === row.local_date)).values()].sort(
        (a, b) => a - b,
      )
      expect(day).toHaveLength(25)
      expect(row.buy_price).toBeCloseTo((day[0]! + day[1]!) / 2, 1)
      expect(row.sell_price).toBeCloseTo((day[23]! + day[24]!) / 2, 1)
    }
  })

  test('clock-change-days is correct despite missing values', async () => {
    expect(await rowsOf(store, 'clock-change-days')).toEqual([
      { local_date: '2025-03-30', periods: 23, hours: 23 },
      { local_date: '2025-10-26', periods: 100, hours: 25 },
    ])
    if (onlyInFile('copy')) return
    const other = await openStore(join(folder, 'holed.db'))
    await copyInto(store, join(folder, 'holed.db'))
    other.run('delete from observation where at between unixepoch(?) and unixepoch(?)', [
      '2025-10-07 10:00',
      '2025-10-07 10:59',
    ])
    expect(await rowsOf(other, 'clock-change-days')).toHaveLength(2)
    await other.close()
  })
})

describe('series selection', () => {
  test('the parameter series selects another series than the native one, and only one', async () => {
    const id = store.get(`select id from series where indicator_id = 600 and time_trunc = 'hour'`) as number
    expect((await rowsOf(store, 'daily-average', { series: id }))[0]).toMatchObject({
      periods: 24,
      average: 100_000,
    })
    expect(await answerOf(store, 'daily-average', { series: 99 })).toMatch(/Series 99 does not exist/)
    expect(await answerOf(store, 'daily-average', { series: id, indicator: 551 })).toMatch(
      /belongs to indicator 600, not to 551/,
    )
  })

  test.each<[string, string, Parameters, RegExp]>([
    [
      'a series stored only in groups',
      'daily-average',
      { indicator: 1293 },
      /needs native series that are not stored: indicator 1293\. → .*indicators: \[1293\]/,
    ],
    [
      'one of several series stored only in groups',
      'residual-load',
      {},
      /residual-load needs native series that are not stored: indicator 1293\./,
    ],
    [
      'a series that is not stored',
      'session-spread',
      {},
      /session-spread needs native series that are not stored: indicator 612\. → .*indicators: \[612\]/,
    ],
    [
      'a mixture of missing series',
      'monthly-energy',
      { indicators: '1293,546,551' },
      /native series that are not stored: indicator 1293, 546\./,
    ],
    [
      'a geo without values',
      'daily-average',
      { geo: 1 },
      /Geo 1 has no stored values of indicator 600; stored geos of indicator 600: 3, 8741\. → .*--geo ID/,
    ],
    [
      'a geo that one of two indicators lacks',
      'forecast-error',
      { forecast: 544, real: 600, geo: 3 },
      /Geo 3 has no stored values of indicator 544; stored geos of indicator 544: 8741; of indicator 600: 3, 8741\. → .*--geo ID/,
    ],
    ['deviations below 0', 'spikes', { deviations: -1 }, /Parameter deviations must be above 0, not -1\./],
    ['no hours', 'battery-spread', { hours: 0 }, /Parameter hours must be above 0, not 0\./],
    [
      'a range without values',
      'daily-average',
      { from: '2024-01-01', to: '2024-02-01' },
      /No values of indicator 600, geo 3 are stored in this range\. → .*backfill/,
    ],
    ['a text in place of a number', 'daily-average', { indicator: 'x' }, /indicator must be a number/],
    ['an invalid list', 'monthly-energy', { indicators: '551,x' }, /indicators must be a list of indicator ids/],
    ['an invalid date', 'daily-average', { from: '2025-02-30' }, /--from "2025-02-30" is/],
    [
      'a reversed range',
      'daily-average',
      { from: '2025-10-02', to: '2025-10-01' },
      /--from 2025-10-02 must be earlier than --to 2025-10-01/,
    ],
  ])('%s is reported', async (_, name, given, message) => {
    expect(await answerOf(store, name, given)).toMatch(message)
  })

  test('the only geo of a series is the default', async () => {
    expect(await rowsOf(store, 'daily-average', { indicator: 551 })).toHaveLength(8)
  })

  test('values longer than an hour are refused by recipes for hours', async () => {
    expect(
      await answerOf(demo, 'daily-profile', {
        series: demo.get(`select id from series where time_trunc = 'day'`) as number,
      }),
    ).toMatch(/compares hours, but indicator 10010 .* has longer periods/)
  })
})

describe('time ranges', () => {
  const days = async (given: Parameters) =>
    (await rowsOf(store, 'daily-average', given)).map(({ local_date }) => local_date)
  test.each<[Parameters, string[]]>([
    [{ from: '2025-10-30', to: '2025-11-01' }, ['2025-10-30', '2025-10-31']],
    [{ from: '-20d', to: '-18d' }, ['2025-10-31', '2025-11-01']],
    [{ from: '2025-10-31T23:00:00Z', to: '2025-11-01T23:00:00Z' }, ['2025-11-01']],
  ])('the range %j is half-open', async (given, expected) => {
    expect(await days(given)).toEqual(expected)
  })

  test
    .skipIf(onlyInFile('plan'))
    .each(
      RECIPES.filter(({ sql }) => /from observations\n.*geo_id = :geo.*:from/s.test(sql)).map(({ name, sql }) => [
        name,
        sql,
      ]),
    )('the recipe %s reads only the values of its range', (_name, sql) => {
    const parameters = Object.fromEntries([...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name!, null]))
    const plan = store.all(`explain query plan ${sql}`, parameters as never) as { detail: string }[]
    const reads = plan.filter(({ detail }) => detail.startsWith('SEARCH o USING'))
    expect(reads.length).toBeGreaterThan(0)
    for (const { detail } of reads) expect(detail).toMatch(/\(series_id=\? AND geo_id=\? AND at>\? AND at<\?\)/)
  })

  test('a range within the repeated hour contains only its own periods', async () => {
    const [row] = await rowsOf(store, 'daily-average', { from: '2025-10-26T01:00:00Z', to: '2025-10-26T01:30:00Z' })
    expect(row).toMatchObject({ periods: 2, local_date: '2025-10-26' })
  })

  test('query accepts relative times after a space, and errors exit with 2', async () => {
    const env = { INDICATOR_SYNC_DATABASE: join(folder, 'own.db') }
    const run = (...args: string[]) => runCommand(process.cwd(), ['query', '--timeout', '0', ...args], env)
    const [json, sql, bad, none] = await Promise.all([
      run(...'daily-average --from 2025-10-30 --to 2025-11-01 --json'.split(' ')),
      run('select :from as a, :to as b', ...'--from 2025-10-30T12:00:00+01:00 --to 2025-11-01 --format csv'.split(' ')),
      run('daily-average', '--from', '-30days'),
      run('residual-load', '--json'),
    ])
    expect(JSON.parse(json.out)).toHaveLength(2)
    expect(sql.out).toBe('a,b\n2025-10-30T11:00:00Z,2025-11-01\n')
    expect(bad).toMatchObject({ code: 2, err: expect.stringMatching(/-30days/) })
    expect(none).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/needs native series that are not stored: indicator 1293/),
    })
  })
})
