import { writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { allRows } from '../../db/engine.ts'
import { seriesUnitColumn } from '../../db/queries/catalogueNames.ts'
import { readLanguage } from '../../db/queries/referenceTables.ts'
import { readEndOfValues } from '../../db/queries/seriesLookup.ts'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { removeStaleParts } from '../../util/files/partFiles.ts'
import { asWriteError, prepareTarget, writeInPlace } from '../../util/files/target.ts'
import { grouped } from '../../util/text.ts'
import { parseInstant, toInstant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { addUnits, floorTo, formatLocal } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, OVERWRITE_FLAG, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print, printResult } from '../terminal/output.ts'
import { type ShownLine, type ShownRange, showJson, showText } from '../text/showText.ts'
import { resolveRange, resolveTimestamp } from '../times.ts'

export const positionals = {
  indicator: { type: 'number', demandOption: true, describe: 'Id of the indicator' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  kind: { type: 'string', default: ENTRY_ROUTES.series, describe: 'Choose the kind: indicator, offer_indicator' },
  geo: { type: 'number', describe: 'Choose the geo' },
  ...RANGE_FLAGS,
  'as-of': { type: 'string', describe: 'Draw the values known at this instant' },
  output: { type: 'string', describe: 'Write a picture to this file: .svg' },
  ...OVERWRITE_FLAG,
  ...JSON_FLAG,
} as const
export const examples = [
  'show 600 --database data/demo.db',
  'show 600 --from -7d --as-of today --database data/demo.db',
  'show 600 --from -30d --output price.svg --database data/demo.db',
]
export const endsWithOutput = true

type ShowArgs = Args<typeof flags, typeof positionals>

/** Seconds that are drawn by default. */
const DEFAULT_SPAN_S = 7 * 86_400

const kindText = (kind: string): string => kind.replaceAll('_', ' ')

/** Chooses a series of an indicator: native before aggregated; of the named geo, else of a main one, else of the first. */
async function chooseSeries(
  { kysely }: Reader,
  kind: string,
  indicator: number,
  geo: number | undefined,
  { mainGeos }: Service,
): Promise<ShownLine> {
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
    const firstAt = parseInstant(first_utc)
    const lastAt = parseInstant(last_utc)
    return { ...series, name: indicator_name ?? `${kindText(kind)} ${indicator}`, firstAt, lastAt }
  }
  throw new InputError(
    `No values of ${kindText(kind)} ${indicator}${geo === undefined ? '' : ` for geo ${geo}`} are stored.`,
    {
      hint: '`indicator-sync discover` lists stored series with their geos; `indicator-sync sync JOB` fetches more.',
      code: 'not-stored',
    },
  )
}

/** Reads what the flags select. Throws InputError if nothing of it is stored. */
async function readShown(reader: Reader, args: ShowArgs, service: Service): Promise<ShownRange> {
  const { kind, indicator, geo } = args
  const now = Date.now()
  const series = await chooseSeries(reader, kind, indicator, geo, service)
  const { zone, firstAt, lastAt } = series
  const asOf = args.asOf === undefined ? null : resolveTimestamp('as-of', args.asOf, zone, now)
  const range = resolveRange(args, zone, toInstant(now))
  const lastVersion =
    asOf === null ? null : await readEndOfValues(reader, series, 'last', { table: 'observation_revision' })
  const last = Math.max(lastAt, lastVersion ?? 0)
  const to = Math.min(range?.to ?? Number.POSITIVE_INFINITY, last + 1)
  const from = Math.max(range?.from ?? to - DEFAULT_SPAN_S, firstAt)
  if (from >= to)
    throw new InputError(`No values of ${kindText(kind)} ${indicator} are stored in this range.`, {
      hint: `The last stored value is at ${formatLocal(zone, last)}. Change --from and --to, or omit them to see the last week.`,
      code: 'nothing-stored',
    })
  const rows = await allRows(reader.engine.streamValues({ ...series, from, to }, asOf))
  if (asOf !== null && rows.length === 0)
    throw new InputError(`No values of ${kindText(kind)} ${indicator} in this range were known at ${asOf}.`, {
      hint: 'Pass a later instant.',
      code: 'nothing-known',
    })
  const shortest = rows.reduce((least, [, , step]) => Math.min(least, step), Number.POSITIVE_INFINITY)
  const values: (number | null)[] = new Array(Math.ceil((to - from) / shortest)).fill(null)
  for (const [at, value, step] of rows)
    values.fill(value, Math.floor((at - from) / shortest), Math.ceil((at - from + step) / shortest))
  return { ...series, from, to, asOf, step: shortest, values }
}

/** Refuses names of files that are not pictures. */
function checkPicture(output: string): void {
  if (extname(output).toLowerCase() === '.svg') return
  throw new InputError(`Cannot draw to ${output}: a picture is an SVG file.`, {
    hint: 'End the name with .svg. For values, use `indicator-sync export --output FILE.csv`.',
    code: 'bad-picture',
  })
}

/** The range of a picture: whole days, unless the flags name instants; null, that of the page, without flags. */
function pictureRange(args: ShowArgs, { zone, firstAt, to: end }: ShownRange, now: number): Interval | null {
  const range = resolveRange(args, zone, now)
  if (range === undefined) return null
  const lastDay = addUnits(zone, floorTo(zone, end - 1, 'day'), 'day', 1)
  const to = Math.min(range.to, lastDay)
  return { from: Math.max(range.from, floorTo(zone, firstAt, 'day')), to }
}

/** Draws the chart of the page as a file. */
async function writePicture(reader: Reader, output: string, args: ShowArgs, service: Service): Promise<void> {
  try {
    const { overwrite } = args
    const sources = [reader.file]
    const target = prepareTarget(output, { product: 'a picture', overwrite, sources, tidy: removeStaleParts })
    const shown = await readShown(reader, args, service)
    const now = toInstant(Date.now())
    const { drawStoredSeries } = await import('../../page/charts/commandPicture.ts')
    const language = await readLanguage(reader)
    const range = pictureRange(args, shown, now)
    const text = await drawStoredSeries(reader, { ...shown, range, language, service, now })
    if (target.isStream) writeFileSync(target.file, text)
    else await writeInPlace(target, (part) => writeFileSync(part, text))
    const bytes = Buffer.byteLength(text)
    printResult(args, { file: output, bytes }, `${output}: ${grouped(bytes)} bytes.`)
  } catch (error) {
    throw asWriteError(error, output)
  }
}

export async function handler(args: ShowArgs): Promise<number> {
  const { database, service } = readSettings(args)
  const { output } = args
  if (output !== undefined) checkPicture(output)
  return withReader(database.value, async (reader) => {
    if (output !== undefined) {
      await writePicture(reader, output, args, service.value)
      return EXIT.done
    }
    const shown = await readShown(reader, args, service.value)
    print(args.json ? JSON.stringify(showJson(shown)) : showText(shown, process.stdout.columns ?? 100))
    return EXIT.done
  })
}
