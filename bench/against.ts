import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Bench, fixed, type Section } from './bench.ts'
import { type Measured, measure, median } from './measure.ts'
import { SHAPES, type ShapeName, writeResponses } from './responses.ts'

const root = resolve(import.meta.dirname, '..')
const shapes = Object.keys(SHAPES) as ShapeName[]
/** From this ratio on, more processor time counts as slower: equal checkouts differ by less. */
const TOLERANCE = 0.08

/** Opens another checkout: a folder, or a commit in a temporary worktree. */
function checkout(name: string, folder: string): { readonly path: string; remove(): void } {
  if (existsSync(join(name, 'bench'))) return { path: resolve(name), remove: () => undefined }
  const path = join(folder, 'against')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  process.once('exit', () => git('worktree', 'prune'))
  git('worktree', 'add', '--detach', path, name)
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  return { path, remove: () => git('worktree', 'remove', '--force', path) }
}

/** A process that is compared. It uses the database of the step before it. */
interface Step {
  readonly name: string
  readonly args: readonly string[]
}

const responsesFile = (folder: string, shape: ShapeName, salt: number): string => join(folder, `${shape}-${salt}.bin`)
const databaseFile = (folder: string, side: string, shape: ShapeName): string => join(folder, `${side}-${shape}.db`)

/** Lists the steps of a checkout. */
function listSteps(path: string, folder: string, side: string): readonly Step[] {
  const load = join(path, 'bench/children/load.ts')
  const steps = shapes.flatMap((shape): Step[] => {
    const database = databaseFile(folder, side, shape)
    const [first, revised] = [responsesFile(folder, shape, 0), responsesFile(folder, shape, 1)]
    return [
      { name: `load, ${shape} responses`, args: [load, shape, database, first] },
      { name: `unchanged values, ${shape} responses`, args: [load, shape, database, first] },
      { name: `revised values, ${shape} responses`, args: [load, shape, database, revised] },
      { name: `replay, ${shape} responses`, args: [join(path, 'bench/children/replay.ts'), database] },
    ]
  })
  return [...steps, { name: '--help', args: [join(path, 'src/cli/bin.js'), '--help'] }]
}

/** Compares this checkout with another one in pairs. */
export async function compare(
  { folder, runs, say }: Pick<Bench, 'folder' | 'runs' | 'say'>,
  name: string,
): Promise<{ readonly section: Section; readonly isSlower: boolean }> {
  for (const shape of shapes)
    for (const salt of [0, 1]) writeResponses(responsesFile(folder, shape, salt), SHAPES[shape], salt, salt)
  const { path, remove } = checkout(name, folder)
  try {
    const sides = [listSteps(root, folder, 'this'), listSteps(path, folder, 'other')] as const
    const measured = sides[0].map(() => [[], []] as [Measured[], Measured[]])
    const cache = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
    // The first run fills the compile cache and does not count.
    for (let run = 0; run <= runs; run++) {
      say(`against ${name}: run ${run} of ${runs}`)
      for (const side of ['this', 'other'])
        for (const shape of shapes)
          for (const end of ['', '-wal', '-shm']) rmSync(databaseFile(folder, side, shape) + end, { force: true })
      for (const [i, pair] of measured.entries())
        for (const side of run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          const result = await measure(process.execPath, sides[side][i]!.args, cache)
          if (run > 0) pair[side].push(result)
        }
    }
    const ratio = ([ours, theirs]: readonly [Measured[], Measured[]], figure: (run: Measured) => number): number =>
      median(ours.map((run, i) => figure(run) / figure(theirs[i]!)))
    const work = ({ cpuS, seconds }: Measured): number => cpuS ?? seconds
    const rows = measured.map((pair, i) => ({
      name: sides[0][i]!.name,
      time: ratio(pair, ({ seconds }) => seconds),
      work: ratio(pair, work),
      seconds: pair.map((side) => fixed(median(side.map(({ seconds }) => seconds)))),
      peak: pair.map((side) => fixed(median(side.map(({ peakMb }) => peakMb ?? 0)), 0)),
    }))
    return {
      isSlower: rows.some((row) => row.work > 1 + TOLERANCE),
      section: {
        title: `This checkout against ${name}`,
        command: `npm run bench -- --against ${name}`,
        about: `whole processes in pairs; ratios are medians of ${runs} pairs, above 1 if this checkout needs more.`,
        head: ['step', 's here', 's there', 'time', 'processor', 'peak MB here', 'there'],
        rows: rows.map(({ name, time, work, seconds, peak }) => [
          `${name}${work > 1 + TOLERANCE ? ' **slower**' : ''}`,
          ...seconds,
          fixed(time),
          fixed(work),
          ...peak,
        ]),
      },
    }
  } finally {
    remove()
  }
}
