import type { CoveredSeries } from '../audit/coverage.ts'
import { startOfDate } from '../base/zone.ts'
import { MARKS, strip } from './chart.ts'

const ZONE = 'Europe/Madrid'
const WEEKS = 52
/** Lines that a person still looks at. */
const MOST = 40

/** Coverage as a strip a year, a mark a week. */
export function strips(series: readonly CoveredSeries[]): string {
  const lines = series.flatMap(({ indicatorId, timeTrunc, geoId, stretches }) => {
    const name = [indicatorId, timeTrunc, geoId === 0 ? 'all geos' : `geo ${geoId}`].filter((part) => part !== null)
    const first = new Date(stretches[0]!.from * 1000 + 12 * 3_600_000).getUTCFullYear()
    const last = new Date(stretches.at(-1)!.to * 1000 - 1).getUTCFullYear()
    return Array.from({ length: last - first + 1 }, (_, i) => {
      const year = first + i
      const from = startOfDate(ZONE, `${year}-01-01`)!
      const to = startOfDate(ZONE, `${year + 1}-01-01`)!
      return { name: i === 0 ? name.join(' ') : '', year, drawn: strip(stretches, from, to, WEEKS) }
    })
  })
  const shown = lines.slice(0, MOST)
  const margin = Math.max(0, ...shown.map(({ name }) => name.length))
  return [
    ...shown.map(({ name, year, drawn }) => `${name.padEnd(margin)}  ${year} ${drawn}`),
    ...(shown.length < lines.length ? [`${lines.length - shown.length} more years; see the view coverage.`] : []),
    `A mark a week: ${MARKS.final} final, ${MARKS.provisional} may still be revised, ${MARKS.empty} empty at the source, ${MARKS.none} not held.`,
  ].join('\n')
}
