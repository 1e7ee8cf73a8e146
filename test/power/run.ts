/**
 * `npm run test:power -- --cuts 200 --seed 7`: tests databases after a loss of power. Runs syncs and a replay with a
 * shim that records every write and sync (shim.c, compiled with gcc). Cuts the record at random places, loses random
 * unsynced data, then opens, checks and syncs the rest.
 */
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import SQLite from 'better-sqlite3'
import { openWriter } from '../../src/db/lock.ts'
import type { Durability } from '../../src/db/store.ts'
import { type Emulator, startEmulator } from '../../src/emulator/startEmulator.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import { sync } from '../../src/sync/sync.ts'
import { contents, JOB, NIGHT, NOW } from '../crash/harness.ts'
import { programModule } from '../support/builtProgram.ts'
import { startCampaign } from '../support/campaign.ts'
import { seededRandom } from '../support/seededRandom.ts'
import { afterLoss, ENDINGS, NO_LOSS, type Op, readOps } from './disk.ts'

const { flags, count, seed, isOver, say, fault, end } = await startCampaign({
  script: 'test:power',
  about: 'Tests databases after a loss of power.',
  counted: ['cuts', 200],
  seed: 7,
  flags: {
    lying: { type: 'boolean', default: false, describe: 'a disk that syncs nothing, to see that faults are found' },
  },
})
const random = seededRandom(seed)
const root = mkdtempSync(join(tmpdir(), 'indicator-sync-power-'))
const shim = join(root, 'shim.so')
execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', shim, resolve('test/power/shim.c')], { stdio: 'inherit' })

/** The record of a process, and the earlier contents of the disk. */
interface Recording {
  readonly name: string
  readonly ops: readonly Op[]
  readonly start: readonly (Buffer | null)[]
  readonly durability: Durability
  /** Whether the rows must be those of the start, because nothing new is requested. */
  readonly same: boolean
}

async function record(
  name: string,
  from: string | null,
  args: (file: string) => readonly string[],
  rest: Pick<Recording, 'durability' | 'same'>,
): Promise<Recording> {
  const folder = join(root, name.replaceAll(' ', '-'))
  mkdirSync(folder)
  const file = join(folder, 'x.db')
  if (from) copyFileSync(from, file)
  const log = join(folder, 'ops')
  const child = spawn(process.execPath, args(file), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LD_PRELOAD: shim, POWER_FILE: file, POWER_LOG: log },
  })
  const code = await new Promise((done) => child.on('close', done))
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
  const ops = readOps(readFileSync(log)).filter(({ kind }) => kind !== 'S' || !flags.lying)
  return { name, ops, start: [from ? readFileSync(from) : null, null, null], ...rest }
}

/** Writes the files of a database. */
function lay(file: string, disk: readonly (Buffer | null)[]): void {
  for (const end of [...ENDINGS, '-shm', '.lock']) rmSync(`${file}${end}`, { force: true })
  for (const [i, bytes] of disk.entries()) if (bytes) writeFileSync(`${file}${ENDINGS[i]}`, bytes)
}

/** Returns the number of stored replies of a database, and its errors. */
function look(file: string): { replies: number; wrong: string } {
  if (!existsSync(file)) return { replies: 0, wrong: '' }
  const db = new SQLite(file)
  try {
    const integrity = db.pragma('integrity_check', { simple: true }) as string
    const dangling = (db.pragma('foreign_key_check') as unknown[]).length
    const made = db.prepare("select 1 from sqlite_schema where name = '_fetch'").get()
    const replies = made ? (db.prepare('select count(*) from _fetch').pluck().get() as number) : 0
    return {
      replies,
      wrong: integrity === 'ok' && dangling === 0 ? '' : `${integrity}, ${dangling} rows point nowhere`,
    }
  } finally {
    db.close()
  }
}

/** Completes the sync. */
async function resume(file: string, emulator: Emulator): Promise<void> {
  const store = await openWriter(file, 'power')
  try {
    const signal = new AbortController().signal
    const context = {
      store,
      service: SERVICES.generic,
      baseUrl: emulator.url,
      key: emulator.key,
      signal,
    }
    const spec = { job: readJob(JOB, 'power.yaml'), command: 'sync' }
    const { outcome } = await sync({ ...context, nowMs: () => NIGHT, retryMs: 5 }, spec)
    if (outcome !== 'done') throw new Error(`the next run was ${outcome}`)
  } finally {
    await store.close()
  }
}

const rows = (file: string): string => JSON.stringify(contents(file).rest)
const emulator = await startEmulator({ now: NOW / 1000 })
const report: Record<string, { cuts: number; operations: number; lost: number; mostLost: number }> = {}
try {
  const child = (now: number, durability: Durability) => (file: string) => [
    resolve('test/crash/child.ts'),
    JSON.stringify({ file, url: emulator.url, key: emulator.key, job: JOB, now, durability, death: null }),
    programModule('index'),
  ]
  const firstNight = join(root, 'first-night.db')
  const first = await record('the first night', null, child(NOW, 'normal'), { durability: 'normal', same: false })
  lay(firstNight, afterLoss(first.ops, first.ops.length, first.start, NO_LOSS))
  emulator.setNow(NIGHT / 1000)
  const secondNight = join(root, 'second-night.db')
  copyFileSync(firstNight, secondNight)
  await resume(secondNight, emulator)
  const fresh = join(root, 'fresh.db')
  await resume(fresh, emulator)
  const recordings = [
    await record('a new database', null, child(NIGHT, 'normal'), { durability: 'normal', same: false }),
    await record('a new database full', null, child(NIGHT, 'full'), { durability: 'full', same: false }),
    await record('a night', firstNight, child(NIGHT, 'normal'), { durability: 'normal', same: false }),
    await record('a night full', firstNight, child(NIGHT, 'full'), { durability: 'full', same: false }),
    await record(
      'replay in place',
      firstNight,
      (file) => [resolve('src/cli/bin.js'), 'replay', '--database', file, '--quiet'],
      {
        durability: 'normal',
        same: true,
      },
    ),
  ]
  const undisturbed = { fresh: rows(fresh), firstNight: rows(firstNight), secondNight: rows(secondNight) }
  /** Returns the rows that a recorded command leaves without a power loss, after the next run. */
  const expectedRows = ({ same, start }: Recording): string => {
    if (same) return undisturbed.firstNight
    return start[0] ? undisturbed.secondNight : undisturbed.fresh
  }
  const file = join(root, 'left.db')
  for (let turn = 0; turn < count && !isOver(); turn++) {
    const recording = recordings[turn % recordings.length]!
    const { name, ops, start, durability, same } = recording
    const syncs = ops.flatMap(({ kind }, i) => (kind === 'S' ? [i] : []))
    // Half of the cuts are near a sync, and a quarter near the end, during the checkpoint.
    const near = (syncs[Math.floor(random() * syncs.length)] ?? ops.length) + Math.floor(random() * 7) - 3
    const late = Math.ceil(ops.length * (1 - random() * 0.2))
    const anywhere = Math.floor(random() * (ops.length + 1))
    const place = [near, late, near, anywhere][turn % 4]!
    const cut = Math.min(ops.length, Math.max(0, place))
    const keeps = [0, 0.5, 0.9][turn % 3]!
    const where = `${name}: cut ${cut} of ${ops.length}, ${keeps} of what was not synced is kept`
    try {
      lay(file, afterLoss(ops, cut, start, NO_LOSS))
      const all = look(file)
      const promised = syncs.findLast((i) => i < cut && ops[i]!.file === 1)
      lay(file, afterLoss(ops, promised === undefined ? 0 : promised + 1, start, NO_LOSS))
      const least = durability === 'full' && promised !== undefined ? look(file).replies : 0
      lay(file, afterLoss(ops, cut, start, { keeps, random }))
      const left = look(file)
      if (left.wrong !== '') throw new Error(left.wrong)
      if (left.replies < least) throw new Error(`${left.replies} replies are left of ${least} that were synced`)
      const lost = all.replies - left.replies
      const before = report[name] ?? { cuts: 0, operations: ops.length, lost: 0, mostLost: 0 }
      report[name] = {
        ...before,
        cuts: before.cuts + 1,
        lost: before.lost + (lost > 0 ? 1 : 0),
        mostLost: Math.max(before.mostLost, lost),
      }
      if (!same) await resume(file, emulator)
      if (rows(file) !== expectedRows(recording)) throw new Error('other rows than without')
    } catch (error) {
      fault(`${where}: ${(error as Error).message}`)
    }
    if ((turn + 1) % 20 === 0) say(`${turn + 1} of ${count} cuts`)
  }
} finally {
  await emulator.close()
  rmSync(root, { recursive: true, force: true })
}
say(JSON.stringify(report, null, 2))
end(`${Object.values(report).reduce((sum, { cuts }) => sum + cuts, 0)} cuts`)
