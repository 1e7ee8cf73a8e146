import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPacked } from '../../test/packed.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'
import { serving } from '../serving.ts'

const KEY = 'k'.repeat(64)
const JOB = 'name: bench\nseries:\n  - { indicators: [600], window: { from: 2024-01-01, to: 2024-01-03 } }\n'

/** What a command costs before it does anything. */
export async function start({ folder, runs, say }: Bench): Promise<Section[]> {
  const [database, job] = [join(folder, 'start.db'), join(folder, 'start.yaml')]
  writeFileSync(job, JOB)
  say('start: packing and installing')
  const bin = join(installPacked(folder), 'src/cli/bin.js')
  const service = await serving('service.ts', ['fresh'])
  const env = { NODE_OPTIONS: '', INDICATOR_SYNC_API_KEY: KEY }
  const sync = [bin, 'sync', job, '--database', database, '--base-url', service.url]
  await measure(process.execPath, sync, env)
  const measured = new Map<string, Measured[]>()
  // These are short, so there are more of them; the first one compiles, and does not count.
  for (let run = 0; run <= 3 * runs; run++) {
    say(`start: run ${run} of ${3 * runs}`)
    for (const [name, args] of [
      ['node, nothing', ['-e', '0']],
      ['--help', [bin, '--help']],
      ['status', [bin, 'status', '--database', database]],
      ['sync, nothing to do', sync],
    ] as const) {
      const done = await measure(process.execPath, args, env)
      if (run > 0) measured.set(name, [...(measured.get(name) ?? []), done])
    }
  }
  await service.stop()
  return [
    {
      title: 'Start',
      about: 'The installed package, with a compile cache.',
      head: ['command', 'ms', 'peak MB'],
      rows: [...measured].map(([name, all]) => [
        name,
        fixed(median(all.map(({ seconds }) => seconds)) * 1000, 0),
        fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0),
      ]),
    },
  ]
}
