import { quantity } from '../../base/quantity.ts'
import { formatUtc } from '../../base/time/instant.ts'
import { formatLocal } from '../../base/time/zone.ts'
import type { Revision } from '../../db/engine.ts'
import { tableText } from '../terminal/table.ts'

export const shortNumber = (value: number): string => value.toLocaleString('en-GB', { maximumFractionDigits: 2 })

/** How many revisions are listed. */
const LISTED = 20

/** When something was revised, the latest first: how many values, of which time, and by how much at most. */
export function revisionsTable(revisions: readonly Revision[], zone: string): string {
  if (revisions.length === 0) return 'Nothing of this time was revised since.'
  const rows = [...Map.groupBy(revisions, ({ revisedAt }) => revisedAt)].map(([revisedAt, together]) => {
    const times = together.map(({ at }) => at)
    const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
    const changes = together.flatMap(({ before, after }) =>
      before === null || after === null ? [] : [Math.abs(after - before)],
    )
    return [
      formatLocal(zone, Math.floor(Date.parse(revisedAt) / 1000)).slice(0, 16),
      formatLocal(zone, first).slice(0, 16),
      formatLocal(zone, last).slice(0, 16),
      together.length,
      together.filter(({ withdrawn }) => withdrawn).length,
      changes.length === 0 ? '' : shortNumber(changes.reduce((a, b) => Math.max(a, b))),
    ]
  })
  const columns = ['revised at', 'first value', 'last value', 'values', 'withdrawn', 'largest change']
  const more = rows.length > LISTED ? `\n… and ${quantity(rows.length - LISTED, 'time')} before; --json lists all.` : ''
  return `${quantity(revisions.length, 'value')} revised:\n${tableText({ columns, rows: rows.slice(0, LISTED) })}${more}`
}

/** A mark below every column of a chart in which something was revised. */
export function marks(revisions: readonly Revision[], from: number, to: number, width: number): string {
  const columns = new Array<string>(width).fill(' ')
  for (const { at } of revisions) columns[Math.min(width - 1, Math.floor(((at - from) / (to - from)) * width))] = '▲'
  return columns.join('').trimEnd()
}

/** Revisions for machines. */
export const revisionsJson = (revisions: readonly Revision[]): object[] =>
  revisions.map(({ at, before, after, withdrawn, revisedAt }) => ({
    at_utc: formatUtc(at),
    before,
    after,
    withdrawn,
    revised_at: revisedAt,
  }))
