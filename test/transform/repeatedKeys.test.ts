import { describe, expect, test } from 'vitest'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const ONE = 'series: [{ indicators: [5], window: { from: 2025-01-01, to: 2025-01-02 } }]'

const row = (hour: number, more = '') =>
  `{"value": ${hour}, ${more}"datetime": "2025-01-01T0${hour}:00:00.000+01:00", "geo_id": 3, "geo_name": "a \\": b"}`
const body = (values: string, more = '') =>
  `{"indicator": {"id": 5, "name": "x", "tiempo": [{"id": 4, "name": "Hora"}], "geos": [{"geo_id": 3, "geo_name": "España : 1"}], ${more}"values": [${values}]}}`

/** Loads one response and returns its values and open rejects. */
async function load(text: string, yaml = ONE) {
  const store = await tempStore()
  const server = await serve((_request, response) => json(response, text))
  const { outcome } = await runJob(store, server, yaml, { now: NOW })
  const rejects = store.all('select path, reason from _quarantine where resolved_at is null order by id')
  const values = store.all('select value from observation order by at') as { readonly value: number }[]
  return { store, outcome, rejects, values: values.map(({ value }) => value) }
}

describe('a key that occurs twice', () => {
  test.each([
    ['the value', '"value": -1, '],
    ['the value, spelled with an escape', '"v\\u0061lue": -1, '],
    ['an unused field', '"note": 1, "note" : 2, '],
    ['a field of a nested object', '"note": {"a": 1, "a": 2}, '],
  ])('a repeated key with %s rejects its row of values, and other rows are stored', async (_name, more) => {
    const { outcome, rejects, values, store } = await load(body([row(0), row(1, more), row(2)].join()))
    expect(outcome).toBe('partial')
    expect(values).toEqual([0, 2])
    expect(rejects).toEqual([
      { path: '$.indicator.values[1]', reason: expect.stringMatching(/^the key (value|note|a) occurs twice$/) },
    ])
    expect(store.get('select state from _coverage')).toBe('unverified')
  })

  test.each([
    ['values', body(row(0), `"values": [${row(1)}], `)],
    ['indicator', `${body(row(0)).slice(0, -1)}, "indicator": {"id": 5, "values": []}}`],
  ])('the repeated key %s rejects the whole response', async (key, text) => {
    const { outcome, values, store } = await load(text)
    expect([outcome, values]).toEqual(['partial', []])
    expect(store.all('select outcome, code, message from _fetch')).toEqual([
      { outcome: 'shape', code: 'repeated-key', message: `In the response, the key ${key} occurs twice.` },
    ])
  })

  test('a repeated key with a text of the indicator rejects the field only', async () => {
    const { values, rejects } = await load(body(row(0), '"step_type": "step", "step_type": "linear", '))
    expect(values).toEqual([0])
    expect(rejects).toEqual([
      { path: '$.indicator.step_type', reason: 'the key step_type occurs twice; the last one is used' },
    ])
  })

  test('a repeated key rejects an item of a listing, and nothing is withdrawn', async () => {
    const text = '{"indicators": [{"id": 1, "id": 2, "name": "a"}, {"id": 3, "name": "b"}]}'
    const { store, rejects } = await load(text, 'catalogue: true')
    expect(store.all('select id from indicator')).toEqual([{ id: 3 }])
    expect(rejects).toEqual([{ path: '$.indicators[0]', reason: 'the key id occurs twice' }])
  })

  test('a repeated key in dropped parts of a response causes no other error', async () => {
    const text = '{"a": {"b": {"c": 1, "c": 2}}, "a": null, "indicator": {"id": 5, "values": []}}'
    expect((await load(text)).rejects).toMatchObject([{ path: '$.a.b.c' }, { path: '$.a' }])
  })
})

test('colons and quotes inside texts are not keys', async () => {
  const text = body(row(0), String.raw`"description": "\"name\": \"y\", \"name\" : 2, {[: \\", `)
  expect(await load(text)).toMatchObject({ outcome: 'done', rejects: [], values: [0] })
})
