/** The long campaign: `npm run test:crash -- --kills 300 --seed 7`. Prints a line per round. */
import { startCampaign } from '../support/campaign.ts'
import { crashCommands, crashPairs } from './campaign.ts'
import { crash } from './harness.ts'

const { count, seed, isOver, say, fault, end } = await startCampaign({
  script: 'test:crash',
  about:
    'Kills syncs and other commands at random, suspends them, lets two write at once, and compares what they leave with undisturbed runs.',
  counted: ['kills', 300],
})
const half = Math.ceil(count / 2)
const reports = {
  syncs: await crash(half, seed, say, isOver),
  commands: await crashCommands(count - half, seed, say, isOver),
  pairs: await crashPairs(Math.ceil(count / 10), seed, say, isOver),
}
say(JSON.stringify(reports, null, 2))
for (const { faults } of Object.values(reports)) for (const one of faults) fault(one)
end(`${reports.syncs.kills + reports.commands.kills} kills`)
