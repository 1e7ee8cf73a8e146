import type { Reader } from '../../db/store.ts'
import { type Difference, type DiffQuestion, findDifferences, readRunTimes } from '../../reports/findDifferences.ts'
import { InputError } from '../../util/errors.ts'
import { quantity } from '../../util/text.ts'
import { formatMillis } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, FORMATS, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { format, print, stream, warnOfLimit } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'
import { resolveTimestamp } from '../times.ts'

export const flags = {
  ...DATABASE_FLAG,
  from: { type: 'string', defaultDescription: '-1d', describe: 'List changes stored after this instant' },
  to: { type: 'string', defaultDescription: 'now', describe: 'Set the end of the comparison' },
  run: { type: 'number', array: true, nargs: 1, describe: 'Show changes by this run; twice: from run to run' },
  indicator: { type: 'number', array: true, describe: 'Limit to these indicators' },
  format: { choices: FORMATS, default: 'table', describe: 'Set the output format' },
  ...JSON_FLAG,
  limit: { type: 'number', defaultDescription: '50 in a table', describe: 'Set the maximum number of rows (0 = all)' },
} as const
export const examples = ['diff --from -7d --database data/demo.db', 'diff --run 1 --format csv --database data/demo.db']

type DiffArgs = Args<typeof flags>

const COLUMNS = [
  'what',
  'change',
  'kind',
  'id',
  'name',
  'series_id',
  'geo_id',
  'at_utc',
  'at_local',
  'field',
  'locale',
  'before',
  'after',
  'changed_at',
] as (keyof Difference)[]
/** Rows of a table, unless the user sets their number. */
const TABLE_ROWS = 50
/** The columns of a table: all do not fit a terminal. */
const TABLE_COLUMNS = ['change', 'id', 'name', 'geo', 'time or field', 'before', 'after']

const tableRow = ({ what, change, id, name, geo_id, at_local, field, locale, before, after }: Difference) => {
  const place = at_local ?? (field ? `${field} (${locale})` : what)
  return [change, id, name, geo_id, place, before, after]
}

/** Resolves the two timestamps to compare, from `--from` and `--to` or from `--run`. */
async function readSpan(reader: Reader, args: DiffArgs, zone: string): Promise<Pick<DiffQuestion, 'from' | 'to'>> {
  const now = Date.now()
  if (args.run === undefined)
    return {
      from: resolveTimestamp('from', args.from ?? '-1d', zone, now),
      to: resolveTimestamp('to', args.to ?? 'now', zone, now),
    }
  if (args.from !== undefined || args.to !== undefined || args.run.length > 2)
    throw new InputError('Pass --run once or twice, or --from and --to.', { code: 'usage' })
  const runs: { from: string; to: string }[] = []
  for (const run of args.run) {
    const times = await readRunTimes(reader, run, formatMillis(now))
    if (!times)
      throw new InputError(`Run ${run} does not exist.`, {
        hint: 'List the runs: indicator-sync query "select id, job, started_at from runs"',
        code: 'unknown-run',
      })
    runs.push(times)
  }
  // Two runs are compared from the end of the first to the end of the second.
  const [first, second] = runs
  return second ? { from: first!.to, to: second.to } : first!
}

/** Counts the differences of each kind in words. */
const countsText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .map(([key, count]) => {
      const [what = '', change = ''] = key.split(' ')
      return `${what === 'catalogue' ? quantity(count, 'catalogue entry', 'catalogue entries') : quantity(count, what)} ${change}`
    })
    .join(', ')

export async function handler(args: DiffArgs): Promise<number> {
  const { database, service } = readSettings(args)
  return withReader(database.value, async (reader) => {
    const { from, to } = await readSpan(reader, args, service.value.timeZone)
    if (from > to) {
      const mistake = args.run ? 'The first --run must be the earlier one.' : '--from must not be later than --to.'
      throw new InputError(mistake, { code: 'empty-range' })
    }
    const differences = await findDifferences(reader, { from, to, indicators: args.indicator ?? [] })
    const name = args.json ? 'json' : args.format
    const limit = args.limit ?? (name === 'table' ? TABLE_ROWS : 0)
    if (name !== 'table') {
      const rows = (async function* () {
        let count = 0
        for await (const difference of differences) {
          if (limit > 0 && count++ === limit) return
          yield [COLUMNS.map((column) => difference[column])]
        }
      })()
      await stream(format(name, COLUMNS, rows))
      return EXIT.done
    }
    const counts = new Map<string, number>()
    const rows: unknown[][] = []
    let total = 0
    for await (const difference of differences) {
      const key = `${difference.what} ${difference.change}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      total++
      if (limit === 0 || rows.length < limit) rows.push(tableRow(difference))
    }
    if (rows.length > 0) print(`${tableText({ columns: TABLE_COLUMNS, rows })}\n`)
    print(`${from} … ${to}: ${total === 0 ? 'nothing changed' : countsText(counts)}.`)
    warnOfLimit(args, rows.length, total)
    return EXIT.done
  })
}
