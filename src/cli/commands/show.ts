import { seriesUnitColumn } from '../../db/queries/catalogueNames.ts'
import { readEndOfValues } from '../../db/queries/seriesLookup.ts'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Service } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import { parseInstant } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { type DrawnSeries, drawnValues, type Shown, type ShownSeries, showJson, showText } from '../text/showText.ts'
import { resolveRange, resolveTimestamp } from '../times.ts'

export const positionals = {
  indicator: { type: 'number', demandOption: true, describe: 'Id of the indicator' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  kind: { type: 'string', default: ENTRY_ROUTES.series, describe: 'Choose the kind: indicator, offer_indicator' },
  with: { type: 'number', describe: 'Draw and compare a second indicator' },
  geo: { type: 'number', describe: 'Choose the geo' },
  ...RANGE_FLAGS,
  'as-of': { type: 'string', describe: 'Draw the values known at this instant' },
  revisions: { type: 'boolean', default: false, describe: 'Compare first and current values; list revisions' },
  ...JSON_FLAG,
} as const
export const examples = ['show 600 --database data/demo.db', 'show 600 --from -7d --with 1293 --database data/demo.db']
export const endsWithOutput = true

type ShowArgs = Args<typeof flags, typeof positionals>

/** Seconds that are drawn by default. */
const DEFAULT_SPAN = 7 * 86_400

const kindText = (kind: string): string => kind.replaceAll('_', ' ')

/** Chooses a series of an indicator: native before aggregated; of the named geo, else of a main one, else of the first. */
async function chooseSeries(
  { kysely }: Reader,
  kind: string,
  indicator: number,
  geo: number | undefined,
  { mainGeos }: Service,
): Promise<ShownSeries> {
  const candidates = kysely
    .selectFrom('series as s')
    .innerJoin('series_geo as g', 'g.series_id', 's.id')
    .innerJoin('freshness as l', (join) => join.onRef('l.series_id', '=', 's.id').onRef('l.geo_id', '=', 'g.geo_id'))
    .select(['s.id as seriesId', 's.time_zone as zone', 'l.indicator_name'])
    .select(seriesUnitColumn('s'))
    .select(['g.geo_id as geoId', 'l.geo_name as geoName', 'l.first_utc', 'l.last_utc'])
    .where('s.kind', '=', kind)
    .where('s.indicator_id', '=', indicator)
    .$if(geo !== undefined, (query) => query.where('g.geo_id', '=', geo!))
    .orderBy((eb) => eb('s.time_trunc', 'is not', null))
    .orderBy((eb) => eb('s.geo_agg', 'is not', null))
    .orderBy('s.id')
  const mainFirst = mainGeos.reduce((query, id) => query.orderBy((eb) => eb('g.geo_id', '<>', id)), candidates)
  const row = await mainFirst.orderBy('g.geo_id').limit(1).executeTakeFirst()
  if (row) {
    const { indicator_name, first_utc, last_utc, ...series } = row
    const [firstAt, lastAt] = [parseInstant(first_utc), parseInstant(last_utc)]
    return { ...series, name: indicator_name ?? `${kindText(kind)} ${indicator}`, firstAt, lastAt }
  }
  throw new InputError(
    `No values of ${kindText(kind)} ${indicator}${geo === undefined ? '' : ` for geo ${geo}`} are stored.`,
    {
      hint: '`indicator-sync discover` lists stored series; `indicator-sync sync JOB` fetches more.',
      code: 'not-stored',
    },
  )
}

/** Reads the values of a series in a range, one for each step, in a version. */
async function readValues(
  { engine }: Reader,
  series: ShownSeries,
  range: { readonly from: number; readonly to: number },
  then: string,
): Promise<DrawnSeries> {
  const { from, to } = range
  const state = then === 'now' ? '' : then === 'first' ? ', as first stored' : `, as known at ${then}`
  const rows = await engine.valuesThen({ ...series, from, to }, then)
  if (rows.length === 0) return { ...series, state, step: 3600, values: [] }
  const step = rows.reduce((least, row) => Math.min(least, row.step), Number.POSITIVE_INFINITY)
  const values: (number | null)[] = new Array(Math.ceil((to - from) / step)).fill(null)
  for (const row of rows)
    values.fill(row.value, Math.floor((row.at - from) / step), Math.ceil((row.at - from + row.step) / step))
  return { ...series, state, step, values }
}

/** Reads what the flags select. Throws InputError if nothing of it is stored. */
async function readShown(reader: Reader, args: ShowArgs, service: Service): Promise<Shown> {
  const { kind, indicator, geo } = args
  const now = Date.now()
  if (args.revisions && args.with !== undefined)
    throw new InputError('--revisions does not work with --with.', { code: 'usage' })
  const first = await chooseSeries(reader, kind, indicator, geo, service)
  const series = [first]
  if (args.with !== undefined) series.push(await chooseSeries(reader, ENTRY_ROUTES.series, args.with, geo, service))
  const asOf = args.asOf === undefined ? null : resolveTimestamp('as-of', args.asOf, first.zone, now)
  const then = asOf ?? (args.revisions ? 'first' : 'now')
  const range = resolveRange(args, first.zone, Math.floor(now / 1000))
  const lastVersion =
    then === 'now' ? null : await readEndOfValues(reader, first, 'last', { table: 'observation_revision' })
  const last = Math.max(...series.map(({ lastAt }) => lastAt), lastVersion ?? 0)
  const to = Math.min(range?.to ?? Number.POSITIVE_INFINITY, last + 1)
  const from = Math.max(range?.from ?? to - DEFAULT_SPAN, Math.min(...series.map(({ firstAt }) => firstAt)))
  if (from >= to)
    throw new InputError(`No values of ${kindText(kind)} ${indicator} are stored in this range.`, {
      hint: `The last stored value is at ${formatLocal(first.zone, last)}. Change --from and --to, or omit them to see the last week.`,
      code: 'nothing-stored',
    })
  const all: DrawnSeries[] = []
  for (const shown of series) all.push(await readValues(reader, shown, { from, to }, then))
  if (asOf !== null && all.every((drawn) => drawnValues(drawn).length === 0))
    throw new InputError(`No values of ${kindText(kind)} ${indicator} in this range were known at ${asOf}.`, {
      hint: 'Pass a later instant, or use --revisions without --as-of to see the first version of each value.',
      code: 'nothing-known',
    })
  const revised = args.revisions ? await reader.engine.revisions({ ...first, from, to }, asOf) : null
  const current = revised ? await readValues(reader, first, { from, to }, 'now') : null
  return { all, from, to, then, revised, current }
}

export async function handler(args: ShowArgs): Promise<number> {
  const { database, service } = readSettings(args)
  return withReader(database.value, async (reader) => {
    const shown = await readShown(reader, args, service.value)
    print(args.json ? JSON.stringify(showJson(shown)) : showText(shown, process.stdout.columns ?? 100))
    return EXIT.done
  })
}
