import { expect, test } from 'vitest'
import { emulate, ms, runJob, tempStore } from '../support/kit.ts'
import { servePage } from './site.ts'

const FIRST = ms('2025-11-04T12:00:00Z')
const DAY = 86_400_000

/** Serves the page of a job that selects a geo that the service does not have, after two runs. */
async function serve(window: string) {
  const store = await tempStore()
  const emulator = await emulate({ now: FIRST / 1000 })
  const job = `name: demand\nseries: [{ indicators: [1293], geoIds: [8741, 9999], window: ${window} }]`
  for (const now of [FIRST, FIRST + DAY]) {
    emulator.setNow(now / 1000)
    await runJob(store, emulator, job, { now })
  }
  return servePage(store.file, { now: () => (FIRST + DAY + 3_600_000) / 1000 })
}

const read = async (url: string): Promise<string> => (await fetch(url)).text()

test('a geo that never had a value has a row of its own, and its page says what to check', async () => {
  const { url } = await serve('{ from: 2025-10-20, to: +1d }')
  const overview = (await (await fetch(`${url}/index.json`)).json()) as {
    series: { geo: string; value: number | null; gaps: number; filteredGeo: number | null; days: object[] }[]
  }
  expect(overview.series.map(({ geo, gaps, filteredGeo }) => [geo, gaps, filteredGeo])).toEqual([
    ['Península', 0, null],
    ['9999', 1, 9999],
  ])
  expect(overview.series[0]!.days.some((day) => 'unverified' in day)).toBe(false)
  expect(overview.series[1]!.days.some((day) => 'unverified' in day)).toBe(true)
  expect(overview.series.map(({ value }) => value !== null)).toEqual([true, false])
  const text = await read(`${url}/?lang=en`)
  expect(text).toContain('href="/series/1293?geo=9999"')
  // The command does not help alone.
  expect(text).toMatch(
    /correct geoIds in the job test\.yaml\.[\s\S]*Then run <span class="command"><code[^>]*>npx indicator-sync sync/,
  )
  const says =
    /no response has had a value for geo 9999\. If it is not a geo of this indicator, correct geoIds in the job test\.yaml\./
  expect(await read(`${url}/series/1293?geo=9999&lang=en`)).toMatch(says)
  expect(await read(`${url}/series/1293?geo=9999&lang=es`)).toContain(
    'ninguna respuesta ha tenido valores de la zona 9999',
  )
  expect(await read(`${url}/series/1293?geo=8741&lang=en`)).not.toMatch(says)
  // A filter for the other geo leaves it out.
  const filtered = (await (await fetch(`${url}/index.json?q=peninsula`)).json()) as typeof overview
  expect(filtered.series.map(({ geo }) => geo)).toEqual(['Península'])
})

test('days without any value are not provisional', async () => {
  const { url } = await serve('{ last: 1d }')
  const { open } = (await (await fetch(`${url}/series/1293.json?geo=9999&last=2`)).json()) as {
    open: { state: string }[]
  }
  expect(open.map(({ state }) => state)).toContain('expected')
  expect(open.map(({ state }) => state)).not.toContain('provisional')
})
