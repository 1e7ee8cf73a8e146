import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, type Section } from '../bench.ts'
import { type Measured, measure, median } from '../measure.ts'

const bin = join(import.meta.dirname, '../../src/cli/bin.js')

/** Ten years of 2,000 series, planned and thrown away. */
export async function planning({ folder, runs, say }: Bench): Promise<Section[]> {
  const job = join(folder, 'plan.yaml')
  const ids = Array.from({ length: 2_000 }, (_, i) => 600 + i)
  writeFileSync(
    job,
    `name: bench\nseries:\n  - indicators: [${ids.join(', ')}]\n    window: { from: 2015-01-01, to: 2025-01-01 }\n`,
  )
  const all: Measured[] = []
  for (let run = 1; run <= runs; run++) {
    say(`planning: run ${run} of ${runs}`)
    all.push(await measure(process.execPath, [bin, 'plan', job, '--database', join(folder, 'absent.db')]))
  }
  return [
    {
      title: 'Planning',
      about: '`plan`: ten years of 2,000 new series by month.',
      head: ['requests planned', 'seconds', 'peak MB'],
      rows: [
        [
          /([\d,]+) calls/.exec(all[0]!.last)?.[1] ?? 'none',
          fixed(median(all.map(({ seconds }) => seconds))),
          fixed(median(all.map(({ peakMb }) => peakMb ?? 0)), 0),
        ],
      ],
    },
  ]
}
