import { quantity } from '../../base/quantity.ts'
import { startOfDate } from '../../base/time/zone.ts'
import type { CoveredSeries } from '../../checks/strips.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import { MARKS, stripText } from './chart.ts'
import { wrapped } from './wrap.ts'

const WEEKS = 52
/** The most lines that a person reads. */
const MAX_STRIP_LINES = 40

/** Coverage as a strip a year of a zone, a mark a week where there is room for that. */
export function strips(series: readonly CoveredSeries[], zone: string, cells: number): string {
  const named = series.map(({ indicatorId, timeTrunc, geoId }) =>
    [indicatorId, timeTrunc, geoId === ALL_GEOS ? 'all geos' : `geo ${geoId}`]
      .filter((part) => part !== null)
      .join(' '),
  )
  const margin = Math.max(0, ...named.map(({ length }) => length))
  const marks = Math.max(12, Math.min(WEEKS, cells - margin - '  2025 '.length))
  const lines = series.flatMap(({ intervals }, nth) => {
    const first = new Date(intervals[0]!.from * 1000 + 12 * 3_600_000).getUTCFullYear()
    const last = new Date(intervals.at(-1)!.to * 1000 - 1).getUTCFullYear()
    return Array.from({ length: last - first + 1 }, (_, i) => {
      const year = first + i
      const from = startOfDate(zone, `${year}-01-01`)!
      const to = startOfDate(zone, `${year + 1}-01-01`)!
      return { name: i === 0 ? named[nth]! : '', year, drawn: stripText(intervals, from, to, marks) }
    })
  })
  const shown = lines.slice(0, MAX_STRIP_LINES)
  return [
    ...shown.map(({ name, year, drawn }) => `${name.padEnd(margin)}  ${year} ${drawn}`),
    ...(shown.length < lines.length
      ? [`${quantity(lines.length - shown.length, 'more year')}; see the view coverage.`]
      : []),
    wrapped(
      `${marks === WEEKS ? 'A mark a week' : `${marks} marks a year`}: ${MARKS.final} final, ${MARKS.provisional} may still be revised, ${MARKS.empty} empty at the source, ${MARKS.doubt} in doubt, ${MARKS.none} not held.`,
      cells,
    ),
  ].join('\n')
}
