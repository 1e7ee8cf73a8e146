import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import SQLite from 'better-sqlite3'
import { type Emulator, startEmulator } from '../../src/emulator/startEmulator.ts'
import { PROGRAM_ENV, programModule } from '../support/builtProgram.ts'
import { dump } from '../support/dump.ts'
import { seededRandom } from '../support/seededRandom.ts'
import { openReader } from '../support/testStore.ts'
import { type Orders, STEPS, type Step } from './steps.ts'

const CHILD = resolve('test/crash/child.ts')
export const NOW = Date.parse('2025-11-04T12:00:00Z')
export const NIGHT = NOW + 20 * 3_600_000
export const JOB = `name: crash
pace: { perSecond: 50, concurrency: 1 }
catalogue: { refresh: 1h }
series:
  - { indicators: [600, 1739], window: { from: 2025-09-15, to: +1d }, lookback: 10d, refresh: 1h, chunk: 1w }
  - { indicators: [551], window: { from: 2025-10-20, to: +1d }, lookback: 10d, refresh: 1h, chunk: 3d }
content: [{ kinds: [news, glossaries], refresh: 1h }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-04 } }]
`

/** How a process ends: at a step, or after a time. */
type Death = Orders['death'] | { readonly afterMs: number }

/** How often a sync is killed before it may finish. */
const MOST_DEATHS = 7

/** The minimum number of each step in a part of a run. The death is at a random one of them. */
const OFTEN: Readonly<Record<Step, number>> = {
  'in a migration': 70,
  'before begin': 10,
  'after begin': 10,
  'after a row': 150,
  'after the rows': 8,
  'before commit': 10,
  'in a commit': 10,
  'after commit': 10,
  'in a checkpoint': 1,
}

/** How a process ended. */
export interface Ended {
  readonly killed: boolean
  readonly out: string
  readonly err: string
}

/** Syncs in a separate process that ends as requested. */
export function spawnChild(
  orders: Omit<Orders, 'death'>,
  death: Death,
  during?: (child: ChildProcess) => void,
): Promise<Ended> {
  const timed = death && 'afterMs' in death ? death.afterMs : null
  const passed = JSON.stringify({ ...orders, death: timed === null ? death : null })
  const child = spawn(process.execPath, [CHILD, passed, programModule('index')], {
    env: { ...process.env, ...PROGRAM_ENV },
  })
  during?.(child)
  let out = ''
  let err = ''
  child.stderr.on('data', (data) => {
    err += data
  })
  child.stdout.on('data', (data) => {
    if (out === '' && timed !== null) setTimeout(() => child.kill('SIGKILL'), timed)
    out += data
  })
  return new Promise((done) => child.on('close', (_code, signal) => done({ killed: signal === 'SIGKILL', out, err })))
}

/** Returns the requests whose replies are stored. */
function recorded(file: string): Set<string> {
  if (!existsSync(file)) return new Set()
  const db = new SQLite(file, { readonly: true })
  try {
    const made = db.prepare("select 1 from sqlite_schema where name = '_fetch'").get()
    const rows = made
      ? (db.prepare('select target, finished_at from _fetch').all() as { target: string; finished_at: string }[])
      : []
    return new Set(rows.filter(({ finished_at }) => Date.parse(finished_at) === NIGHT).map(({ target }) => target))
  } finally {
    db.close()
  }
}

/** Columns that differ between runs, such as run ids and durations. */
const UNLIKE = {
  _run: ['id', 'started_at', 'finished_at', 'outcome', 'message', 'requests', 'failed', 'bytes', 'rows_new'],
  _fetch: ['run_id', 'ms', 'started_at', 'attempts'],
  _judged: ['judged_at'],
} as const

/** Returns the rows of a database that do not depend on the course of runs, and its health. */
export function contents(file: string) {
  const reader = openReader(file)
  try {
    const { _run, _budget, ...rest } = dump(reader, UNLIKE)
    const health = [
      reader.get('pragma integrity_check'),
      ...reader.all('pragma foreign_key_check'),
      ...reader.all('select series_id from _coverage where from_at >= to_at'),
    ]
    return { rest, health }
  } finally {
    void reader.close()
  }
}

/** The result of a campaign. */
export interface Report {
  readonly kills: number
  readonly rounds: number
  readonly byStep: Readonly<Record<string, number>>
  /** Errors found; empty if all is well. */
  readonly faults: readonly string[]
}

/** Where a sync is killed: at a step, or after a random time. */
type Place = Step | 'at random'

/** The file that a killed sync begins with: none, or one with the first night. */
type Start = 'new' | 'filled'

/** Returns the places at which syncs are killed in turn. A checkpoint ends a run, so that nothing is left to kill after it. */
function killPlaces(): readonly Place[] {
  const steps = (Object.keys(STEPS) as Step[]).filter((step) => step !== 'in a migration')
  return [...steps.slice(0, -1), 'at random', 'at random', ...steps.slice(-1)]
}

/** Chooses the death at a place. A step that was not reached is replaced by the first occurrence of the next one. */
function chooseDeath(place: Place, isFirstOccurrence: boolean, random: () => number): Death {
  if (place === 'at random') return { afterMs: Math.floor(random() * 250) }
  const nth = isFirstOccurrence ? 1 : 1 + Math.floor(random() * OFTEN[place])
  return { step: place, nth, micros: Math.floor(random() * 3000) }
}

/** Kills syncs at random and at every step, resumes them, and compares the file with an undisturbed run. */
export async function crash(
  kills: number,
  seed: number,
  tell: (line: string) => void = () => undefined,
  isOver: () => boolean = () => false,
): Promise<Report> {
  const random = seededRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-crash-'))
  const emulator: Emulator = await startEmulator({ now: NOW / 1000 })
  const orders = (file: string, now: number) => ({ file, url: emulator.url, key: emulator.key, job: JOB, now })
  const faults: string[] = []
  const byStep: Record<string, number> = {}
  const places = killPlaces()
  let done = 0
  let rounds = 0
  let turn = 0
  let missed = 0

  /** Kills a sync until it may finish. Returns what each of its attempts did. */
  const resumeUntilDone = async (file: string, start: Start): Promise<string[]> => {
    const log: string[] = []
    for (let deaths = 0; ; deaths++) {
      const mayDie = deaths < MOST_DEATHS && done < kills
      // Only a new database is migrated, as its first step.
      const isMigrated = deaths === 0 && start === 'new'
      const place = isMigrated ? 'in a migration' : places[turn % places.length]!
      const death = mayDie ? chooseDeath(place, missed > 0, random) : null
      const before = recorded(file)
      const first = emulator.requests.length
      const { killed, out, err } = await spawnChild(orders(file, NIGHT), death)
      if (mayDie && !isMigrated) {
        missed = killed || place === 'at random' ? 0 : missed + 1
        if (missed === 0) turn++
        if (missed > 3) throw new Error(`No sync comes to the step "${place}".`)
      }
      log.push(`${JSON.stringify(death)} ${killed ? 'killed' : out.trim().replaceAll('\n', ' ')}`)
      for (const { url } of emulator.requests.slice(first))
        if (before.has(url)) faults.push(`round ${rounds}: requested again: ${url}`)
      if (!killed) {
        if (!out.includes('done')) faults.push(`round ${rounds}: ${log.join(' · ')}: ${out} ${err}`)
        return log
      }
      done++
      byStep[place] = (byStep[place] ?? 0) + 1
    }
  }

  try {
    // The first night is stored. The second one, with revisions, new values and new texts, is killed.
    const firstNight = join(folder, 'first-night.db')
    await spawnChild(orders(firstNight, NOW), null)
    emulator.setNow(NIGHT / 1000)
    const undisturbed = { filled: join(folder, 'filled.db'), new: join(folder, 'new.db') }
    copyFileSync(firstNight, undisturbed.filled)
    for (const file of Object.values(undisturbed)) await spawnChild(orders(file, NIGHT), null)
    const expected = { filled: contents(undisturbed.filled).rest, new: contents(undisturbed.new).rest }
    while (done < kills && !isOver()) {
      const file = join(folder, `round-${++rounds}.db`)
      const start: Start = rounds % 2 === 0 ? 'filled' : 'new'
      if (start === 'filled') copyFileSync(firstNight, file)
      const log = await resumeUntilDone(file, start)
      const { rest, health } = contents(file)
      if (JSON.stringify(health) !== '["ok"]')
        faults.push(`round ${rounds}: ${JSON.stringify(health)} after ${log.join(' · ')}`)
      for (const [table, rows] of Object.entries(rest))
        if (JSON.stringify(rows) !== JSON.stringify(expected[start][table]))
          faults.push(`round ${rounds}: ${table} differs (${rows.length} rows) after ${log.join(' · ')}`)
      tell(`${done} of ${kills} kills, ${rounds} rounds, ${faults.length} faults`)
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    }
    return { kills: done, rounds, byStep, faults }
  } finally {
    await emulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
