import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase } from '../../test/postgres/create.ts'
import { startServer } from '../../test/postgres/server.ts'
import { SHAPES, valuesOf, writeAnswers } from '../answers.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isThere, measure, measurePeer, median } from '../measure.ts'

const here = join(import.meta.dirname, '..')
const SHAPE = 'small'

/** Who takes part: a process that loads a file of answers, the first one into a new database and the others into that. */
interface Contender {
  readonly command: string
  readonly args: (answers: string, database: string) => readonly string[]
  readonly steps: readonly string[]
  /** Is not ours, and may fail. */
  readonly peer?: true
}

const BARE = 'unnest, values only'
const PRODUCT: Contender = {
  command: process.execPath,
  args: (answers, database) => [join(here, 'children/load.ts'), SHAPE, database, answers],
  steps: ['indicator-sync', 'indicator-sync, unchanged values', 'indicator-sync, revised values'],
}
const PEERS = [
  ['pandas, to_sql', 'pandas, sqlalchemy, psycopg2', 'pandas_postgres.py'],
  ['dlt, merge', 'dlt, psycopg2', 'dlt_postgres.py'],
] as const

/** What each file differs by from the first one: nothing but its stamp, then all values. */
const FILES = [
  [0, 0],
  [0, 1],
  [1, 2],
] as const

/** Seconds that the processes of a server have worked which have ended; null where that is not told. */
function serverSeconds(pid: number): number | null {
  try {
    const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user, system] = rest!.split(' ').slice(13, 15).map(Number)
    return (user! + system!) / 100
  } catch {
    return null
  }
}

/** An address with a password: dlt wants one, also of a server that does not ask. */
function withPassword(address: string): string {
  const url = new URL(address)
  url.password ||= 'any'
  return url.href
}

async function contenders({ skip }: Bench): Promise<Contender[]> {
  const bare = {
    ...PRODUCT,
    args: (answers: string, database: string) => [join(here, 'children/unnest.ts'), SHAPE, database, answers],
  }
  const found: Contender[] = [{ ...bare, steps: [BARE] }, PRODUCT]
  for (const [name, modules, file] of PEERS)
    if (await isThere('python3', ['-c', `import ${modules}`]))
      found.push({
        command: 'python3',
        args: (answers, database) => [join(here, 'peers', file), answers, withPassword(database)],
        steps: [name],
        peer: true,
      })
    else skip(`${name} into PostgreSQL is not installed (python3 needs ${modules}).`)
  return found
}

/** The engine for PostgreSQL from raw bytes to committed rows, beside others that write to the same server. */
export async function postgres(bench: Bench): Promise<Section[]> {
  const { folder, runs, say } = bench
  const all = await contenders(bench)
  const files = FILES.map(([salt, stamp], i) => {
    const file = join(folder, `postgres-${i}.bin`)
    writeAnswers(file, SHAPES[SHAPE], salt, stamp)
    return file
  })
  const server = await startServer({ shared_buffers: '256MB', max_wal_size: '2GB' })
  const measured = new Map<string, { second: number; own: number; server: number | null }[]>()
  const failed = new Set<Contender>()
  try {
    for (let run = 1; run <= runs; run++) {
      say(`postgres: run ${run} of ${runs}`)
      for (const contender of all) {
        if (failed.has(contender)) continue
        const { command, args, steps, peer } = contender
        const { url, drop } = await createDatabase(server.url)
        for (const [i, step] of steps.entries()) {
          const before = serverSeconds(server.pid())
          const how = [command, args(files[i]!, url)] as const
          const done = peer ? await measurePeer(`${step} into PostgreSQL`, bench, ...how) : await measure(...how)
          if (!done) {
            failed.add(contender)
            break
          }
          const after = serverSeconds(server.pid())
          const { seconds, cpu, rows } = JSON.parse(done.last) as { seconds: number; cpu: number; rows: number }
          const worked = before === null || after === null ? null : ((after - before) * 1e6) / rows
          const one = { second: rows / seconds, own: (cpu * 1e6) / rows, server: worked }
          measured.set(step, [...(measured.get(step) ?? []), one])
        }
        await drop()
      }
    }
  } finally {
    await server.close()
    for (const file of files) rmSync(file)
  }
  const bare = median(measured.get(BARE)!.map(({ second }) => second))
  return [
    {
      title: 'Loading into PostgreSQL',
      about: `${grouped(SHAPES[SHAPE].answers)} responses of ${valuesOf(SHAPES[SHAPE])} values.`,
      head: ['way', 'values per second', '× unnest', 'CPU µs', 'server CPU µs'],
      rows: [...measured].map(([who, of]) => [
        who,
        grouped(Math.round(median(of.map(({ second }) => second)))),
        fixed(median(of.map(({ second }) => second)) / bare),
        fixed(median(of.map(({ own }) => own))),
        fixed(of.some(({ server }) => server === null) ? null : median(of.map(({ server }) => server!))),
      ]),
    },
  ]
}
