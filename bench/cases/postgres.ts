import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase } from '../../test/postgres/create.ts'
import { startServer } from '../../test/postgres/server.ts'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { isInstalled, measure, measurePeer, median, medianOf, processorSeconds } from '../measure.ts'
import { countValues, SHAPES, writeResponses } from '../responses.ts'

const bench = join(import.meta.dirname, '..')
const SHAPE = 'small'

/** A program that loads files of responses, the first one into a new database. */
interface Contender {
  readonly command: string
  readonly args: (responses: string, database: string) => readonly string[]
  readonly steps: readonly string[]
  readonly isPeer?: true
}

const BARE = 'unnest, values only'
const PRODUCT: Contender = {
  command: process.execPath,
  args: (responses, database) => [join(bench, 'children/load.ts'), SHAPE, database, responses],
  steps: ['indicator-sync', 'indicator-sync, unchanged values', 'indicator-sync, revised values'],
}
const PEERS = [
  ['pandas, to_sql', 'pandas, sqlalchemy, psycopg2', 'pandas_postgres.py'],
  ['dlt, merge', 'dlt, psycopg2', 'dlt_postgres.py'],
] as const

/** How the values and the update time of each file differ from those of the first one. */
const FILES = [
  [0, 0],
  [0, 1],
  [1, 2],
] as const

/** Adds a password to an address, which dlt requires. */
function withPassword(address: string): string {
  const url = new URL(address)
  url.password ||= 'any'
  return url.href
}

async function listContenders({ skip }: Bench): Promise<Contender[]> {
  const bare = {
    ...PRODUCT,
    args: (responses: string, database: string) => [join(bench, 'children/unnest.ts'), SHAPE, database, responses],
  }
  const contenders: Contender[] = [{ ...bare, steps: [BARE] }, PRODUCT]
  for (const [name, modules, file] of PEERS)
    if (await isInstalled('python3', ['-c', `import ${modules}`]))
      contenders.push({
        command: 'python3',
        args: (responses, database) => [join(bench, 'peers', file), responses, withPassword(database)],
        steps: [name],
        isPeer: true,
      })
    else skip(`${name} into PostgreSQL is not installed (python3 needs ${modules}).`)
  return contenders
}

/** Measures the load from raw bytes to committed rows in PostgreSQL. */
export async function postgres(input: Bench): Promise<Section> {
  const { folder, runs, say } = input
  const contenders = await listContenders(input)
  const files = FILES.map(([salt, stamp], i) => {
    const file = join(folder, `postgres-${i}.bin`)
    writeResponses(file, SHAPES[SHAPE], salt, stamp)
    return file
  })
  const server = await startServer({ shared_buffers: '256MB', max_wal_size: '2GB' })
  const measured = new Map<
    string,
    { readonly rate: number; readonly client: number; readonly server: number | null }[]
  >()
  try {
    for (let run = 1; run <= runs; run++) {
      say(`postgres: run ${run} of ${runs}`)
      for (const { command, args, steps, isPeer } of contenders) {
        if (isPeer && run > 1) continue
        const { url, drop } = await createDatabase(server.url)
        for (const [i, step] of steps.entries()) {
          const before = processorSeconds(server.pid(), true)
          const process = [command, args(files[i]!, url)] as const
          const result = isPeer ? await measurePeer(step, input, ...process) : await measure(...process)
          if (!result) break
          const after = processorSeconds(server.pid(), true)
          const { seconds, cpu, rows } = JSON.parse(result.last) as { seconds: number; cpu: number; rows: number }
          const perRow = (total: number): number => (total * 1e6) / rows
          measured.set(step, [
            ...(measured.get(step) ?? []),
            {
              rate: rows / seconds,
              client: perRow(cpu),
              server: before === null || after === null ? null : perRow(after - before),
            },
          ])
        }
        await drop()
      }
    }
  } finally {
    await server.close()
    for (const file of files) rmSync(file)
  }
  const bare = median(measured.get(BARE)!.map(({ rate }) => rate))
  return {
    title: 'Loading into PostgreSQL',
    command: 'npm run bench -- postgres',
    about: `${grouped(SHAPES[SHAPE].responses)} responses of ${countValues(SHAPES[SHAPE])} values.`,
    head: ['program', 'values per second', '× unnest', 'CPU µs', 'server CPU µs'],
    rows: [...measured].map(([name, results]) => {
      const rate = median(results.map((result) => result.rate))
      return [
        name,
        grouped(rate),
        fixed(rate / bare),
        fixed(medianOf(results, ({ client }) => client)),
        fixed(medianOf(results, ({ server }) => server)),
      ]
    }),
  }
}
