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
const LIVES = 7

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
  // A checkpoint happens at the end of a run, so that nothing is left to kill after it.
  const steps = (Object.keys(STEPS) as Step[]).filter((step) => step !== 'in a migration')
  const turns = [...steps.slice(0, -1), 'at random', 'at random', ...steps.slice(-1)] as const
  try {
    // The first night is stored. The second one, with revisions, new values and new texts, is killed.
    const held = join(folder, 'held.db')
    await spawnChild(orders(held, NOW), null)
    emulator.setNow(NIGHT / 1000)
    const calm = join(folder, 'calm.db')
    copyFileSync(held, calm)
    await spawnChild(orders(calm, NIGHT), null)
    const fresh = join(folder, 'fresh.db')
    await spawnChild(orders(fresh, NIGHT), null)
    const wanted = { held: contents(calm), fresh: contents(fresh) }
    let done = 0
    let rounds = 0
    let turn = 0
    let missed = 0
    while (done < kills && !isOver()) {
      const file = join(folder, `round-${++rounds}.db`)
      const from = rounds % 2 === 0 ? 'held' : 'fresh'
      if (from === 'held') copyFileSync(held, file)
      const log: string[] = []
      let finished = false
      for (let life = 0; !finished; life++) {
        const mortal = life < LIVES && done < kills
        // Only a new database is migrated, as its first step.
        const migrates = life === 0 && from === 'fresh'
        const name = migrates ? 'in a migration' : turns[turn % turns.length]!
        // A step that was not reached so often is replaced by the first occurrence of the next step.
        const nth = missed > 0 ? 1 : 1 + Math.floor(random() * (name === 'at random' ? 1 : OFTEN[name]))
        const death: Death = !mortal
          ? null
          : name === 'at random'
            ? { afterMs: Math.floor(random() * 250) }
            : { step: name, nth, micros: Math.floor(random() * 3000) }
        const before = recorded(file)
        const first = emulator.requests.length
        const { killed, out, err } = await spawnChild(orders(file, NIGHT), death)
        if (mortal && !migrates) {
          missed = killed || name === 'at random' ? 0 : missed + 1
          if (missed === 0) turn++
          if (missed > 3) throw new Error(`No sync comes to the step "${name}".`)
        }
        log.push(`${JSON.stringify(death)} ${killed ? 'killed' : out.trim().replaceAll('\n', ' ')}`)
        if (killed) {
          done++
          byStep[name] = (byStep[name] ?? 0) + 1
        } else if (!out.includes('done')) faults.push(`round ${rounds}: ${log.join(' · ')}: ${out} ${err}`)
        finished = !killed
        for (const { url } of emulator.requests.slice(first))
          if (before.has(url)) faults.push(`round ${rounds}: asked again: ${url}`)
      }
      const { rest, health } = contents(file)
      if (JSON.stringify(health) !== '["ok"]')
        faults.push(`round ${rounds}: ${JSON.stringify(health)} after ${log.join(' · ')}`)
      for (const [table, rows] of Object.entries(rest))
        if (JSON.stringify(rows) !== JSON.stringify(wanted[from].rest[table]))
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
