import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, fixed, grouped, type Section } from '../bench.ts'
import { measure, median } from '../measure.ts'

/** Ten years of 2,000 series, planned and thrown away. */
export async function planning({ folder, runs, say }: Bench): Promise<Section[]> {
  const job = join(folder, 'plan.yaml')
  const ids = Array.from({ length: 2_000 }, (_, i) => 600 + i)
  writeFileSync(
    job,
    `name: bench\nseries:\n  - indicators: [${ids.join(', ')}]\n    window: { from: 2015-01-01, to: 2025-01-01 }\n`,
  )
  const all: { seconds: number; asks: number; peak: number }[] = []
  for (let run = 1; run <= runs; run++) {
    say(`planning: run ${run} of ${runs}`)
    const { last, peakMb } = await measure(process.execPath, [join(import.meta.dirname, '../children/plan.ts'), job])
    all.push({ ...(JSON.parse(last) as { seconds: number; asks: number }), peak: peakMb ?? 0 })
  }
  return [
    {
      title: 'Planning',
      about: 'Ten years of 2,000 series of which nothing is held, month by month; reading the job counts.',
      head: ['requests planned', 'seconds', 'peak MB'],
      rows: [
        [
          grouped(all[0]!.asks),
          fixed(median(all.map(({ seconds }) => seconds))),
          fixed(median(all.map(({ peak }) => peak)), 0),
        ],
      ],
    },
  ]
}
