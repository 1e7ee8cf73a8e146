import { InputError } from '../base/errors.ts'
import { formatLocal } from '../base/zone.ts'
import { openReader, type Reader } from '../db/open.ts'
import { parseSpan, SPAN_FORM } from '../job/moment.ts'
import { chart, scaleOf } from './chart.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs, RangeArgs } from './flags.ts'
import { instantOf, rangeOf } from './jobs.ts'
import { grouped, print } from './output.ts'

interface ShowArgs extends CommonArgs, DatabaseArgs, RangeArgs {
  readonly indicator: number
  readonly with?: number
  readonly geo?: number
  readonly last?: string
  readonly json: boolean
}

interface Dataset {
  readonly seriesId: number
  readonly zone: string
  readonly name: string
  readonly unit: string | null
  readonly geoId: number
  readonly geoName: string | null
  readonly firstAt: number
  readonly lastAt: number
}

interface Drawn extends Dataset {
  readonly step: number
  /** One a step; null where there is none. */
  readonly values: (number | null)[]
}

/** Seconds of values that are drawn when nobody says how many. */
const USUAL = 7 * 86_400
const HEIGHT = 12

/** The series of an indicator that is drawn: as it came rather than aggregated, of the geo that is meant, else of the first. */
function findDataset(db: Reader, indicator: number, geo: number | undefined): Dataset {
  const [found] = db.all(
    `select s.id as "seriesId", s.time_zone as zone, coalesce(l.indicator_name, 'indicator ' || s.indicator_id) as name, i.magnitude as unit,
       g.geo_id as "geoId", l.geo_name as "geoName", unixepoch(l.first_utc) as "firstAt", unixepoch(l.last_utc) as "lastAt"
     from series s join series_geo g on g.series_id = s.id
     join freshness l on l.series_id = s.id and l.geo_id = g.geo_id
     left join indicator i on i.kind = s.kind and i.id = s.indicator_id
     where s.kind = 'indicator' and s.indicator_id = :indicator and (:geo is null or g.geo_id = :geo)
     order by s.time_trunc is not null, s.id, g.geo_id <> 3, g.geo_id <> 8741, g.geo_id limit 1`,
    { indicator, geo: geo ?? null },
  ) as Dataset[]
  if (found) return found
  throw new InputError(`No values of indicator ${indicator}${geo === undefined ? '' : ` for geo ${geo}`} are held.`, {
    hint: 'See what is held: indicator-sync discover; what a database lacks, a job fetches: indicator-sync sync.',
    code: 'not-held',
  })
}

/** The values of a dataset inside a range, one a step. */
function draw(db: Reader, dataset: Dataset, from: number, to: number): Drawn {
  const rows = db.all(
    'select at, value, step_s as step from observation where series_id = ? and geo_id = ? and at >= ? and at < ? order by at',
    [dataset.seriesId, dataset.geoId, from, to],
  ) as { at: number; value: number | null; step: number }[]
  const step = rows.reduce((least, row) => Math.min(least, row.step), Number.POSITIVE_INFINITY)
  if (!Number.isFinite(step)) return { ...dataset, step: 3600, values: [] }
  const values: (number | null)[] = new Array(Math.ceil((to - from) / step)).fill(null)
  for (const row of rows)
    values.fill(row.value, Math.floor((row.at - from) / step), Math.ceil((row.at - from + row.step) / step))
  return { ...dataset, step, values }
}

const number = (value: number): string => value.toLocaleString('en-GB', { maximumFractionDigits: 2 })

function numbersOf({ values }: Drawn): number[] {
  return values.filter((value) => value !== null)
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, value) => sum + value, 0) / numbers.length

function caption(drawn: Drawn): string {
  const numbers = numbersOf(drawn)
  const { low, high } = scaleOf(numbers)
  const head = `${drawn.name}${drawn.geoName ? `, ${drawn.geoName}` : ''}${drawn.unit ? ` (${drawn.unit})` : ''}`
  return numbers.length === 0
    ? `${head}: nothing is held of this time`
    : `${head}: mean ${number(mean(numbers))}, from ${number(low)} to ${number(high)}`
}

/** Two series where both have values, hour by hour. */
function compare(a: Drawn, b: Drawn): string {
  const step = Math.max(a.step, b.step)
  const at = ({ values, step: own }: Drawn, i: number): number | null => {
    const part = values.slice((i * step) / own, ((i + 1) * step) / own).filter((value) => value !== null)
    return part.length === 0 ? null : mean(part)
  }
  const pairs: [number, number][] = []
  for (let i = 0; i < (a.values.length * a.step) / step; i++) {
    const [x, y] = [at(a, i), at(b, i)]
    if (x !== null && y !== null) pairs.push([x, y])
  }
  if (pairs.length < 2) return 'They have no time in common.'
  const [mx, my] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))]
  const sum = (of: (x: number, y: number) => number): number =>
    pairs.reduce((all, [x, y]) => all + of(x - mx, y - my), 0)
  const correlation = sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y))
  return `Second less first: ${number(my - mx)} on average; correlation ${Number.isNaN(correlation) ? 'none, for one of them never changes' : correlation.toFixed(3)}, in ${grouped(pairs.length)} periods of ${step} s.`
}

export async function run(args: ShowArgs): Promise<number> {
  const reader = openReader(readSettings(args).database.value)
  try {
    const first = findDataset(reader, args.indicator, args.geo)
    const second = args.with === undefined ? null : findDataset(reader, args.with, args.geo)
    const now = Math.floor(Date.now() / 1000)
    if (args.last !== undefined && parseSpan(args.last) === undefined)
      throw new InputError(`--last ${JSON.stringify(args.last)} is no span; legal: ${SPAN_FORM}.`, { code: 'bad-span' })
    const range = args.last
      ? { from: instantOf('last', `-${args.last}`, first.zone, now), to: Number.POSITIVE_INFINITY }
      : rangeOf(args, first.zone, now)
    const last = Math.max(first.lastAt, second?.lastAt ?? 0)
    const to = Math.min(range?.to ?? Number.POSITIVE_INFINITY, last + 1)
    const from = Math.max(range?.from ?? to - USUAL, Math.min(first.firstAt, second?.firstAt ?? first.firstAt))
    if (from >= to)
      throw new InputError(`Nothing of indicator ${args.indicator} is held for this time.`, {
        hint: `What is held ends at ${formatLocal(first.zone, last)}; give --from and --to, or no range for its last week.`,
        code: 'nothing-held',
      })
    const all = [first, ...(second ? [second] : [])].map((dataset) => draw(reader, dataset, from, to))
    if (args.json) {
      print(
        JSON.stringify(
          all.map(({ values, step, name, unit, geoId, geoName }) => ({
            name,
            unit,
            geo_id: geoId,
            geo_name: geoName,
            from,
            step_s: step,
            values,
          })),
        ),
      )
      return EXIT.done
    }
    // One unit is one scale, so that the eye may compare.
    const shared = all.every(({ unit }) => unit === first.unit)
    const whole = scaleOf(all.flatMap(numbersOf))
    const width = Math.min(process.stdout.columns ?? 100, 160)
    const [begin, end] = [from, to].map((at) => formatLocal(first.zone, at).slice(0, 16))
    for (const drawn of all) {
      const { low, high } = shared ? whole : scaleOf(drawn.values)
      print([caption(drawn), ...chart(drawn.values, { width, height: HEIGHT, low, high }), ''].join('\n'))
    }
    print(`${begin!.padEnd(width - 16)}${end}`)
    if (all.length === 2) print(`\n${compare(all[0]!, all[1]!)}`)
    return EXIT.done
  } finally {
    reader.raw.close()
  }
}
