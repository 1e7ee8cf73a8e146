import { extname } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { quantity } from '../../base/quantity.ts'
import { EARLIEST, formatMillis, LATEST } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import { startOfDate } from '../../base/time/zone.ts'
import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import type { Dialect } from '../../products/cells.ts'
import { type Clock, type Exported, exportLong, exportWide } from '../../products/export.ts'
import { type ExportQuestion, exportedGeoSeries, rangeIn, requireHeld, yearsOf } from '../../products/exportQuestion.ts'
import { runStatement, startStatement } from '../../products/statements/runner.ts'
import { examplesOf } from '../../services/examples.ts'
import type { Service } from '../../services/service.ts'
import { counted, exportFile, writeFile } from '../exports/exportFile.ts'
import { exportYears } from '../exports/partition.ts'
import { type CommonArgs, type DatabaseArgs, EXPORT_FORMS, type ExportForm, type RangeArgs } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { format, stream } from '../terminal/output.ts'
import { millisOfFlag, rangeOfFlags } from '../times.ts'

interface ExportArgs extends CommonArgs, DatabaseArgs, RangeArgs, Required<Dialect> {
  readonly indicator?: number[]
  readonly offer?: number[]
  readonly kind?: string
  readonly geo?: number[]
  readonly sql?: string
  readonly asOf?: string
  readonly wide: boolean
  readonly time: Clock
  readonly partition?: 'year'
  /** Undefined: the extension of `output` decides. */
  readonly format?: ExportForm
  readonly output?: string
  readonly overwrite: boolean
}

/** The flags with the format decided and `output` undefined for stdout. */
type ExportPlan = ExportArgs & { readonly format: ExportForm }

/** Names by which a shell means the standard output. */
const STDOUT: readonly string[] = ['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']
/** Any zone can tell whether a date exists. */
const SOME_ZONE = 'UTC'

const refuseExport = (message: string, hint: string): never => {
  throw new InputError(message, { hint, code: 'bad-export' })
}

const intoFile = (what: string): never => refuseExport(`${what} goes into a file.`, 'Name it: --output FILE.')

/** Returns the format that the file's extension or `--format` names; refuses a contradiction. */
function chooseForm({ output, format: form, partition }: ExportArgs): ExportForm {
  const extension = output === undefined ? '' : extname(output).slice(1)
  const named = EXPORT_FORMS.find((known) => known === extension.toLowerCase())
  // A folder may have any name: `prices.2025`.
  if (extension !== '' && !named && !partition)
    refuseExport(
      `Cannot export to ${output}: no format has the extension .${extension}.`,
      `Legal: ${EXPORT_FORMS.map((known) => `.${known}`).join(', ')}, or no extension with --format.`,
    )
  if (named && form && named !== form)
    refuseExport(`${output} does not match --format ${form}.`, `Leave out --format, or end the name with .${form}.`)
  return named ?? form ?? 'csv'
}

/** Refuses flags that do not go together. */
function checkFlags(args: ExportPlan, service: Service): void {
  const { sql, indicator, offer, output, partition, format: form } = args
  if ((sql === undefined) === (indicator === undefined && offer === undefined))
    refuseExport(
      'Say what to export: either --indicator or --sql.',
      `indicator-sync export --indicator ${examplesOf(service).indicator} --output spot.csv; --offer takes the numbers of offer indicators.`,
    )
  if (args.kind !== undefined && indicator === undefined)
    refuseExport('--kind goes with --indicator.', 'It says of which route its numbers are.')
  if (sql !== undefined && (args.wide || args.asOf || partition || args.geo || args.from || args.to))
    refuseExport(
      '--sql says everything itself: --wide, --as-of, --partition, --geo, --from and --to go with --indicator.',
      'Put the condition into the statement.',
    )
  if (output === undefined && (form === 'parquet' || partition)) intoFile(partition ? '--partition' : 'Parquet')
  if (form !== 'csv' && (args.safe || args.excel))
    refuseExport(
      `--${args.safe ? 'safe' : 'excel'} goes with CSV, not with ${form}.`,
      `Use --format csv and a name that ends with .csv, or leave out --${args.safe ? 'safe' : 'excel'}.`,
    )
}

/** The instants of a local year. The last year with four digits has no next one. */
const yearIn = (zone: string, year: number): Interval => ({
  from: startOfDate(zone, `${String(year).padStart(4, '0')}-01-01`)!,
  to: startOfDate(zone, `${String(year + 1).padStart(4, '0')}-01-01`) ?? LATEST + 1,
})

const both = (a: Interval, b: Interval): Interval => ({ from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) })

/** Writes a file for each local year of the series. */
async function writeYears(db: Reader, folder: string, question: ExportQuestion, args: ExportPlan): Promise<number> {
  const zones = [...new Set((await exportedGeoSeries(db, question)).map(({ zone }) => zone))]
  const rangeOfYear = (zone: string, year: number): Interval => both(rangeIn(zone, question), yearIn(zone, year))
  const part = (year: number): ExportQuestion => ({
    ...question,
    from: (zone) => rangeOfYear(zone, year).from,
    to: (zone) => rangeOfYear(zone, year).to,
  })
  return exportYears(folder, {
    years: await yearsOf(db, question),
    isWanted: (year) => zones.map((zone) => rangeOfYear(zone, year)).some(({ from, to }) => from < to),
    write: (year, file) =>
      writeFile(file, () => exportValues(db, part(year), args), { form: args.format, dialect: args }),
    form: args.format,
    overwrite: args.overwrite,
    sources: [db.file],
  })
}

const exportValues = (db: Reader, question: ExportQuestion, { wide, time }: ExportPlan): Promise<Exported> =>
  wide ? exportWide(db, question, time) : exportLong(db, question, time)

/** What `--indicator`, `--offer` and their companions mean: days are those of each series. */
async function exportQuestion(db: Reader, args: ExportArgs): Promise<ExportQuestion> {
  const now = Date.now()
  const range = (zone: string): Interval =>
    both(
      { from: EARLIEST, to: LATEST + 1 },
      rangeOfFlags(args, zone, Math.floor(now / 1000)) ?? { from: EARLIEST, to: LATEST + 1 },
    )
  const question = {
    indicators: args.indicator ?? [],
    kind: args.kind,
    offers: args.offer ?? [],
    geos: args.geo ?? [],
    from: (zone: string) => range(zone).from,
    to: (zone: string) => range(zone).to,
    asOf: null,
  }
  await requireHeld(db, question)
  const [first] = await exportedGeoSeries(db, question)
  return {
    ...question,
    asOf:
      args.asOf === undefined ? null : formatMillis(millisOfFlag('as-of', args.asOf, first?.zone ?? SOME_ZONE, now)),
  }
}

/** Writes the requested rows; returns how many. */
async function writeExport(reader: Reader, output: string | undefined, args: ExportPlan): Promise<number> {
  const { sql, overwrite, format: form } = args
  if (sql === undefined && args.partition && output !== undefined)
    return writeYears(reader, output, await exportQuestion(reader, args), args)
  const question = sql === undefined ? await exportQuestion(reader, args) : null
  const exported = async (): Promise<Exported> =>
    question
      ? exportValues(reader, question, args)
      : runStatement(startStatement(), { file: reader.address, sql: sql!, typed: form === 'parquet' })
  if (output !== undefined)
    return exportFile(output, exported, { form, dialect: args }, { overwrite, sources: [reader.file] })
  if (form === 'parquet') return intoFile('Parquet')
  const count = { rows: 0 }
  const { columns, rows } = await exported()
  const names = columns.map(({ name }) => name)
  const { safe, excel } = args
  await stream(format(form, names, counted(rows, count), { safe, excel }))
  return count.rows
}

export async function run(given: ExportArgs): Promise<number> {
  const { database, service } = readSettings(given)
  const { output: target, ...flags } = given
  const named = target === undefined || STDOUT.includes(target) ? flags : given
  const args: ExportPlan = { ...named, format: chooseForm(named) }
  checkFlags(args, service.value)
  // Illegal dates are reported before anything is opened.
  rangeOfFlags(args, SOME_ZONE, Math.floor(Date.now() / 1000))
  if (args.asOf !== undefined) millisOfFlag('as-of', args.asOf, SOME_ZONE, Date.now())
  const { output } = args
  const reader = openReader(database.value)
  try {
    const rows = await writeExport(reader, output, args)
    if (!args.quiet) process.stderr.write(`${quantity(rows, 'row')}${output ? ` in ${output}` : ''}.\n`)
    return EXIT.done
  } finally {
    await reader.close()
  }
}
