import { expect, test } from 'vitest'
import { type Difference, findDifferences } from '../../src/reports/findDifferences.ts'
import { json, ms, requestedWindow, runJob, serve, tempStore, valueAt } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const JOB = `catalogue: true
series: [{ indicators: [600], geoIds: [3], window: { from: 2025-01-01, to: 2025-01-02 }, lookback: 8mo }]`
/** Starts a service with adjustable hours, name and list. */
async function service(said: { values: (number | null)[]; name: string; listed: number[] }) {
  return serve((request, response) => {
    if (request.url!.startsWith('/indicators?') || request.url === '/indicators')
      return json(response, {
        indicators: said.listed.map((id) => ({ id, name: `Name ${id}`, short_name: said.name })),
        meta: {},
      })
    const { from } = requestedWindow(request)
    const values = said.values.flatMap((value, i) =>
      value === null ? [] : [{ ...valueAt(from + i * 3600, value), geo_name: 'España' }],
    )
    return json(response, {
      indicator: {
        id: 600,
        name: 'Name 600',
        short_name: said.name,
        tiempo: [{ id: 4, name: 'Hora' }],
        geos: [],
        values,
      },
    })
  })
}

/** Returns the values as of an instant by the history view. */
const asOf = (store: Store, at: string): Map<string, unknown> =>
  new Map(
    (
      store.all(
        `select at_utc, value from observation_history where valid_from <= ? and (valid_to is null or valid_to > ?)`,
        [at, at],
      ) as { at_utc: string; value: number }[]
    ).map(({ at_utc, value }) => [at_utc, value]),
  )

test('the changes between two instants are exactly those in the history', async () => {
  const store = await tempStore()
  const answer = { values: Array.from({ length: 24 }, (_, i) => i as number | null), name: 'a', listed: [600, 601] }
  const server = await service(answer)
  const moments: string[] = [new Date(0).toISOString()]
  let now = ms('2025-01-05T00:00:00Z')
  for (const change of [
    () => undefined,
    () => {
      answer.values[3] = 77
      answer.values[4] = 78
      answer.name = 'b'
    },
    () => {
      answer.values[3] = 3
      answer.values[5] = null
      answer.listed = [600, 602]
    },
    () => {
      answer.values[5] = 5
      answer.values[4] = 79
      answer.name = 'a'
    },
  ]) {
    change()
    await runJob(store, server, JOB, { now, options: { restate: true } })
    moments.push(new Date(now + 1000).toISOString())
    now += 86_400_000
  }
  const all = async (from: string, to: string) => {
    const found = []
    for await (const one of await findDifferences(store, { from, to, indicators: [] })) found.push(one)
    return found
  }
  for (const from of moments)
    for (const to of moments.filter((moment) => moment >= from)) {
      const before = asOf(store, from)
      const after = asOf(store, to)
      const expected = [...new Set([...before.keys(), ...after.keys()])]
        .filter((at) => before.get(at) !== after.get(at))
        .map((at) => [at, before.get(at) ?? null, after.get(at) ?? null])
        .sort()
      const changes = (await all(from, to))
        .filter(({ what }) => what === 'value')
        .map(({ at_utc, before, after }) => [at_utc, before, after])
        .sort()
      expect(changes, `${from} ${to}`).toEqual(expected)
    }
  const text = (one: Difference) => `${one.what} ${one.change} ${one.id} ${one.field ?? ''} ${one.before} ${one.after}`
  expect((await all(moments[1]!, moments[3]!)).filter(({ what }) => what !== 'value').map(text)).toEqual([
    'text revised 600 short_name a b',
    'text revised 601 short_name a b',
    'text new 602 name null Name 602',
    'text new 602 short_name null b',
    'catalogue withdrawn 601  null null',
    'catalogue new 602  null null',
  ])
  expect((await all(moments[1]!, moments[4]!)).filter(({ what, id }) => what === 'text' && id === 600)).toEqual([])
  expect(await all(moments[4]!, moments[4]!)).toEqual([])
})

test('an indicator with an empty name in the first language appears under another name', async () => {
  const store = await tempStore()
  const server = await service({ values: [1, 2], name: 'a', listed: [600] })
  const now = ms('2025-01-05T00:00:00Z')
  await runJob(store, server, JOB, { now })
  await store.write(async (tx) => {
    const text = await tx.selectFrom('indicator_text').selectAll().where('id', '=', 600).executeTakeFirstOrThrow()
    await tx.updateTable('indicator_text').set({ name: null }).execute()
    await tx
      .insertInto('indicator_text')
      .values({ ...text, locale: 'en', name: 'Name 600' })
      .execute()
  })
  const names = new Set<unknown>()
  const to = new Date(now + 1000).toISOString()
  for await (const one of await findDifferences(store, { from: new Date(0).toISOString(), to, indicators: [] }))
    if (one.what !== 'text') names.add(one.name)
  expect([...names]).toEqual(['Name 600'])
})
