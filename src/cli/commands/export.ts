import { extname } from 'node:path'
import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import { type Exported, exportLong, exportWide } from '../../reports/export.ts'
import { type ExportQuestion, exportedGeoSeries, requireStored } from '../../reports/exportQuestion.ts'
import { RESAMPLE_UNITS } from '../../reports/resample.ts'
import { runStatement, startStatement } from '../../reports/statements/runner.ts'
import { exampleValues, type Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { quantity } from '../../util/text.ts'
import { EARLIEST, formatMillis, LATEST } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import type { Args } from '../command.ts'
import { counted, exportFile, exportPieces } from '../exports/exportFile.ts'
import {
  CSV_FLAGS,
  DATABASE_FLAG,
  EXPORT_FORMS,
  type ExportForm,
  MOMENT,
  OVERWRITE_FLAG,
  RANGE_FLAGS,
} from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { stream } from '../terminal/output.ts'
import { millisOfFlag, rangeOfFlags } from '../times.ts'

export const flags = {
  ...DATABASE_FLAG,
  indicator: { type: 'number', array: true, describe: 'Export these indicators' },
  kind: { type: 'string', describe: 'Choose the kind: indicator, offer_indicator' },
  geo: { type: 'number', array: true, describe: 'Limit to these geos' },
  ...RANGE_FLAGS,
  'as-of': { ...MOMENT, describe: 'Export the values known at this instant' },
  sql: { type: 'string', describe: 'Export the rows of a SELECT statement' },
  resample: { choices: RESAMPLE_UNITS, describe: 'Aggregate to hours, local days or months' },
  partial: { type: 'boolean', default: false, describe: 'With --resample: aggregate incomplete periods too' },
  wide: { type: 'boolean', default: false, describe: 'One row per timestamp, one column per series and geo' },
  output: { type: 'string', defaultDescription: 'stdout', describe: 'Set the file: .csv, .tsv, .ndjson or .parquet' },
  format: { choices: EXPORT_FORMS, defaultDescription: 'extension of --output, or csv', describe: 'Set the format' },
  ...CSV_FLAGS,
  ...OVERWRITE_FLAG,
} as const
export const examples = [
  'export --indicator 600 --from -7d --output spot.parquet --database data/demo.db',
  'export --indicator 600 1293 --resample hour --wide --output hours.csv --database data/demo.db',
  'export --sql "select * from latest" --output latest.csv --database data/demo.db',
]
export const endsWithOutput = true

type ExportArgs = Args<typeof flags>

/** The flags with the format decided and `output` undefined for stdout. */
type ExportPlan = ExportArgs & { readonly format: ExportForm }

/** Names by which a shell means the standard output. */
const STDOUT: readonly string[] = ['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']
/** Any zone can tell whether a date exists. */
const SOME_ZONE = 'UTC'

const refuseExport = (message: string, hint: string): never => {
  throw new InputError(message, { hint, code: 'bad-export' })
}

/** Returns the format that the file's extension or `--format` names; refuses a contradiction. */
function chooseForm({ output, format: form }: ExportArgs): ExportForm {
  const extension = output === undefined ? '' : extname(output).slice(1)
  const named = EXPORT_FORMS.find((known) => known === extension.toLowerCase())
  if (extension !== '' && !named)
    refuseExport(
      `Cannot export to ${output}: no format has the extension .${extension}.`,
      `Use ${EXPORT_FORMS.map((known) => `.${known}`).join(', ')}, or no extension with --format.`,
    )
  if (named && form && named !== form)
    refuseExport(`${output} does not match --format ${form}.`, `Omit --format, or end the name with .${form}.`)
  return named ?? form ?? 'csv'
}

/** Refuses flags that do not go together. */
function checkFlags(args: ExportPlan, service: Service): void {
  const { sql, indicator, output, format: form } = args
  if ((sql === undefined) === (indicator === undefined))
    refuseExport(
      'Pass either --indicator or --sql.',
      `indicator-sync export --indicator ${exampleValues(service).indicator} --output spot.csv`,
    )
  if (args.kind !== undefined && indicator === undefined)
    refuseExport('--kind only works with --indicator.', 'Add --indicator, or omit --kind.')
  if (args.partial && args.resample === undefined)
    refuseExport('--partial only works with --resample.', 'Add --resample hour, or omit --partial.')
  if (sql !== undefined && (args.wide || args.resample || args.asOf || args.geo || args.from || args.to))
    refuseExport(
      '--sql does not work with --wide, --resample, --as-of, --geo, --from or --to.',
      'Put the conditions into the statement.',
    )
  if (output === undefined && form === 'parquet' && process.stdout.isTTY)
    refuseExport('Cannot write Parquet to a terminal.', 'Use --output FILE, or pipe it into another program.')
  if (form !== 'csv' && (args.safe || args.excel))
    refuseExport(
      `--${args.safe ? 'safe' : 'excel'} only works with CSV, not with ${form}.`,
      `Use --format csv and a name that ends with .csv, or omit --${args.safe ? 'safe' : 'excel'}.`,
    )
}

const both = (a: Interval, b: Interval): Interval => ({ from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) })

const exportValues = (db: Reader, question: ExportQuestion, { wide }: ExportPlan): Promise<Exported> =>
  wide ? exportWide(db, question) : exportLong(db, question)

/** The values to export; days are those of each series. */
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
    geos: args.geo ?? [],
    from: (zone: string) => range(zone).from,
    to: (zone: string) => range(zone).to,
    asOf: null,
    resampling: args.resample && { unit: args.resample, partial: args.partial },
  }
  await requireStored(db, question)
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
  const question = sql === undefined ? await exportQuestion(reader, args) : null
  const exported = async (): Promise<Exported> =>
    question
      ? exportValues(reader, question, args)
      : runStatement(startStatement(), { file: reader.address, sql: sql!, typed: form === 'parquet' })
  if (output !== undefined)
    return exportFile(output, exported, { form, dialect: args }, { overwrite, sources: [reader.file] })
  const count = { rows: 0 }
  const { columns, rows } = await exported()
  await stream(await exportPieces({ columns, rows: counted(rows, count) }, { form, dialect: args }))
  return count.rows
}

export async function handler(given: ExportArgs): Promise<number> {
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
