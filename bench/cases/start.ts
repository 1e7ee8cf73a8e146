import { join } from 'node:path'
import { openStore } from '../../src/db/open.ts'
import { type Bench, fixed, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'

const bin = join(import.meta.dirname, '../../src/cli/bin.js')

/** What a command costs before it does anything. */
export async function start({ folder, runs, say }: Bench): Promise<Section[]> {
  const database = join(folder, 'start.db')
  await (await openStore(database)).close()
  const measured = new Map<string, Measured[]>()
  // These are short, so there are more of them; the first one compiles, and does not count.
  for (let run = 0; run <= 3 * runs; run++) {
    say(`start: run ${run} of ${3 * runs}`)
    for (const [name, args] of [
      ['node, nothing', ['-e', '0']],
      ['--help', [bin, '--help']],
      ['status', [bin, 'status', '--database', database]],
    ] as const) {
      const done = await measure(process.execPath, args, { NODE_OPTIONS: '' })
      if (run > 0) measured.set(name, [...(measured.get(name) ?? []), done])
    }
  }
  const bare = measured.get('node, nothing')!
  return [
    {
      title: 'Start',
      about: 'The whole process, from a clone (the source is compiled once and kept).',
      head: ['command', 'ms', 'ms over bare Node', 'peak MB'],
      rows: [...measured].map(([name, all]) => [
        name,
        fixed(median(all.map(({ seconds }) => seconds)) * 1000, 0),
        fixed(median(all.map(({ seconds }, i) => seconds - bare[i]!.seconds)) * 1000, 0),
        fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0),
      ]),
    },
  ]
}
