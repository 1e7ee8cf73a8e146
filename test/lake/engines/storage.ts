/*
 * Runs three concurrent syncs of a lake and kills some, while a reader reads everything repeatedly. In a bucket of a
 * running server: `AWS_ENDPOINT_URL=… AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… npm run test:storage --
 * s3://BUCKET/NAME --kills 20`. In a new folder: `npm run test:storage -- FOLDER`. A PYTHON with pyarrow and
 * polars also reads the bucket.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { checkLake } from '../../../src/lake/checkLake.ts'
import { openPlace } from '../../../src/lake/places/bucket.ts'
import { startCampaign } from '../../support/campaign.ts'
import { fillDemo } from '../../support/demoDatabase.ts'
import { seededRandom } from '../../support/seededRandom.ts'

const {
  words: [where = 's3://market'],
  count: kills,
  seed,
  isOver,
  say,
  fault,
  end,
} = await startCampaign({
  script: 'test:storage',
  about: 'Runs three concurrent syncs of a lake and kills some, while a reader reads everything.',
  counted: ['kills', 20],
  words: '[s3://BUCKET/NAME | DIRECTORY]',
})
const random = seededRandom(seed)
const isBucket = where.startsWith('s3:')
const lake = isBucket ? `${where}/lake-${process.pid}` : resolve(where)
const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const file = join(folder, 'market.db')
const endpoint = process.env.AWS_ENDPOINT_URL
const access = endpoint === undefined ? {} : { endpoint }

/** Runs `lake` as a command and optionally kills it after some milliseconds. Returns its exit code. */
function run(action: string, killAfter?: number): Promise<number | null> {
  const args = [resolve('src/cli/bin.js'), 'lake', action, lake, '--database', file]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (data) => {
    errors += data
  })
  const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter)
  return new Promise((done) =>
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code !== 0 && code !== null && code !== 5) process.stderr.write(errors)
      done(code)
    }),
  )
}

/** Changes a value in every month of one series. */
function another(): void {
  const db = new SQLite(file)
  db.exec(`delete from observation_revision where series_id = 1;
    update observation set value = coalesce(value, 0) + 1 where series_id = 1;
    update _day set max = max + 1 where series_id = 1`)
  db.close()
}

const place = await openPlace(lake, access)
const whole = async (what: string): Promise<void> => {
  const { manifest, findings } = await checkLake(place)
  for (const one of findings) fault(`${what}: ${one.file}: ${one.what}`)
  say(`${what}: snapshot ${manifest.snapshot}`)
}

try {
  await (await fillDemo(file)).close()
  const began = performance.now()
  if ((await run('sync')) !== 0) throw new Error('The first sync failed.')
  const took = performance.now() - began
  await whole('first')
  for (let i = 1; i <= 5; i++) {
    another()
    await whole(`three at once end with ${(await Promise.all([run('sync'), run('sync'), run('sync')])).join(', ')}`)
  }
  let killed = 0
  let reads = 0
  let isRead = false
  const reading = (async () => {
    for (; !isRead; reads++) {
      const { findings } = await checkLake(place)
      // The symlink is updated right after the manifest.
      const found = findings.filter(({ file }) => file !== 'current')
      for (const { file, what } of found) fault(`${file}: ${what}`)
      await sleep(5)
    }
  })()
  for (let i = 1; i <= kills && !isOver(); i++) {
    another()
    if ((await run('sync', random() * took * 1.2)) === null) killed++
  }
  isRead = true
  await reading
  const did = `${killed} of ${kills} syncs killed, ${reads} whole reads meanwhile`
  for (const action of ['sync', 'check']) if ((await run(action)) !== 0) fault(`the last lake ${action} failed`)
  await whole('after them')
  const db = new SQLite(file, { readonly: true })
  const expected = db.prepare('select count(*), sum(value), min(value) from observation').raw().get() as number[]
  db.close()
  if (process.env.PYTHON && isBucket) {
    const output = execFileSync(process.env.PYTHON, [resolve('test/lake/engines/readBucket.py'), lake], {
      encoding: 'utf8',
    })
    for (const [engine, count, total, least] of JSON.parse(output) as [string, number, number, number][]) {
      const same =
        count === expected[0] && Math.abs(total - expected[1]!) < 1e-9 * Math.abs(total) && least === expected[2]
      if (!same) fault(`${engine}: ${[count, total, least]} in place of ${expected}`)
    }
  }
  end(did)
} finally {
  place.close()
  rmSync(folder, { recursive: true })
}
