import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject } from '../../src/util/json.ts'
import { parseInstant } from '../../src/util/time/instant.ts'
import { dump } from '../support/dump.ts'
import { emulate, json, ms, replayed, runJob, serve, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const FROM = ms('2025-09-30T22:00:00Z') / 1000
const TO = ms('2025-10-01T22:00:00Z') / 1000

/** A job that requests all eleven routes. */
const JOB = `catalogue: true
series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-10-02 } }]
offers: [{ indicators: [25], window: { from: 2025-10-01, to: 2025-10-02 } }]
content: [{ kinds: [news, documentations, glossaries, static_pages] }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]
archivesJson: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]
widgets: { list: true, names: [potencia], window: { last: 1d } }
`

/** Returns every reply of a correct service to that job, by path and query. */
async function replies(): Promise<Map<string, string>> {
  const emulator = await emulate({ now: NOW / 1000 })
  await runJob(await tempStore(), emulator, JOB, { now: NOW })
  const all = new Map<string, string>()
  for (const { url } of [...emulator.requests]) {
    const answer = await fetch(`${emulator.url}${url}`, { headers: { 'x-api-key': emulator.key } })
    all.set(url, await answer.text())
  }
  return all
}

/** Values that no service should send. */
const nasty = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    1e308,
    '',
    'NaN',
    'Infinity',
    '\ud800',
    'a\u0000b',
    [],
    {},
    [[]],
    [null],
    -0,
    "'; drop table observation; --",
    '" or 1=1',
    '9999-12-31T23:59:59Z',
    '9999-12-31T23:59:59.000+01:00',
    '0000-00-00',
    '2025-10-26T02:30:00.000+01:00',
    'x'.repeat(100_000),
    { ['__proto__']: { polluted: 1 } },
    { toString: 1, constructor: null },
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** A position in a JSON value, as a path of indexes. */
type Place = readonly number[]

/** Changes one position of a value: replaces, removes or duplicates it. */
function change(value: unknown, [first = 0, ...rest]: Place, how: (inner: unknown) => unknown[]): unknown {
  if (Array.isArray(value) && value.length > 0) {
    const at = first % value.length
    const inner = rest.length === 0 ? how(value[at]) : [change(value[at], rest, how)]
    return [...value.slice(0, at), ...inner, ...value.slice(at + 1)]
  }
  if (!isObject(value)) return how(value)[0] ?? null
  const keys = Object.keys(value)
  const key = keys[first % Math.max(1, keys.length)]
  if (key === undefined) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      if (name !== key) return [[name, inner]]
      return (rest.length === 0 ? how(inner) : [change(inner, rest, how)]).map((changed) => [name, changed])
    }),
  )
}

const place = fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 })
const how = fc.oneof(
  nasty.map((thing) => () => [thing]),
  fc.constant(() => []),
  fc.constant((inner: unknown) => [inner, inner]),
)
/** Edits JSON; numbers that JavaScript cannot write are inserted as text. */
const edit = fc.record({ places: fc.array(fc.tuple(place, how), { minLength: 1, maxLength: 4 }), huge: fc.boolean() })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** Expects every stored value to be in a reply with the same instant, geo and number. */
function expectNoWrongRow(store: Store, bodies: ReadonlyMap<string, string>): void {
  const stated = new Set<string>()
  for (const [url, text] of bodies) {
    if (!/^\/(offer_)?indicators\/\d/.test(url)) continue
    const kind = url.startsWith('/offer') ? 'offer_indicator' : 'indicator'
    const holders = Object.values(parsed(text) as object).filter(isObject)
    for (const row of holders.flatMap(({ values }) => (Array.isArray(values) ? values : [])).filter(isObject)) {
      const at = parseInstant(String(row.datetime ?? row.tz_time))
      const [only] = Array.isArray(row.geo_ids) ? row.geo_ids : [0]
      stated.add(`${kind} ${row.geo_id ?? only ?? 0} ${at} ${row.value}`)
    }
  }
  for (const { kind, geo_id, at, value } of store.all(
    'select kind, geo_id, at, value from observation join series on id = series_id',
  ) as { kind: string; geo_id: number; at: number; value: number | null }[]) {
    expect(stated, `${kind} ${geo_id} ${at} ${value}`).toContain(`${kind} ${geo_id} ${at} ${value}`)
    expect(at >= FROM && at < TO, String(at)).toBe(true)
  }
}

describe('invalid replies', () => {
  test('random changes of replies never crash the program or store wrong rows, and can be replayed', async () => {
    const correct = await replies()
    let current = correct
    const server = await serve((request, response) => json(response, current.get(request.url!) ?? '{}'))
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 3, maxLength: 3 }), async (edits) => {
        current = new Map(
          [...correct].map(([url, text], i) => {
            const { places, huge } = edits[i % edits.length]!
            const changed = places.reduce(
              (value, [where, what]) => change(value, where, what),
              JSON.parse(text) as unknown,
            )
            const out = JSON.stringify(changed) ?? 'null'
            return [url, huge ? out.replace(/:-?\d+(\.\d+)?/, ':1e999') : out]
          }),
        )
        const store = await tempStore()
        const summary = await runJob(store, server, JOB, { now: NOW })
        expect(['done', 'partial']).toContain(summary.outcome)
        expectNoWrongRow(store, current)
        expect(store.all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
        expect(store.all('pragma foreign_key_check')).toEqual([])
        expect(store.get("select count(*) from sqlite_schema where name = 'observation'")).toBe(1)
        expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
        // The correct service afterwards repairs wrong data, and a repetition changes nothing.
        current = correct
        await runJob(store, server, JOB, { now: NOW, options: { restate: true } })
        expect(dump(await replayed(store, () => NOW))).toEqual(dump(store))
      }),
      { numRuns: 3 },
    )
  })

  const row = (at: number, more: object = {}) => ({
    value: 1,
    datetime: new Date(at * 1000).toISOString().replace('Z', '+00:00'),
    geo_id: 3,
    ...more,
  })
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

  test.each<[string, (rows: string) => string, number, RegExp | null]>([
    ['NaN, which is invalid JSON', (rows) => rows.replace('"value":1', '"value":NaN'), 0, /not JSON/],
    [
      'an infinite number',
      (rows) => rows.replace('"value":1', '"value":1e999'),
      23,
      /^value "Infinity" is not a number/,
    ],
    ['a geo beyond 2^53', (rows) => rows.replace('"geo_id":3', '"geo_id":9007199254740993'), 23, /not a whole number/],
    ['the largest geo', (rows) => rows.replace('"geo_id":3', '"geo_id":2147483647'), 24, null],
    [
      'a geo beyond the largest',
      (rows) => rows.replace('"geo_id":3', '"geo_id":2147483648'),
      23,
      /^geo_id 2147483648 is beyond 2147483647$/,
    ],
    [
      'a geo beyond the largest in a list',
      (rows) => rows.replace('"geo_id":3', '"geo_ids":[-2147483648]'),
      23,
      /^geo_id -2147483648 is beyond 2147483647$/,
    ],
    ['the year 9999', (rows) => rows.replace(/2025-09-30T22:00/, '9999-12-31T22:00'), 23, null],
    ['the year 10000', (rows) => rows.replace(/2025-09-30T22:00/, '+10000-12-31T22:00'), 23, /not an instant/],
    [
      'a text of 10 MB',
      (rows) => rows.replace('"geo_id":3', `"geo_id":3,"geo_name":"${'x'.repeat(10_000_000)}"`),
      24,
      null,
    ],
    [
      'a text of 10 MB as a value',
      (rows) => rows.replace('"value":1', `"value":"${'x'.repeat(10_000_000)}"`),
      23,
      /is not a number/,
    ],
    [
      'a value nested 5,000 levels deep',
      (rows) => rows.replace('"value":1', `"value":${deep(5000)}`),
      23,
      /is not a number/,
    ],
    [
      'a field nested 100,000 levels deep',
      (rows) => rows.replace('"value":1', `"value":1,"x":${deep(100_000)}`),
      24,
      null,
    ],
    ['a row nested 100,000 levels deep', (rows) => rows.replace(/^\{.*?\}/, deep(100_000)), 23, /is not an object/],
    ['half a surrogate pair', (rows) => rows.replace('"geo_id":3', '"geo_id":3,"geo_name":"\\ud83d"'), 24, null],
    ['a field called __proto__', (rows) => rows.replace('"value":1', '"__proto__":{"value":7},"value":1'), 24, null],
    ['SQL', (rows) => rows.replace('"geo_id":3', `"geo_id":3,"geo_name":"'); drop table geo; --"`), 24, null],
  ])('a reply with %s stores only valid rows', async (_name, spoil, stored, reason) => {
    const rows = Array.from({ length: 24 }, (_, i) => JSON.stringify(row(FROM + i * 3600))).join(',')
    const body = `{"indicator":{"id":1739,"name":"x","values":[${spoil(rows)}]}}`
    const server = await serve((_request, response) => json(response, body))
    const store = await tempStore()
    const yaml = 'series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-10-02 } }]'
    const summary = await runJob(store, server, yaml, { now: NOW })
    expect(store.get('select count(*) from observation')).toBe(stored)
    const reasons = store.all('select reason, length(fragment) as length from _quarantine') as {
      reason: string
      length: number
    }[]
    if (reason === null) expect(reasons).toEqual([])
    else {
      expect(reasons.length).toBe(1)
      expect(reasons[0]!.reason).toMatch(reason)
      expect(reasons[0]!.reason.length).toBeLessThan(400)
      expect(reasons[0]!.length).toBeLessThanOrEqual(4096)
      expect(summary.outcome).toBe('partial')
    }
  })
})
