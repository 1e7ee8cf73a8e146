/* Compares the whole database with the model. */
import type { Scene } from '../scene.ts'
import { differ } from '../scene.ts'
import { SCOPE } from '../scope.ts'
import { compareCoverage, compareFreshness } from './coverage.ts'
import { compareGaps } from './gaps.ts'
import { readSeries } from './storedSeries.ts'
import { compareDays, compareValues } from './values.ts'

/** Compares values, steps, history, coverage and gaps; throws at the first difference. */
export async function compare(scene: Scene): Promise<void> {
  const stored = readSeries(scene)
  for (const [key, truth] of scene.oracle) {
    const series = stored.find((one) => one.key === key)
    if (!series) {
      if ([...truth.values.values()].some((values) => values.size > 0)) differ('a series is missing', key, stored)
      continue
    }
    compareValues(scene, series, truth, null)
    compareDays(scene, series)
    if (SCOPE.has('history')) for (const then of scene.past.slice(-3)) compareValues(scene, series, truth, then)
    if (SCOPE.has('coverage')) compareCoverage(scene, series, truth)
    if (SCOPE.has('freshness')) compareFreshness(scene, series, truth)
  }
  if (SCOPE.has('gaps')) await compareGaps(scene, stored)
}
