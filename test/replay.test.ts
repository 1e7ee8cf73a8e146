import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { handler as quarantineCommand } from '../src/cli/commands/quarantine.ts'
import { rebuild } from '../src/cli/commands/replay.ts'
import { prune } from '../src/load/replies/prune.ts'
import { SERVICES } from '../src/service/services.ts'
import { dump } from './support/dump.ts'
import {
  emulate,
  json,
  ms,
  ON_SERVER,
  replayed,
  runCommand,
  runJob,
  serve,
  tempFolder,
  tempStore,
} from './support/kit.ts'
import { serveTruth } from './support/resolutionService.ts'
import { openReader, openStore, type Store } from './support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const DAY = 86_400_000
const COMMON = { quiet: true, verbose: false, logFormat: 'pretty' as const }
const JOB = `catalogue: { locales: [es, en], refresh: 1h }
series:
  - { indicators: [600, 1739], window: { from: 2025-09-20, to: +1d }, lookback: 30d, refresh: 1h, chunk: 1w }
  - { indicators: [1293], timeTrunc: hour, timeAgg: average, window: { last: 5d } }
  - { indicators: [460], geoIds: [8741], geoAgg: sum, window: { last: 3d } }
offers: [{ indicators: [25], window: { last: 3d } }]
content: [{ kinds: [news, glossaries], refresh: 1h }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-03 } }]
widgets: { list: true, names: [potencia], window: { last: 1d } }
`

/** The values are fetched before the catalogue, which describes them. */
const VALUES = 'series:\n  - { indicators: [600, 1739], window: { from: 2025-09-20, to: 2025-09-27 } }'

/** Runs several nights with revisions, refusals, repetitions and unreadable rows. */
async function nights(store: Store, keep = 'all'): Promise<void> {
  for (const [night, faults] of [
    [-1, []],
    [0, [{ route: 'indicator' as const, every: 3, rows: 'text' as const }]],
    [
      1,
      [
        { every: 5, body: 'other-root' as const },
        { every: 4, status: 400 },
      ],
    ],
    [2, [{ route: 'indicator' as const, every: 4, rows: 'revised' as const }]],
    [3, []],
  ] as const) {
    const now = NOW + night * DAY
    const emulator = await emulate({ now: now / 1000, faults: [...faults] })
    await runJob(store, emulator, `keep: ${keep}\n${night < 0 ? VALUES : JOB}`, { now })
  }
}

let folder: string | undefined
afterAll(() => folder && rmSync(folder, { recursive: true }))

/** Returns a copy of a database after these nights, which the first test fills. */
async function afterNights(): Promise<Store> {
  const store = await tempStore()
  if (ON_SERVER) {
    await nights(store)
    return store
  }
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
    await nights(store)
    store.run('vacuum into ?', [join(folder, 'nights.db')])
  }
  const file = join(tempFolder(), 'nights.db')
  copyFileSync(join(folder, 'nights.db'), file)
  const copy = await openStore(file)
  onTestFinished(() => copy.close())
  return copy
}

describe('the reply store', () => {
  test('a replay restores the same database row for row, with history, coverage and bookkeeping', async () => {
    const store = await afterNights()
    for (const table of ['observation', 'observation_revision', 'content_text', '_coverage', '_quarantine'])
      expect(store.get(`select count(*) from ${table}`), table).toBeGreaterThan(0)
    const described =
      'select count(*) from indicator_history where id = 600 and valid_to is not null and description is null'
    expect(store.get(described)).toBe(1)
    expect(dump(await replayed(store))).toEqual(dump(store))
  })

  test('a replay restores a discovered change of resolution and the replies across it', async () => {
    const store = await tempStore()
    const days = [...Array(137).fill({ step: 3600, id: 4 }), ...Array(229).fill({ step: 900, id: 218 })]
    const server = await serveTruth(() => ({ truth: { id: 777, first: '2024-01-01', days } }))
    const yaml = 'series: [{ indicators: [777], window: { from: 2024-01-01, to: 2025-01-01 } }]'
    await runJob(store, server, yaml, { now: NOW })
    expect(store.get('select count(*) from _resolution')).toBe(1)
    expect(dump(await replayed(store))).toEqual(dump(store))
  })

  test('a replay replaces a database in place, while readers see the old or new state', async () => {
    const store = await afterNights()
    const before = dump(store)
    const reader = openReader(store.file)
    const count = () => reader.get('select count(*) from observation')
    const countBefore = count()
    store.run('delete from observation where at % 3 = 0', [])
    await rebuild(store.file, SERVICES.generic, () => undefined)
    expect(count()).toBe(countBefore)
    const { _run, ...rest } = dump(reader)
    const { _run: runs, ...all } = before
    expect(rest).toEqual(all)
    expect(_run!.length).toBe(runs!.length + 1)
    if (!ON_SERVER) expect(reader.get('pragma journal_mode')).toBe('wal')
    await reader.close()
  })

  test('equal bodies are stored once, and keep: none stores only unreadable ones', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: NOW / 1000 })
    const yaml = 'content: [{ kinds: [news], refresh: 1m }]'
    await runJob(store, emulator, yaml, { now: NOW })
    await runJob(store, emulator, yaml, { now: NOW + 120_000 })
    expect(store.get("select count(*) from _fetch where route = 'news'")).toBe(2)
    expect(store.get('select count(*) from _reply')).toBe(1)
    const none = await tempStore()
    const faults = [{ route: 'indicator' as const, calls: [2], rows: 'text' as const }]
    const jobNone =
      'keep: none\nseries: [{ indicators: [1739], window: { from: 2025-09-01, to: 2025-10-01 }, chunk: 1w }]'
    await runJob(none, await emulate({ now: NOW / 1000, faults }), jobNone, { now: NOW })
    expect(none.get('select count(*) from _fetch')).toBeGreaterThan(3)
    expect(none.get('select count(*) from _reply')).toBe(1)
  })

  test('prune deletes bodies by age, but keeps those of quarantine entries', async () => {
    const store = await afterNights()
    // Later nights fetched their ranges again.
    store.run('update _quarantine set resolved_at = null where dismissed is null', [])
    const evidence = store.get(
      'select count(distinct f.reply_hash) from _quarantine q join _fetch f on f.id = q.fetch_id where q.resolved_at is null',
    ) as number
    expect(evidence).toBeGreaterThan(0)
    const pruned = await prune(store, new Date(NOW + 10 * DAY).toISOString())
    expect(pruned.kept).toBe(evidence)
    expect(store.get('select count(*) from _reply')).toBe(evidence)
    expect(pruned.bodies).toBeGreaterThan(10)
  })

  test('prune keeps bodies that were received again since', async () => {
    const store = await afterNights()
    const recent = store.get('select count(distinct reply_hash) from _fetch where finished_at >= ?', [
      new Date(NOW + 3 * DAY).toISOString(),
    ])
    await prune(store, new Date(NOW + 3 * DAY).toISOString())
    expect(
      store.get(
        'select count(*) from _reply r where hash not in (select f.reply_hash from _fetch f join _quarantine q on q.fetch_id = f.id where q.resolved_at is null)',
      ),
    ).toBeLessThanOrEqual(recent as number)
  })
})

describe('the quarantine', () => {
  const YAML = 'series: [{ indicators: [1739], window: { from: 2025-09-01, to: 2025-10-01 }, chunk: 1w }]'

  test('a replay adds data that an older version could not read, with its original time', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: NOW / 1000 })
    await runJob(store, emulator, YAML, { now: NOW })
    const whole = dump(store)
    // The state that an older version would leave: one unread value of the second reply.
    store.run(
      'insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at) values (1, 2, ?, ?, ?, ?)',
      ['$.indicator.values[5]', 'a form of value that nobody knew', '{}', new Date(NOW).toISOString()],
    )
    store.run(
      'delete from observation where (series_id, geo_id, at) in (select series_id, geo_id, at from observation where fetch_id = 2 limit 1)',
      [],
    )
    store.run('update _fetch set rows_rejected = 1, rows_new = rows_new - 1 where id = 2', [])
    store.run("update _fetch set message = 'unknown form', code = 'shape', hint = 'none' where id = 2", [])
    expect(await quarantineCommand({ ...COMMON, database: store.file, json: true, alike: false, action: 'list' })).toBe(
      0,
    )
    await rebuild(store.file, SERVICES.generic, () => undefined)
    const { _quarantine, _run, ...rest } = dump(store)
    const { _quarantine: none, _run: runs, ...all } = whole
    expect(rest).toEqual(all)
    expect(none).toEqual([])
    expect(runs!.length).toBe(_run!.length - 1)
    expect(_quarantine).toMatchObject([{ fetch_id: 2, resolved_at: expect.stringMatching(/Z$/) }])
  })

  test('--on-reject fail loads nothing of the reply, keeps its body and ends the run', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: NOW / 1000, faults: [{ route: 'indicator', calls: [2], rows: 'text' }] })
    const yaml = `pace: { concurrency: 1, perSecond: 50 }\n${YAML}`
    const summary = await runJob(store, emulator, yaml, { now: NOW, onReject: 'fail' })
    expect(summary).toMatchObject({ outcome: 'failed', earlyEnd: { code: 'too-many-rejects' } })
    expect(store.all('select outcome, reply_hash is null as gone from _fetch order by id')).toEqual([
      { outcome: 'ok', gone: 0 },
      { outcome: 'shape', gone: 0 },
    ])
    expect(store.get('select count(*) from observation where fetch_id = 2')).toBe(0)
    expect(store.get('select count(*) from _quarantine where fetch_id = 2')).toBeGreaterThan(0)
    // The next run requests missing data, and the rows equal those of a correct service.
    await runJob(store, await emulate({ now: NOW / 1000 }), yaml, { now: NOW })
    const undisturbed = await tempStore()
    await runJob(undisturbed, await emulate({ now: NOW / 1000 }), yaml, { now: NOW })
    const values = 'select series_id, geo_id, at, value, step_s from observation order by 1, 2, 3'
    expect(store.all(values)).toEqual(undisturbed.all(values))
    expect(dump(await replayed(store))).toEqual(dump(store))
  })

  test('--on-reject fail counts all rejects, and `quarantine list` shows how many are hidden', async () => {
    const rows = Array.from({ length: 250 }, (_, i) => ({ value: 'x', datetime: `2025-09-01T00:00:00Z`, geo_id: i }))
    const server = await serve((_request, response) => json(response, { indicator: { id: 1739, values: rows } }))
    const store = await tempStore()
    const yaml = `pace: { concurrency: 1, perSecond: 50 }\n${YAML}`
    const one = await runJob(store, server, yaml, { now: NOW, onReject: 'fail' })
    expect(one).toMatchObject({ outcome: 'failed', counts: { rows_rejected: 250 } })
    expect(store.get('select rows_rejected from _fetch')).toBe(250)
    const { out } = await runCommand(tempFolder(), ['quarantine', 'list', '--database', store.file])
    expect(out).toContain('150 more rows of the same responses')
  })
})
