import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { serviceAt } from '../cli/jobFolder.ts'
import { emulate } from '../support/kit.ts'
import { testShell } from '../support/systems.ts'
import { openReader } from '../support/testStore.ts'
import { examples, run } from './shell.ts'

testShell('the nightly script repeatedly syncs, publishes a copy and finds no problems', async () => {
  const emulator = await emulate({ now: Date.now() / 1000 })
  const folder = examples()
  for (let night = 0; night < 2; night++)
    expect(await run(folder, ['sh', 'nightly.sh'], serviceAt(emulator.url, emulator.key))).toMatchObject({
      code: 0,
      err: '',
    })
  const copy = openReader(join(folder.dir, 'public/prices.db'))
  expect((await copy.kysely.selectFrom('observation').select('value').execute()).length).toBeGreaterThan(1000)
  await copy.close()
})

testShell('the backfill script continues after its budget is exhausted', async () => {
  const emulator = await emulate({ now: Date.now() / 1000 })
  const folder = examples()
  const job = join(folder.dir, 'prices.yaml')
  writeFileSync(job, readFileSync(job, 'utf8').replace('pace: {', '$& callsPerDay: 1,'))
  // Skips the wait for the next day.
  writeFileSync(join(folder.bin, 'sleep'), '#!/bin/sh\ngrep -v ^pace prices.yaml > next && mv next prices.yaml\n', {
    mode: 0o755,
  })
  const done = await run(
    folder,
    ['sh', 'backfill.sh', '2025-01-01', '2025-02-01'],
    serviceAt(emulator.url, emulator.key),
  )
  expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/prices: stopped[\s\S]*prices: done/) })
})
