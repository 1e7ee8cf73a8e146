import { skipSpace, skipValue } from '../base/bytes.ts'
import { SchemaError } from '../base/errors.ts'
import { type Instant, parseInstant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { type Columns, type PackedField, readColumns } from '../base/pack.ts'
import { findList, VALUES } from '../base/rowPattern.ts'
import { createNumbers } from './numbers.ts'
import { learn, restOf, type Scanned, type Template } from './scan.ts'
import { type Gathering, gather } from './values.ts'

/*
 * Reads the values of a series from the columns in which they lie in the reply store, without writing the body again: a fifth
 * of the work, and the same values. What is not as it is as a rule is unpacked and read like any other body.
 */

/** Reads the values of an answer that was arranged by column; null when it has to be read from the body. */
export function scanColumns(arranged: Buffer, window: Interval | null): Scanned | null {
  const { columns, sample } = readColumns(arranged)
  const start = skipSpace(sample, findList(sample, VALUES))
  try {
    const end = skipValue(sample, start)
    const template = learn(sample, start, end)
    const rest = restOf(sample.toString('utf8', 0, start), sample.toString('utf8', end))
    // Whether a bare word is JSON is for the parser to say.
    if (!template || !rest || template.parts.some(({ what }) => what === 'word')) return null
    const gathering = gather(window)
    const read = createRow(columns, template, gathering)
    for (let row = 0; row < columns.rows; row++) if (!read()) return null
    return { rest, values: gathering.done() }
  } catch (error) {
    // Why it is refused is told where the body is read.
    if (error instanceof SyntaxError || error instanceof SchemaError) return null
    throw error
  }
}

/** Reads one row after the other; answers whether it could. */
function createRow({ fields, origin }: Columns, { parts, geoId: only }: Template, gathering: Gathering) {
  const of = (wanted: Template['parts'][number]['what']): PackedField | null =>
    fields[parts.findIndex(({ what }) => what === wanted)] ?? null
  const [values, geos, names] = [of('number')!, of('geo'), of('name')]
  const readTime = createTime(of('time')!, origin)
  const check = of('check')
  const readCheck = check && createTime(check, origin)
  const numbers = createNumbers(values.lines.bytes)
  return (): boolean => {
    // The other times are told by these, whether they are read or not.
    origin?.clock?.read(origin.lines, 0)
    const at = readTime()
    if (Number.isNaN(at) || (readCheck && readCheck() !== at)) return false
    let from = values.lines.at
    let to = values.lines.next()
    let value: number | null
    if (numbers.read(from, false) && numbers.end === to) value = numbers.number
    else {
      // A null, or a number of more digits.
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
    if (gathering.put(geoId, at, value) && to > from)
      gathering.name(geoId, names!.lines.bytes.toString('utf8', from, to))
    return true
  }
}

/** Reads the instants of a column of times; NaN where they are none. */
function createTime({ lines, clock }: PackedField, origin: PackedField | null): () => Instant {
  if (!clock || !origin?.clock) return () => Number.NaN
  const { clock: first } = origin
  let suffix: string | null = null
  /** What the clock is ahead of UTC, negative. */
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
