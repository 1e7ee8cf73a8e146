/*
 * The long campaign: `npm run test:cluster -- --kills 300`. A terminal signal ends only this process; the process with
 * the server and workers notices it and cleans up.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { startServer } from '../postgres/server.ts'
import { campaign } from './campaign.ts'
import { hasPooler, startPooler } from './pooler.ts'
import { makeDisk } from './smallDisk.ts'

const { kills, workers, days, restarts, cuts, fills, pooled, seed } = yargs(hideBin(process.argv))
  .options({
    kills: { type: 'number', default: 300, describe: 'workers that are killed' },
    workers: { type: 'number', default: 4, describe: 'at once' },
    days: { type: 'number', default: 800, describe: 'of three series, each requested by itself' },
    restarts: { type: 'number', default: 4, describe: 'of the server, in the middle of it' },
    cuts: { type: 'number', default: 6, describe: 'of all connections' },
    fills: { type: 'number', default: 2, describe: 'of the disk of the database, for four seconds' },
    pooled: { type: 'boolean', default: hasPooler(), describe: 'through a pgbouncer that pools by transactions' },
    seed: { type: 'number', default: 1, describe: 'of what is random' },
  })
  .parseSync()

/** Returns a generator of numbers from 0 to 1 that repeats for a seed (mulberry32). */
function randomOf(state: number): () => number {
  let at = state
  return () => {
    at = (at + 0x6d2b79f5) | 0
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

async function run(): Promise<void> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`)
  const server = await startServer()
  process.stdin.once('end', () => void server.close().finally(() => process.exit(1))).resume()
  const pooler = pooled ? await startPooler(server.url) : null
  const disk = fills > 0 ? await makeDisk(server.url, 600) : null
  if (!pooler) say('without a pooler: no pgbouncer is on the path, or it is not wanted')
  if (!disk) say('without a full disk: this user may not mount one, or it is not wanted')
  try {
    const options = { kills, workers, days, restarts, cuts, fills, pooler, disk, say, random: randomOf(seed) }
    const found = await campaign({ ...options, server: { url: server.url, restart: server.restart } })
    say(JSON.stringify(found, null, 2))
    const { different, mostAMinute, resumedEach } = found
    process.exitCode = different.length > 0 || mostAMinute > 600 || resumedEach > 45 ? 1 : 0
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
