import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tableOf } from '../../src/db/tables/schema.ts'
import { findFindings } from '../../src/findings/findFindings.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { readStatus } from '../../src/findings/readStatus.ts'
import { countPrunable, prune } from '../../src/load/replies/prune.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import { findOutageRun } from '../../src/state/outage.ts'
import { findRhythms } from '../../src/state/rhythm.ts'
import { readAttempts } from '../../src/sync/readAttempts.ts'
import { readPlannerState } from '../../src/sync/readPlannerState.ts'
import { formatMillis } from '../../src/util/time/instant.ts'
import { startPage } from '../page/site.ts'
import { dump } from '../support/dump.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { emulate, ms, ON_SERVER, replayed, runJob, tempFolder, tempStore } from '../support/kit.ts'
import { openStore, type Store } from '../support/testStore.ts'

const DAY = 86_400_000
const FIRST = ms('2025-09-10T12:00:00Z')
const NIGHTS = 7
const LAST = FIRST + NIGHTS * DAY
const REPETITIONS = 4
const FIRST_RUN = 1_000
const FIRST_FETCH = 10_000
const BEFORE = formatMillis(LAST - DAY)

const ABSENT = ms('2025-09-05T10:00:00Z') / 1000
const SPOILED = ms('2025-09-06T10:00:00Z') / 1000
const REFUSED = ms('2025-09-03T22:00:00Z') / 1000

// One request at a time, so that two databases have equal orders.
const PACE = 'pace: { concurrency: 1 }'
const JOB = `name: values
${PACE}
series:
  - { indicators: [5], geoIds: [3], window: { from: 2025-09-01, to: +1d }, lookback: 3d, refresh: 1h, chunk: 2d }
  - { indicators: [6], window: { from: 2025-09-01, to: 2025-09-20 }, lookback: 90d, refresh: 1h, chunk: 1w }
`
const OTHER_JOB = `name: other
${PACE}
series: [{ indicators: [5], window: { from: 2025-09-01, to: 2025-09-12 }, lookback: 20d, refresh: 1h, chunk: 3d }]
`
const LISTS = `name: lists
${PACE}
catalogue: { locales: [es, en], refresh: 1h }
series: [{ indicators: [600], geoIds: [3], window: { last: 3d } }]
content: [{ kinds: [news], refresh: 1h }]
widgets: { list: true, names: [potencia], window: { last: 1d } }
`

/** Runs jobs on many nights, with values that are absent, unreadable, revised or refused for some time or for good. */
async function nights() {
  const store = await tempStore()
  // Leaves lower numbers for earlier requests.
  store.run(
    `insert into _run (id, command, job, version, started_at, finished_at, outcome, requests, failed, bytes, rows_new,
    rows_unchanged, rows_revised, rows_withdrawn, rows_rejected)
    values (${FIRST_RUN}, 'sync', 'old', 'x', '2025-09-01T00:00:00.000Z', '2025-09-01T00:00:00.000Z', 'done', 0, 0, 0, 0, 0, 0, 0, 0)`,
    [],
  )
  store.run(
    `insert into _fetch (id, run_id, entry, route, target, params, started_at, finished_at, outcome, attempts, ms, bytes,
    rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside)
    values (${FIRST_FETCH}, ${FIRST_RUN}, 'content', 'news', '/news', '{}', '2025-09-01T00:00:00.000Z', '2025-09-01T00:00:00.000Z',
      'ok', 1, 1, 1, 0, 0, 0, 0, 0, 0)`,
    [],
  )
  const service = await startHourlyService({ has: (at) => at !== ABSENT, spoiled: (at) => at === SPOILED })
  for (let night = 0; night < NIGHTS; night++) {
    const now = FIRST + night * DAY
    service.state.status = (_path, { from }) => {
      if (from === REFUSED || (night === 2 && from > REFUSED)) return 404
      return night === 4 ? 500 : undefined
    }
    service.state.spoiled = (at) => at === SPOILED && night < 5
    for (const at of [now, now + 2 * 3_600_000]) await service.run(store, JOB, at)
    if (night % 3 === 0) await service.run(store, OTHER_JOB, now + 60_000)
    if (night % 6 === 0) {
      const emulator = await emulate({ now: now / 1000 })
      await runJob(store, emulator, LISTS, { now: now + 3_600_000 })
      await runJob(store, emulator, LISTS, { now: now + 3 * 3_600_000 })
    }
  }
  for (let repetition = 1; repetition <= REPETITIONS; repetition++) repeatBefore(store, repetition)
  return { store, service }
}

/** Records all successful requests another time, some days earlier and without changes. */
function repeatBefore(store: Store, repetition: number): void {
  const copy = (table: '_run' | '_fetch', changed: Readonly<Record<string, string>>, where: string) => {
    const columns = Object.keys(tableOf(table).columns)
    const values = columns.map((column) => changed[column] ?? column)
    store.run(`insert into ${table} (${columns}) select ${values} from ${table} where ${where}`, [])
  }
  const earlier = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '-${10 * repetition} days')`
  const times = { started_at: earlier('started_at'), finished_at: earlier('finished_at') }
  copy('_run', { ...times, id: `id - ${100 * repetition}` }, `id > ${FIRST_RUN}`)
  const unchanged = Object.fromEntries(['rows_new', 'rows_revised', 'rows_withdrawn'].map((column) => [column, '0']))
  copy(
    '_fetch',
    {
      ...times,
      ...unchanged,
      id: `id - ${1_000 * repetition}`,
      run_id: `run_id - ${100 * repetition}`,
      reply_hash: 'null',
    },
    `id > ${FIRST_FETCH} and outcome in ('ok', 'empty') and rows_rejected = 0`,
  )
}

/** Copies a database. */
async function copyOf(store: Store): Promise<Store> {
  const file = join(tempFolder(), 'test.db')
  store.run('vacuum into ?', [file])
  const copy = await openStore(file)
  onTestFinished(() => copy.close())
  return copy
}

/** Deletes bodies that another database no longer stores. */
function deleteBodiesLike(store: Store, other: Store): void {
  const hashes = (from: Store) => (from.all('select hash from _reply') as { hash: string }[]).map(({ hash }) => hash)
  const kept = new Set(hashes(other))
  for (const hash of hashes(store)) if (!kept.has(hash)) store.run('delete from _reply where hash = ?', [hash])
}

/** Reads everything that is decided by the records of requests. */
async function results(store: Store) {
  // Durations differ between two databases.
  store.run('update _fetch set ms = 1', [])
  const now = LAST / 1000
  const { replies, ...status } = await readStatus(store, now)
  const { turn: _turn, target: _target, window: _window, ...attempts } = await readAttempts(store)
  const page = await startPage(store.file, { now: () => now })
  const pages: string[] = []
  try {
    for (const at of [ABSENT, ABSENT + 3_600, SPOILED, REFUSED, ms('2025-09-15T10:00:00Z') / 1000])
      pages.push(await (await fetch(`${page.url}/explain/5/3/${at}`)).text())
  } finally {
    await page.close()
  }
  const decided = {
    status,
    isComplete: replies.missing === 0,
    findings: await findFindings(store, now, { depth: 'values' }),
    gaps: await findGaps(store, now),
    retry: await readRetryRequests(store),
    planner: await readPlannerState(store),
    outage: await findOutageRun(store),
    rhythms: await findRhythms(store, now),
    attempts,
    pages,
  }
  // Commands name the file.
  return JSON.parse(JSON.stringify(decided, unfoldMaps).replaceAll(store.file, 'DATABASE')) as typeof decided
}

const unfoldMaps = (_key: string, value: unknown): unknown =>
  value instanceof Map || value instanceof Set ? [...value] : value

/** The tables without the records of requests, which differ. */
const tables = (store: Store) => {
  const { _fetch, ...others } = dump(store)
  return others
}

test.skipIf(ON_SERVER)('pruning deletes repeated records of requests and changes no decision', async () => {
  const { store: pruned, service } = await nights()
  const other = await copyOf(pruned)
  expect(await results(pruned)).toEqual(await results(other))
  const before = pruned.get('select count(*) from _fetch') as number
  const counted = await countPrunable(pruned, BEFORE)
  expect(pruned.get('select count(*) from _fetch')).toBe(before)
  const done = await prune(pruned, BEFORE)
  expect(done).toEqual(counted)
  expect(done.requests).toBeGreaterThan(before / 3)
  expect(pruned.get('select count(*) from _fetch')).toBe(before - done.requests)
  expect((await countPrunable(pruned, BEFORE)).requests).toBe(0)
  deleteBodiesLike(other, pruned)
  expect(await results(pruned)).toEqual(await results(other))
  expect(tables(pruned)).toEqual(tables(other))
  for (const table of ['observation', 'observation_revision'])
    expect(pruned.get(`select count(*) from ${table} where fetch_id not in (select id from _fetch)`)).toBe(0)

  // The remaining replies are replayed to equal rows.
  const rows = async (store: Store) => tables(await replayed(store, () => LAST))
  expect(await rows(pruned)).toEqual(await rows(other))

  // The next runs request and store the same.
  service.state.status = () => undefined
  for (const job of [JOB, OTHER_JOB]) {
    const requested = await service.run(pruned, job, LAST)
    expect(requested.length).toBeGreaterThan(0)
    expect(await service.run(other, job, LAST)).toEqual(requested)
  }
  expect(await results(pruned)).toEqual(await results(other))
  expect(pruned.all('select series_id, geo_id, from_at, to_at, state from _span order by 1, 2, 3, 4, 5')).toEqual(
    other.all('select series_id, geo_id, from_at, to_at, state from _span order by 1, 2, 3, 4, 5'),
  )
})
