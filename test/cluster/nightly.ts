/* The long variant of the campaign: `npm run test:cluster -- --kills 300`. */
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { startServer } from '../postgres/server.ts'
import { campaign } from './campaign.ts'

const { kills, workers, days, restarts, cuts, seed } = yargs(hideBin(process.argv))
  .options({
    kills: { type: 'number', default: 300, describe: 'workers that are killed' },
    workers: { type: 'number', default: 4, describe: 'at once' },
    days: { type: 'number', default: 400, describe: 'of three series, each requested by itself' },
    restarts: { type: 'number', default: 4, describe: 'of the server, in the middle of it' },
    cuts: { type: 'number', default: 6, describe: 'of all connections' },
    seed: { type: 'number', default: 1, describe: 'of what is random' },
  })
  .parseSync()

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomOf(state: number): () => number {
  let at = state
  return () => {
    at = (at + 0x6d2b79f5) | 0
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const server = await startServer()
try {
  const found = await campaign({
    ...{
      kills,
      workers,
      days,
      restarts,
      cuts,
      random: randomOf(seed),
      say: (text) => void process.stdout.write(`${text}\n`),
    },
    server: { url: server.url, restart: server.restart },
  })
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
  const { twice, different, mostASecond } = found
  process.exitCode = twice > 0 || different.length > 0 || mostASecond > 20 ? 1 : 0
} finally {
  await server.close()
}
