import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { dump } from '../support/dump.ts'
import { emulate, ms, runCommand, runJob, tempFolder, tempStore } from '../support/kit.ts'
import { openReader, type Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const JOB = `series: [{ indicators: [1739, 805], geoIds: [3, 8741], window: { from: 2025-10-01, to: 2025-10-08 } }]
content: [{ kinds: [news] }]`

async function filled(): Promise<Store> {
  const store = await tempStore()
  await runJob(store, await emulate({ now: NOW / 1000 }), JOB, { now: NOW })
  return store
}

/** Damages the body of the first fetch of a route. */
function damage(store: Store, route: string, how: (body: Buffer) => Buffer): number {
  const [found] = store.all(
    'select f.id, r.hash, r.body from _fetch f join _reply r on r.hash = f.reply_hash where f.route = ? order by f.id limit 1',
    [route],
  ) as { id: number; hash: string; body: Buffer }[]
  store.run('update _reply set body = ? where hash = ?', [how(found!.body), found!.hash])
  return found!.id
}

const turned = (body: Buffer, at: number): Buffer => {
  const other = Buffer.from(body)
  other[at] = other[at]! ^ 0xff
  return other
}

describe('damaged replies in the reply store', () => {
  test.each<[string, string, (body: Buffer) => Buffer]>([
    ['a flipped bit within a text', 'news', (body) => turned(body, body.length >> 1)],
    ['a flipped bit within values', 'indicator', (body) => turned(body, body.length >> 1)],
    ['a damaged beginning', 'indicator', (body) => turned(body, 0)],
    ['a damaged end', 'news', (body) => turned(body, body.length - 1)],
    ['a truncated body', 'indicator', (body) => body.subarray(0, body.length - 20)],
    ['an empty body', 'indicator', () => Buffer.alloc(0)],
    ['another body', 'indicator', () => zstdCompressSync('{"indicator":{}}')],
  ])('a stored reply with %s is reported and skipped', async (_name, route, how) => {
    const store = await filled()
    const fetchId = damage(store, route, how)
    const before = dump(store)
    const env = { INDICATOR_SYNC_DATABASE: store.file }
    const into = join(tempFolder(), 'again.db')
    const beside = await runCommand(tempFolder(), ['replay', '--output', into, '--json'], env)
    expect(beside.code, beside.err).toBe(1)
    expect(beside.err).toMatch(new RegExp(`fetch ${fetchId}\\).*rows are not in`))
    expect(JSON.parse(beside.out)).toMatchObject({ damaged: [fetchId] })
    const again = openReader(into)
    expect(again.get('select count(*) from observation')).toBeGreaterThan(0)
    await again.close()
    const inPlace = await runCommand(tempFolder(), ['replay'], env)
    expect(inPlace.code).toBe(7)
    expect(inPlace.err).toMatch(new RegExp(`fetch ${fetchId}\\).*was not changed`))
    expect(inPlace.err).not.toMatch(/bug/)
    expect(dump(store)).toEqual(before)
  })
})
