import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { PROGRAM_ENV, programBin } from '../support/builtProgram.ts'
import { outputs } from '../support/command.ts'
import { seededRandom } from '../support/seededRandom.ts'
import { type Scenario, scenarios, serveFiles } from './commands.ts'
import { contents, type Ended, JOB, NIGHT, NOW, type Report, spawnChild } from './harness.ts'

const PRELOAD = pathToFileURL(resolve('test/crash/preload.ts')).href

/** Runs a command with the preload. */
function command(args: readonly string[], env: Record<string, string>): Promise<Ended & { code: number | null }> {
  const child = spawn(process.execPath, ['--import', PRELOAD, programBin(), ...args], {
    env: { ...process.env, ...PROGRAM_ENV, ...env },
  })
  const texts = outputs(child)
  return new Promise((done) =>
    child.on('close', (code, signal) => done({ code, killed: signal === 'SIGKILL', ...texts })),
  )
}

/** How often a command is killed before it may finish. */
const MOST_DEATHS = 2
/** Microseconds into a slow step, to leave it incomplete. */
const DURING = 3_000

/** The last steps, which move files into place and clean up. */
const LAST = 60

/** Kills commands at random steps, repeats them, and compares with an undisturbed run. */
export async function crashCommands(
  kills: number,
  seed: number,
  tell: (line: string) => void = () => undefined,
  isOver: () => boolean = () => false,
) {
  const random = seededRandom(seed)
  const root = mkdtempSync(join(tmpdir(), 'indicator-sync-crash-'))
  const emulator = await startEmulator({ now: NOW / 1000 })
  const server = await serveFiles()
  const faults: string[] = []
  const byStep: Record<string, number> = {}
  let done = 0
  let rounds = 0
  try {
    const filled = join(root, 'filled.db')
    await spawnChild({ file: filled, url: emulator.url, key: emulator.key, job: JOB, now: NOW }, null)
    const all = Object.entries(scenarios(filled, server.url))
    const undisturbed = new Map<string, { steps: number; result: string }>()
    const newFolder = async (scenario: Scenario): Promise<string> => {
      const folder = join(root, `round-${rounds++}`)
      mkdirSync(folder)
      await scenario.prepare(folder)
      return folder
    }
    for (const [name, scenario] of all) {
      const folder = await newFolder(scenario)
      const count = join(root, 'steps')
      const { code, err } = await command(scenario.args(folder), { CRASH_COUNT: count })
      if (code !== 0) throw new Error(`${name} without kills: ${err}`)
      const steps = Number(readFileSync(count, 'utf8'))
      undisturbed.set(name, { steps, result: JSON.stringify(scenario.result(folder)) })
      rmSync(folder, { recursive: true })
    }
    let turn = 0
    while (done < kills && !isOver()) {
      const [name, scenario] = all[turn % all.length]!
      const { steps, result } = undisturbed.get(name)!
      const folder = await newFolder(scenario)
      const log: string[] = []
      try {
        for (let deaths = 0; ; deaths++) {
          const mayDie = deaths < MOST_DEATHS && done < kills
          // Half of them during the last steps.
          const at =
            random() < 0.5 ? 1 + Math.floor(random() * steps) : steps - Math.floor(random() * Math.min(LAST, steps))
          const when = ['before', 'after', String(Math.floor(random() * DURING))][Math.floor(random() * 3)]!
          const ended = await command(scenario.args(folder), mayDie ? { CRASH_AT: String(at), CRASH_WHEN: when } : {})
          log.push(ended.killed ? `${at}/${steps} ${when}` : `exit ${ended.code}`)
          if (ended.killed) {
            done++
            // A command that ended before its step is tried again.
            if (deaths === 0) turn++
            byStep[name] = (byStep[name] ?? 0) + 1
            scenario.glance(folder)
            continue
          }
          // The result of a command killed after its work exists already.
          const there = ended.code === 2 && deaths > 0 && /(is|was) a database|is there already/.test(ended.err)
          if (ended.code !== 0 && !there) faults.push(`${name}: ${log.join(' · ')}: ${ended.err}`)
          break
        }
        const now = JSON.stringify(scenario.result(folder))
        if (now !== result) faults.push(`${name}: ${log.join(' · ')}: ${differ(result, now)}`)
      } catch (error) {
        faults.push(`${name}: ${log.join(' · ')}: ${(error as Error).message}`)
      }
      rmSync(folder, { recursive: true })
      tell(`${done} of ${kills} kills of commands, ${faults.length} faults (${name}: ${log.join(' · ')})`)
    }
    return { kills: done, rounds, byStep, faults } satisfies Report
  } finally {
    await emulator.close()
    server.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns where two long texts begin to differ. */
function differ(expected: string, actual: string): string {
  let i = 0
  while (expected[i] === actual[i]) i++
  const excerpt = (text: string): string => `…${text.slice(Math.max(0, i - 60), i + 120)}…`
  return `expected ${excerpt(expected)} actual ${excerpt(actual)}`
}

/** Runs two syncs at once and suspends or kills one. One of them writes, and the result equals an undisturbed run. */
export async function crashPairs(
  pairs: number,
  seed: number,
  tell: (line: string) => void = () => undefined,
  isOver: () => boolean = () => false,
) {
  const random = seededRandom(seed)
  const root = mkdtempSync(join(tmpdir(), 'indicator-sync-crash-'))
  const emulator = await startEmulator({ now: NOW / 1000 })
  const faults: string[] = []
  const byStep: Record<string, number> = {}
  const orders = (file: string, now: number) => ({ file, url: emulator.url, key: emulator.key, job: JOB, now })
  try {
    const firstNight = join(root, 'first-night.db')
    await spawnChild(orders(firstNight, NOW), null)
    emulator.setNow(NIGHT / 1000)
    const undisturbed = join(root, 'undisturbed.db')
    copyFileSync(firstNight, undisturbed)
    await spawnChild(orders(undisturbed, NIGHT), null)
    const expected = JSON.stringify(contents(undisturbed).rest)
    for (let pair = 0; pair < pairs && !isOver(); pair++) {
      const file = join(root, `pair-${pair}.db`)
      copyFileSync(firstNight, file)
      const kind = ['suspended', 'killed'][pair % 2]!
      byStep[kind] = (byStep[kind] ?? 0) + 1
      let second: Promise<Ended> | undefined
      const first = spawnChild(orders(file, NIGHT), null, (child) => {
        child.stdout!.once('data', () =>
          setTimeout(async () => {
            child.kill(kind === 'killed' ? 'SIGKILL' : 'SIGSTOP')
            second = spawnChild(orders(file, NIGHT), null)
            await second
            child.kill('SIGCONT')
          }, random() * 150),
        )
      })
      const one = await first
      const other = await second
      const outcome = `${kind}: ${one.killed ? 'killed' : one.out.trim()} | ${other?.out.trim() ?? ''} ${one.err} ${other?.err ?? ''}`
      // A suspended sync that is not finished blocks the other and completes its work.
      if (kind === 'suspended' && !(one.out.includes('done') && (!other || /busy|done/.test(other.out))))
        faults.push(outcome)
      if (kind === 'killed' && other && !other.out.includes('done')) faults.push(outcome)
      await spawnChild(orders(file, NIGHT), null)
      const { rest, health } = contents(file)
      if (JSON.stringify(health) !== '["ok"]') faults.push(`${outcome}: ${JSON.stringify(health)}`)
      if (JSON.stringify(rest) !== expected) faults.push(`${outcome}: ${differ(expected, JSON.stringify(rest))}`)
      for (const end of ['', '-wal', '-shm', '.lock']) if (existsSync(file + end)) rmSync(file + end)
      tell(`${pair + 1} of ${pairs} pairs, ${faults.length} faults`)
    }
    return { kills: pairs, rounds: pairs, byStep, faults } satisfies Report
  } finally {
    await emulator.close()
    rmSync(root, { recursive: true, force: true })
  }
}
