import { skipSpace, skipValue } from '../../base/bytes/bytes.ts'
import { type PackedColumns, type PackedField, readColumns } from '../../base/bytes/pack.ts'
import { findList, VALUES_KEY } from '../../base/bytes/rowPattern.ts'
import { SchemaError } from '../../base/errors.ts'
import { isDoubtful } from '../../base/json.ts'
import { type Instant, parseInstant } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import { createNumbers } from './numbers.ts'
import { learn, restOf, type Scanned, type Template } from './scan.ts'
import { createCollector, type ValueCollector } from './values.ts'

/*
 * Reads the values of a series from the columns in which the reply store keeps them, without restoring the body: a fifth of the
 * work, with the same values. Anything unusual is restored and parsed like any other body.
 */

/** Reads the values of an answer that was arranged by column; null where it has to be parsed from the body. */
export function scanColumns(arranged: Buffer, window: Interval | null, root: string): Scanned | null {
  const { columns, sample } = readColumns(arranged)
  const start = skipSpace(sample, findList(sample, VALUES_KEY))
  try {
    const end = skipValue(sample, start)
    const template = learn(sample, start, end)
    const rest = restOf(sample.toString('utf8', 0, start), sample.toString('utf8', end))
    // Only the parser can decide whether other bare words are JSON.
    if (!template || !rest || template.parts.some(({ what }) => what === 'word')) return null
    const collector = createCollector(window, root)
    const read = createRow(columns, template, collector)
    for (let row = 0; row < columns.rows; row++) if (!read()) return null
    return { rest, values: collector.done() }
  } catch (error) {
    // The parser of the body will report the error.
    if (error instanceof SyntaxError || error instanceof SchemaError) return null
    throw error
  }
}

/** Returns a function that reads the next row; it returns false where that fails. */
function createRow({ fields, origin }: PackedColumns, { parts, geoId: only }: Template, collector: ValueCollector) {
  const of = (wanted: Template['parts'][number]['what']): PackedField | null =>
    fields[parts.findIndex(({ what }) => what === wanted)] ?? null
  const [values, geos, names] = [of('number')!, of('geo'), of('name')]
  const readTime = createTime(of('time')!, origin)
  const check = of('check')
  const readCheck = check && createTime(check, origin)
  const numbers = createNumbers(values.lines.bytes)
  return (): boolean => {
    // Other times are stored as differences to these, so these have to be read in any case.
    origin?.clock?.read(origin.lines, 0)
    const at = readTime()
    if (Number.isNaN(at) || (readCheck && readCheck() !== at)) return false
    let from = values.lines.at
    let to = values.lines.next()
    let value: number | null
    if (numbers.read(from, false) && numbers.end === to) value = numbers.number
    else {
      // A null, or a number with more digits.
      value = JSON.parse(values.lines.bytes.toString('latin1', from, to))
      if (value !== null && !Number.isFinite(value)) return false
    }
    let geoId = only ?? 0
    if (geos) {
      from = geos.lines.at
      to = geos.lines.next()
      if (!numbers.read(from, true) || numbers.end !== to) return false
      geoId = numbers.number
    }
    from = names?.lines.at ?? 0
    to = names?.lines.next() ?? 0
    if (collector.put(geoId, at, value) && to > from) {
      const name = names!.lines.bytes.toString('utf8', from, to)
      if (isDoubtful(name)) return false
      collector.name(geoId, name)
    }
    return true
  }
}

/** Returns a function that reads the next instant of a column; NaN where it is not an instant. */
function createTime({ lines, clock }: PackedField, origin: PackedField | null): () => Instant {
  if (!clock || !origin?.clock) return () => Number.NaN
  const { clock: first } = origin
  let suffix: string | null = null
  /** The offset from UTC in seconds, with the opposite sign. */
  let shift = Number.NaN
  return () => {
    if (clock !== first) clock.read(lines, first.local)
    if (clock.suffix !== suffix) {
      suffix = clock.suffix
      shift = parseInstant(`1970-01-01T00:00:00${suffix}`)
    }
    return clock.local + shift
  }
}
