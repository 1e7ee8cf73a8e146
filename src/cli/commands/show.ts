import { openReader } from '../../db/open.ts'
import { seriesUnitColumn } from '../../db/queries/catalogueNames.ts'
import { endOfValues } from '../../db/queries/seriesLookup.ts'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Service } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import { formatMillis, parseInstant } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, MOMENT, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { type DrawnSeries, drawnValues, type Shown, type ShownSeries, shownJson, shownText } from '../text/shown.ts'
import { millisOfFlag, rangeOfFlags } from '../times.ts'

export const positionals = {
  indicator: { type: 'number', demandOption: true, describe: 'Id of the indicator' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  kind: { type: 'string', default: ENTRY_ROUTES.series, describe: 'Choose the kind: indicator, offer_indicator' },
  with: { type: 'number', describe: 'Draw and compare a second indicator' },
  geo: { type: 'number', describe: 'Choose the geo' },
  ...RANGE_FLAGS,
  'as-of': { ...MOMENT, describe: 'Draw the values known at this instant' },
  revisions: { type: 'boolean', default: false, describe: 'Compare first and current values; list revisions' },
  ...JSON_FLAG,
} as const
export const examples = ['show 600 --database data/demo.db', 'show 600 --from -7d --with 1293 --database data/demo.db']
export const endsWithOutput = true

type ShowArgs = Args<typeof flags, typeof positionals>

/** Seconds of values that are drawn by default. */
const USUAL = 7 * 86_400

/** A kind of indicators in words. */
const kindWord = (kind: string): string => kind.replaceAll('_', ' ')

/**
 * The series of an indicator to draw: native rather than aggregated; of the named geo, else of a main one of the service, else of
 * the first.
 */
async function findShownSeries(
  { kysely }: Reader,
  kind: string,
  indicator: number,
  geo: number | undefined,
  { mainGeos }: Service,
): Promise<ShownSeries> {
  const series = kysely
    .selectFrom('series as s')
    .innerJoin('series_geo as g', 'g.series_id', 's.id')
    .innerJoin('freshness as l', (join) => join.onRef('l.series_id', '=', 's.id').onRef('l.geo_id', '=', 'g.geo_id'))
    .select(['s.id as seriesId', 's.time_zone as zone', 'l.indicator_name', 's.indicator_id'])
    .select(seriesUnitColumn('s'))
    .select(['g.geo_id as geoId', 'l.geo_name as geoName', 'l.first_utc', 'l.last_utc'])
    .where('s.kind', '=', kind)
    .where('s.indicator_id', '=', indicator)
    .$if(geo !== undefined, (of) => of.where('g.geo_id', '=', geo!))
    .orderBy((of) => of('s.time_trunc', 'is not', null))
    .orderBy((of) => of('s.geo_agg', 'is not', null))
    .orderBy('s.id')
  const mainFirst = mainGeos.reduce((query, id) => query.orderBy((of) => of('g.geo_id', '<>', id)), series)
  const found = await mainFirst.orderBy('g.geo_id').limit(1).executeTakeFirst()
  if (found) {
    const { indicator_name, indicator_id, first_utc, last_utc, ...series } = found
    const [firstAt, lastAt] = [parseInstant(first_utc), parseInstant(last_utc)]
    return { ...series, name: indicator_name ?? `${kindWord(kind)} ${indicator_id}`, firstAt, lastAt }
  }
  throw new InputError(
    `No values of ${kindWord(kind)} ${indicator}${geo === undefined ? '' : ` for geo ${geo}`} are stored.`,
    {
      hint: '`indicator-sync discover` lists stored series; `indicator-sync sync JOB` fetches more.',
      code: 'not-stored',
    },
  )
}

/** The values of a series in a range, current or past, one for each step. */
async function readDrawn(
  { engine }: Reader,
  only: ShownSeries,
  from: number,
  to: number,
  then: string,
): Promise<DrawnSeries> {
  const state = then === 'now' ? '' : then === 'first' ? ', as first stored' : `, as known at ${then}`
  const titled = { ...only, state }
  const rows = await engine.valuesThen({ ...titled, from, to }, then)
  const step = rows.reduce((least, row) => Math.min(least, row.step), Number.POSITIVE_INFINITY)
  if (!Number.isFinite(step)) return { ...titled, step: 3600, values: [] }
  const values: (number | null)[] = new Array(Math.ceil((to - from) / step)).fill(null)
  for (const row of rows)
    values.fill(row.value, Math.floor((row.at - from) / step), Math.ceil((row.at - from + row.step) / step))
  return { ...titled, step, values }
}

/** Reads what is to be shown. Throws InputError where nothing of it is stored. */
async function readShown(reader: Reader, args: ShowArgs, service: Service): Promise<Shown> {
  const { kind, indicator: id } = args
  if (args.revisions && args.with !== undefined)
    throw new InputError('--revisions does not work with --with.', { code: 'usage' })
  const first = await findShownSeries(reader, kind, id, args.geo, service)
  const second =
    args.with === undefined ? null : await findShownSeries(reader, ENTRY_ROUTES.series, args.with, args.geo, service)
  const asOf = args.asOf === undefined ? null : formatMillis(millisOfFlag('as-of', args.asOf, first.zone, Date.now()))
  const then = asOf ?? (args.revisions ? 'first' : 'now')
  const range = rangeOfFlags(args, first.zone, Math.floor(Date.now() / 1000))
  const lastVersion =
    then === 'now' ? null : await endOfValues(reader, first, 'last', { table: 'observation_revision' })
  const last = Math.max(first.lastAt, second?.lastAt ?? 0, lastVersion ?? 0)
  const to = Math.min(range?.to ?? Number.POSITIVE_INFINITY, last + 1)
  const from = Math.max(range?.from ?? to - USUAL, Math.min(first.firstAt, second?.firstAt ?? first.firstAt))
  if (from >= to)
    throw new InputError(`No values of ${kindWord(kind)} ${id} are stored in this range.`, {
      hint: `The last stored value is at ${formatLocal(first.zone, last)}. Change --from and --to, or omit them to see the last week.`,
      code: 'nothing-stored',
    })
  const shown = [first, ...(second ? [second] : [])]
  const all: DrawnSeries[] = []
  for (const series of shown) all.push(await readDrawn(reader, series, from, to, then))
  if (asOf !== null && all.every((drawn) => drawnValues(drawn).length === 0))
    throw new InputError(`No values of ${kindWord(kind)} ${id} in this range were known at ${asOf}.`, {
      hint: 'Pass a later instant, or use --revisions without --as-of to see the first version of each value.',
      code: 'nothing-known',
    })
  const revised = args.revisions ? await reader.engine.revisions({ ...first, from, to }, asOf) : null
  const current = revised ? await readDrawn(reader, first, from, to, 'now') : null
  return { all, from, to, then, revised, current }
}

export async function handler(args: ShowArgs): Promise<number> {
  const { database, service } = readSettings(args)
  const reader = openReader(database.value)
  try {
    const shown = await readShown(reader, args, service.value)
    if (args.json) print(JSON.stringify(shownJson(shown)))
    else print(shownText(shown, process.stdout.columns ?? 100))
    return EXIT.done
  } finally {
    await reader.close()
  }
}
