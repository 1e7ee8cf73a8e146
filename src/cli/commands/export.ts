import { extname } from 'node:path'
import type { Reader } from '../../db/store.ts'
import {
  type ExportQuestion,
  readExportedSeries,
  requireStored,
  severalSeriesText,
} from '../../reports/exportQuestion.ts'
import { type ExportTable, exportLong, exportSheets, exportWide } from '../../reports/exportValues.ts'
import { RESAMPLE_UNITS } from '../../reports/resample.ts'
import { runStatement, startStatement } from '../../reports/statements/runner.ts'
import { exampleValues, type Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { quantity } from '../../util/text.ts'
import { EARLIEST, LATEST, toInstant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import type { Args } from '../command.ts'
import { exportTo } from '../exports/exportFile.ts'
import { CSV_FLAGS, DATABASE_FLAG, EXPORT_FORMS, type ExportForm, OVERWRITE_FLAG, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { resolveRange, resolveTimestamp } from '../times.ts'

export const flags = {
  ...DATABASE_FLAG,
  indicator: { type: 'number', array: true, describe: 'Export these indicators' },
  kind: { type: 'string', describe: 'Choose the kind: indicator, offer_indicator' },
  series: { type: 'number', array: true, describe: 'Choose series, if an indicator has several' },
  geo: { type: 'number', array: true, describe: 'Limit to these geos' },
  ...RANGE_FLAGS,
  'as-of': { type: 'string', describe: 'Export the values known at this instant' },
  sql: { type: 'string', describe: 'Export the rows of a SELECT statement' },
  resample: { choices: RESAMPLE_UNITS, describe: 'Aggregate to hours, local days or months' },
  partial: { type: 'boolean', default: false, describe: 'With --resample: aggregate incomplete periods too' },
  wide: { type: 'boolean', default: false, describe: 'One row per timestamp, one column per series and geo' },
  output: {
    type: 'string',
    defaultDescription: 'stdout',
    describe: 'Set the file: .csv, .tsv, .ndjson, .parquet, .xlsx (Excel)',
  },
  format: { choices: EXPORT_FORMS, defaultDescription: 'extension of --output, or csv', describe: 'Set the format' },
  ...CSV_FLAGS,
  ...OVERWRITE_FLAG,
} as const
export const examples = [
  'export --indicator 600 --from -7d --output spot.parquet --database data/demo.db',
  'export --indicator 600 1293 --resample hour --wide --output hours.csv --database data/demo.db',
  'export --indicator 600 --from -7d --output spot.xlsx --database data/demo.db',
  'export --sql "select * from latest" --output latest.csv --database data/demo.db',
]
export const endsWithOutput = true

type ExportArgs = Args<typeof flags>

/** Names of stdout in a shell. */
const STDOUT: readonly (string | undefined)[] = ['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1', undefined]
const ALL_TIME: Interval = { from: EARLIEST, to: LATEST + 1 }

const refuseExport = (message: string, hint: string): never => {
  throw new InputError(message, { hint, code: 'bad-export' })
}

/** Returns the format that the extension or `--format` names; refuses a contradiction. */
function chooseForm(output: string | undefined, form: ExportForm | undefined): ExportForm {
  const extension = extname(output ?? '').slice(1)
  const byExtension = EXPORT_FORMS.find((name) => name === extension.toLowerCase())
  if (extension !== '' && !byExtension)
    refuseExport(
      `Cannot export to ${output}: no format has the extension .${extension}.`,
      `Use ${EXPORT_FORMS.map((name) => `.${name}`).join(', ')}, or no extension with --format.`,
    )
  if (byExtension && form && byExtension !== form)
    refuseExport(`${output} does not match --format ${form}.`, `Omit --format, or end the name with .${form}.`)
  return byExtension ?? form ?? 'csv'
}

/** Refuses flags that do not work together. */
function checkFlags(args: ExportArgs, output: string | undefined, form: ExportForm, service: Service): void {
  const { sql, indicator } = args
  if ((sql === undefined) === (indicator === undefined))
    refuseExport(
      'Pass either --indicator or --sql.',
      `indicator-sync export --indicator ${exampleValues(service).indicator} --output spot.csv`,
    )
  if (args.kind !== undefined && indicator === undefined)
    refuseExport('--kind only works with --indicator.', 'Add --indicator, or omit --kind.')
  if (args.series !== undefined && indicator === undefined)
    refuseExport('--series only works with --indicator.', 'Add --indicator, or omit --series.')
  if (args.partial && args.resample === undefined)
    refuseExport('--partial only works with --resample.', 'Add --resample hour, or omit --partial.')
  if (sql !== undefined && (args.wide || args.resample || args.asOf || args.geo || args.from || args.to))
    refuseExport(
      '--sql does not work with --wide, --resample, --as-of, --geo, --from or --to.',
      'Put the conditions into the statement.',
    )
  const binary = ({ parquet: 'Parquet', xlsx: 'a workbook' } as Partial<Record<ExportForm, string>>)[form]
  if (output === undefined && binary && process.stdout.isTTY)
    refuseExport(`Cannot write ${binary} to a terminal.`, 'Use --output FILE, or pipe it into another program.')
  const csvFlag = args.safe ? '--safe' : '--excel'
  if (form !== 'csv' && (args.safe || args.excel))
    refuseExport(
      `${csvFlag} only works with CSV, not with ${form}.`,
      `Use --format csv and a name that ends with .csv, or omit ${csvFlag}.`,
    )
}

/** Reads the values to export; days are those of each series. */
async function readQuestion(db: Reader, args: ExportArgs): Promise<ExportQuestion> {
  const nowMs = Date.now()
  const range = (zone: string): Interval => resolveRange(args, zone, toInstant(nowMs)) ?? ALL_TIME
  const question = {
    indicators: args.indicator ?? [],
    kind: args.kind,
    series: args.series,
    geos: args.geo ?? [],
    from: (zone: string) => range(zone).from,
    to: (zone: string) => range(zone).to,
    asOf: null,
    resampling: args.resample && { unit: args.resample, partial: args.partial },
  }
  await requireStored(db, question)
  if (args.asOf === undefined) return question
  const [first] = await readExportedSeries(db, question)
  return { ...question, asOf: resolveTimestamp('as-of', args.asOf, first?.zone ?? 'UTC', nowMs) }
}

export async function handler(args: ExportArgs): Promise<number> {
  const { database, service } = readSettings(args)
  const { sql, overwrite } = args
  const output = STDOUT.includes(args.output) ? undefined : args.output
  const form = chooseForm(output, args.format)
  checkFlags(args, output, form, service.value)
  // Reports illegal dates before it opens the database.
  resolveRange(args, 'UTC', toInstant(Date.now()))
  if (args.asOf !== undefined) resolveTimestamp('as-of', args.asOf, 'UTC', Date.now())
  return withReader(database.value, async (reader) => {
    const question = sql === undefined ? await readQuestion(reader, args) : null
    const several = question && !args.quiet && severalSeriesText(await readExportedSeries(reader, question))
    if (several) process.stderr.write(`${several}\n`)
    const make = async (): Promise<readonly ExportTable[]> => {
      if (!question)
        return [await runStatement(startStatement(), { file: reader.address, sql: sql!, isTyped: form === 'parquet' })]
      if (args.wide) return [await exportWide(reader, question)]
      return form === 'xlsx' ? exportSheets(reader, question) : [await exportLong(reader, question)]
    }
    const rows = await exportTo(output, make, { form, dialect: args, overwrite, sources: [reader.file] })
    if (!args.quiet) process.stderr.write(`${quantity(rows, 'row')}${output ? ` in ${output}` : ''}.\n`)
    return EXIT.done
  })
}
