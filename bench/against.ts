import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SHAPES, type ShapeName } from './answers.ts'
import { type Bench, fixed, type Section } from './bench.ts'
import { type Measured, measure, median } from './measure.ts'

const root = resolve(import.meta.dirname, '..')
/** Processor time may be so much higher before it counts as slower: what two runs of the same differ by. */
const TOLERANCE = 0.08

/** A checkout of another version: a folder as it is, or what git knows by a name, put beside the databases. */
function checkout(other: string, folder: string): { readonly path: string; remove(): void } {
  if (existsSync(join(other, 'bench'))) return { path: resolve(other), remove: () => undefined }
  const path = join(folder, 'against')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  // Where this is broken off, git forgets the folder with the others.
  process.once('exit', () => git('worktree', 'prune'))
  git('worktree', 'add', '--detach', path, other)
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  return { path, remove: () => git('worktree', 'remove', '--force', path) }
}

/** The files of answers as a checkout makes them: what it asks may have another form. */
async function writeAnswers(path: string, shape: ShapeName, salt: number, file: string): Promise<string> {
  const script = `const { SHAPES, writeAnswers } = await import(${JSON.stringify(`file://${join(path, 'bench/answers.ts')}`)})
    writeAnswers(process.argv[1], SHAPES[process.argv[2]], Number(process.argv[3]), Number(process.argv[3]))`
  await measure(process.execPath, ['--input-type=module', '-e', script, file, shape, String(salt)])
  return file
}

/** What is compared: each a process of a checkout, on a database that the one before it left. */
interface Step {
  readonly name: string
  readonly args: readonly string[]
}

/** A side of the comparison with its steps. */
async function sideOf(path: string, folder: string, name: string): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const shape of Object.keys(SHAPES) as ShapeName[]) {
    const database = join(folder, `${name}-${shape}.db`)
    const load = join(path, 'bench/children/load.ts')
    const [first, changed] = [
      await writeAnswers(path, shape, 0, join(folder, `${name}-${shape}-0.bin`)),
      await writeAnswers(path, shape, 1, join(folder, `${name}-${shape}-1.bin`)),
    ]
    steps.push(
      { name: `load, ${shape} answers`, args: [load, shape, database, first] },
      { name: `the same again, ${shape} answers`, args: [load, shape, database, first] },
      { name: `every value revised, ${shape} answers`, args: [load, shape, database, changed] },
      { name: `replay, ${shape} answers`, args: [join(path, 'bench/children/replay.ts'), database] },
    )
  }
  return [...steps, { name: '--help', args: [join(path, 'src/cli/bin.js'), '--help'] }]
}

/** Compares this checkout with another one, pair by pair, and tells whether it needs more of the processor anywhere. */
export async function against(
  { folder, runs, say }: Pick<Bench, 'folder' | 'runs' | 'say'>,
  other: string,
): Promise<{ readonly section: Section; readonly slower: boolean }> {
  const { path, remove } = checkout(other, folder)
  try {
    const sides = [await sideOf(root, folder, 'this'), await sideOf(path, folder, 'other')] as const
    const measured = sides[0].map(() => [[], []] as [Measured[], Measured[]])
    // What is compiled is kept, as by every command; so the first run does not count. Who begins changes from run to run.
    const kept = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
    for (let run = 0; run <= runs; run++) {
      say(`against ${other}: run ${run} of ${runs}`)
      for (const side of ['this', 'other'])
        for (const shape of Object.keys(SHAPES))
          for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `${side}-${shape}.db${end}`), { force: true })
      for (const [i, pair] of measured.entries())
        for (const which of run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          const done = await measure(process.execPath, sides[which][i]!.args, kept)
          if (run > 0) pair[which].push(done)
        }
    }
    const ratio = ([ours, theirs]: readonly [Measured[], Measured[]], of: (one: Measured) => number): number =>
      median(ours.map((one, i) => of(one) / of(theirs[i]!)))
    const work = ({ cpuS, seconds }: Measured): number => cpuS ?? seconds
    const rows = measured.map((pair, i) => ({
      name: sides[0][i]!.name,
      time: ratio(pair, ({ seconds }) => seconds),
      work: ratio(pair, work),
      seconds: pair.map((all) => fixed(median(all.map(({ seconds }) => seconds)))),
      peak: pair.map((all) => fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0)),
    }))
    return {
      slower: rows.some((row) => row.work > 1 + TOLERANCE),
      section: {
        title: `This checkout against ${other}`,
        about: `Whole processes, pair by pair; ratios are medians of ${runs} pairs, above 1 where this checkout needs more. More than ${1 + TOLERANCE} of the processor counts as slower.`,
        head: ['what', 's here', 's there', 'time', 'processor', 'peak MB here', 'there'],
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
