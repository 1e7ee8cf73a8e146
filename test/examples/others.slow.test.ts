import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serviceAt } from '../cli/jobFolder.ts'
import { storage } from '../lake/storage.ts'
import { tempDatabase, withClient } from '../postgres/database.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { emulate } from '../support/kit.ts'
import { testShell } from '../support/systems.ts'
import { examples, PYTHON, run } from './shell.ts'

/** Whether Python lacks packages; `PYTHON` can name another interpreter. */
const lacks = (packages: string): boolean => spawnSync(PYTHON, ['-c', `import ${packages}`]).status !== 0

testShell('two workers execute the plan of a sync on PostgreSQL', async () => {
  const emulator = await emulate({ now: Date.now() / 1000 })
  const url = await tempDatabase()
  const done = await run(examples(), ['sh', 'workers.sh'], {
    ...serviceAt(emulator.url, emulator.key),
    INDICATOR_SYNC_DATABASE: url,
  })
  expect(done).toMatchObject({ code: 0 })
  const { rows } = await withClient(url, (client) => client.query('select count(*)::int as n from observation'))
  expect(rows[0].n).toBeGreaterThan(1000)
})

// Requires the packages of `lake.py`.
describe.skipIf(lacks('duckdb, s3fs'))('the lake example', () => {
  test.each(['a folder', 'a bucket'])('the lake example writes to %s and reads it with DuckDB', async (place) => {
    const emulator = await emulate({ now: Date.now() / 1000 })
    const { env } = await storage()
    const lake = place === 'a folder' ? 'lake' : 's3://market/lake'
    const done = await run(examples(), ['sh', 'lake.sh', lake], { ...serviceAt(emulator.url, emulator.key), ...env })
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/month[\s\S]*average[\s\S]*\d\.\d/) })
  })
})

describe('the notebook', () => {
  interface Cell {
    readonly cell_type: string
    readonly source: readonly string[]
    readonly outputs?: readonly unknown[]
    readonly execution_count?: number | null
  }
  const { cells } = JSON.parse(readFileSync('examples/prices.ipynb', 'utf8')) as { cells: Cell[] }
  const codes = cells.filter(({ cell_type }) => cell_type === 'code')

  test('the notebook contains no outputs', () => {
    for (const { outputs, execution_count } of codes) expect([outputs, execution_count]).toEqual([[], null])
  })

  test.skipIf(lacks('pandas, matplotlib'))('the notebook runs on the demo database', async () => {
    const folder = examples()
    mkdirSync(join(folder.bin, 'data'))
    await (await copyDemo(join(folder.bin, 'data/demo.db'))).close()
    const program = [...codes.map(({ source }) => source.join('')), 'print(profile)'].join('\n')
    writeFileSync(join(folder.dir, 'notebook.py'), program)
    const done = await run(folder, [PYTHON, 'notebook.py'], { MPLBACKEND: 'Agg' })
    expect(done).toMatchObject({
      code: 0,
      out: expect.stringMatching(/weekday +weekend\nat *\n(\d+ +[\d.]+ +[\d.]+\n){24}/),
    })
  })
})
