import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { openStore } from '../../src/db/open.ts'
import type { Database } from '../../src/db/tables/schema.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { readJob } from '../../src/job/read.ts'
import { judgeAll } from '../../src/load/spans/recordSpans.ts'
import { groupDuties } from '../../src/plan/duties.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readPlannerState } from '../../src/sync/readPlannerState.ts'
import { DAY, parseInstant } from '../../src/util/time/instant.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { median } from '../measure.ts'

const SERIES = 2_000
const GEOS = [1, 2, 3]
const FROM = parseInstant('2015-12-31T23:00:00Z')
const NOW = parseInstant('2025-12-31T22:00:00Z')
const ids = Array.from({ length: SERIES }, (_, i) => i + 1)

/** Series with ten years of coverage: most of it final, the last days provisional, one window a year unverified, and some holes. */
const ROWS = [
  `insert into _job (id, name, definition_at, returns, usual_s) values (1, 'bench', '2025-01-01T00:00:00.000Z', 0, ${DAY})`,
  `insert into _run (id, command, job, job_id, version, started_at, finished_at, outcome, requests, failed, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected)
   values (1, 'sync', 'bench', 1, '0', '2025-12-30T00:00:00.000Z', '2025-12-30T00:00:00.000Z', 'done', 0, 0, 0, 0, 0, 0, 0, 0)`,
  `insert into indicator (kind, id, first_seen_at)
   with recursive n (id) as (select 1 union all select id + 1 from n where id < ${SERIES})
   select 'indicator', id, '2025-01-01T00:00:00.000Z' from n`,
  `insert into series (id, kind, indicator_id, time_zone, created_at, lookback_s)
   select id, 'indicator', id, 'Europe/Madrid', '2025-01-01T00:00:00.000Z', ${2 * DAY} from indicator`,
  `insert into series_geo (series_id, geo_id, first_at, last_at, step_s, kind)
   select s.id, g.value, ${FROM}, ${NOW - 3600}, 3600, 'regular' from series s, json_each('${JSON.stringify(GEOS)}') g`,
  `insert into _duty (series_id, job_id, geo_ids, window_text, entry, time_zone, from_at, to_at, lookback_s, refresh_s, since_at)
   select id, 1, '', '2016-01-01..+1d', 'series[0]', 'Europe/Madrid', ${FROM}, ${NOW + 3600}, ${2 * DAY}, 3600, ${FROM} from series`,
  `insert into _coverage (series_id, geo_id, from_at, to_at, state, fetched_at, settled_s, since_at)
   with recursive y (n) as (select 0 union all select n + 1 from y where n < 9)
   select s.id, 0, ${FROM} + y.n * 365 * ${DAY}, ${FROM} + (y.n * 365 + 300) * ${DAY}, 'values', ${NOW - DAY}, ${200 * DAY}, null from series s, y
   union all
   select s.id, 0, ${FROM} + (y.n * 365 + 300) * ${DAY}, ${FROM} + (y.n + 1) * 365 * ${DAY},
     iif(y.n % 3 = 0, 'unverified', 'values'), ${NOW - DAY}, 0, iif(y.n % 3 = 0, ${NOW - 3 * DAY}, null) from series s, y`,
  `insert into _absent (series_id, geo_id, from_at, to_at, step_s, missing, reason, since_at, checked_at)
   with recursive h (n) as (select 0 union all select n + 1 from h where n < 19)
   select g.series_id, g.geo_id, ${FROM} + (h.n * 60 + 7) * ${DAY}, ${FROM} + (h.n * 60 + 7) * ${DAY} + 7200, 3600, 2, 'absent', ${NOW - 5 * DAY}, ${NOW - 2 * DAY}
   from series_geo g, h where g.series_id % 10 = 0`,
]

/** Measures plan and gaps, in milliseconds. */
export async function judge({ folder, runs, say }: Bench): Promise<Section> {
  say(`judge: ${grouped(SERIES)} series`)
  const store = await openStore(join(folder, 'judge.db'), { durability: 'none' })
  await store.write(async (tx) => {
    for (const statement of ROWS) await sql.raw(statement).execute(tx as unknown as Kysely<Database>)
  })
  const service = SERVICES.esios!
  const text = `name: bench\nseries:\n  - { indicators: [${ids.join(', ')}], window: { from: 2016-01-01, to: +1d }, refresh: 1h }\n`
  const job = readJob(text, 'bench.yaml', service)
  const times = new Map<string, number[]>()
  const take = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await work()
    times.set(name, [...(times.get(name) ?? []), performance.now() - began])
  }
  for (let run = 0; run < runs; run++) {
    say(`judge: run ${run + 1} of ${runs}`)
    await take('judge every series and write what changed', () => judgeAll(store, NOW * 1000))
    await take('plan', async () => {
      const plannerState = await readPlannerState(store)
      return [...planJob({ job, options: {}, service, now: NOW, plannerState, duties: groupDuties([]) })].length
    })
    await take('gaps', () => findGaps(store, NOW))
  }
  const gaps = (await findGaps(store, NOW)).length
  await store.close()
  return {
    title: 'Judgement',
    command: 'npm run bench -- judge',
    about: `${grouped(SERIES)} series of ${GEOS.length} geos with ten years of coverage; ${grouped(gaps)} gaps.`,
    head: ['step', 'milliseconds'],
    rows: [...times].map(([name, all]) => [name, fixed(median(all), 0)]),
  }
}
