/*
 * The long campaign: `npm run test:cluster -- --kills 300`. A terminal signal ends only this process; the process with
 * the server and workers notices it and cleans up.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startServer } from '../postgres/server.ts'
import { startCampaign } from '../support/campaign.ts'
import { seededRandom } from '../support/seededRandom.ts'
import { campaign } from './campaign.ts'
import { hasPooler, startPooler } from './pooler.ts'
import { makeDisk } from './smallDisk.ts'

/** Ends with the process that a terminal signal ends, after the server and the workers. */
async function run(): Promise<void> {
  const { flags, count, seed, isOver, say, fault, end } = await startCampaign({
    script: 'test:cluster',
    about: 'Kills and disconnects many workers on one server, and compares the result with an undisturbed run.',
    counted: ['kills', 300],
    seed: 1,
    flags: {
      workers: { type: 'number', default: 4, describe: 'at once' },
      days: { type: 'number', default: 800, describe: 'of three series, each requested by itself' },
      restarts: { type: 'number', default: 4, describe: 'of the server, in the middle of it' },
      cuts: { type: 'number', default: 6, describe: 'of all connections' },
      fills: { type: 'number', default: 2, describe: 'of the disk of the database, for four seconds' },
      pooled: { type: 'boolean', default: hasPooler(), describe: 'through a pgbouncer that pools by transactions' },
    },
  })
  const server = await startServer()
  process.stdin.once('end', () => void server.close().finally(() => process.exit(1))).resume()
  const pooler = flags.pooled ? await startPooler(server.url) : null
  const disk = flags.fills > 0 ? await makeDisk(server.url, 600) : null
  if (!pooler) say('without a pooler: no pgbouncer is on the path, or it is not wanted')
  if (!disk) say('without a full disk: this user may not mount one, or it is not wanted')
  try {
    const options = { ...flags, kills: count, isOver, pooler, disk, say, random: seededRandom(seed) }
    const found = await campaign({ ...options, server: { url: server.url, restart: server.restart } })
    say(JSON.stringify(found, null, 2))
    const { different, mostAMinute, resumedEach } = found
    for (const table of different) fault(`${table} differs from an undisturbed run`)
    if (mostAMinute > 600) fault(`${mostAMinute} calls in a minute`)
    if (resumedEach > 45) fault(`work was resumed after ${resumedEach} s`)
    end(`${found.kills} kills`)
  } finally {
    await pooler?.close()
    await server.close().finally(() => disk?.close())
  }
  process.exit()
}

if (process.env.INDICATOR_SYNC_CAMPAIGN) await run()
else {
  const env = { ...process.env, INDICATOR_SYNC_CAMPAIGN: '1' }
  const child = spawn(process.execPath, process.argv.slice(1), {
    env,
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const [code] = await once(child, 'close')
  process.exitCode = code ?? 1
}
