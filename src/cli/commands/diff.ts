import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import { type Difference, type DiffQuestion, differences, spanOfRun } from '../../reports/diff.ts'
import { InputError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import { formatMillis } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, FORMATS, JSON_FLAG, LIMIT_FLAG, MOMENT } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { format, print, stream } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'
import { millisOfFlag } from '../times.ts'

export const flags = {
  ...DATABASE_FLAG,
  from: { ...MOMENT, defaultDescription: '-1d', describe: 'List changes stored after this instant' },
  to: { ...MOMENT, defaultDescription: 'now', describe: 'Set the end of the comparison' },
  run: { type: 'number', array: true, nargs: 1, describe: 'Show changes by this run; twice: from run to run' },
  indicator: { type: 'number', array: true, describe: 'Limit to these indicators' },
  format: { choices: FORMATS, default: 'table', describe: 'Set the output format' },
  ...JSON_FLAG,
  ...LIMIT_FLAG,
} as const
export const examples = ['diff --from -7d --database data/demo.db', 'diff --run 1 --format csv --database data/demo.db']

type DiffArgs = Args<typeof flags>

const COLUMNS = [
  ...['what', 'change', 'kind', 'id', 'name', 'series_id', 'geo_id', 'at_utc', 'at_local', 'field', 'locale'],
  ...['before', 'after', 'changed_at'],
] as (keyof Difference)[]
/** The columns that a table shows: the others do not fit a terminal. */
const SHOWN_COLUMNS = ['change', 'id', 'name', 'geo_id', 'at_local', 'before', 'after'] as const

/** An instant to the millisecond, from the value of a flag. */
const momentOfFlag = (flag: string, text: string, zone: string, now: number): string =>
  formatMillis(millisOfFlag(flag, text, zone, now))

async function diffRange(reader: Reader, args: DiffArgs, zone: string): Promise<Pick<DiffQuestion, 'from' | 'to'>> {
  const now = Date.now()
  if (args.run === undefined)
    return {
      from: momentOfFlag('from', args.from ?? '-1d', zone, now),
      to: args.to === undefined ? formatMillis(now) : momentOfFlag('to', args.to, zone, now),
    }
  if (args.from !== undefined || args.to !== undefined || args.run.length > 2)
    throw new InputError('Pass --run once or twice, or --from and --to.', { code: 'usage' })
  const spans: { from: string; to: string }[] = []
  for (const run of args.run) {
    const span = await spanOfRun(reader, run, now)
    if (span) spans.push(span)
    else
      throw new InputError(`Run ${run} does not exist.`, {
        hint: 'List the runs: indicator-sync query "select id, job, started_at from runs"',
        code: 'unknown-run',
      })
  }
  // For one run: what it changed. For two: what changed from the end of the first to the end of the second.
  const [first, second] = spans as [{ from: string; to: string }, ...{ from: string; to: string }[]]
  return second ? { from: first.to, to: second.to } : first
}

/** The number of differences of each kind, in one line. */
const countsText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .map(([sort, count]) => {
      const [what = '', change = ''] = sort.split(' ')
      return `${what === 'catalogue' ? quantity(count, 'catalogue entry', 'catalogue entries') : quantity(count, what)} ${change}`
    })
    .join(', ')

export async function handler(args: DiffArgs): Promise<number> {
  const { database, service } = readSettings(args)
  const reader = openReader(database.value)
  try {
    const zone = service.value.timeZone
    const question: DiffQuestion = { ...(await diffRange(reader, args, zone)), indicators: args.indicator ?? [] }
    if (question.from > question.to)
      throw new InputError('--from must not be later than --to.', { code: 'empty-range' })
    const counts = new Map<string, number>()
    const all = await differences(reader, question)
    async function* changes(): AsyncGenerator<Difference> {
      for await (const one of all) {
        const sort = `${one.what} ${one.change}`
        counts.set(sort, (counts.get(sort) ?? 0) + 1)
        yield one
      }
    }
    const how = args.json ? 'json' : args.format
    if (how !== 'table') {
      const rows = (async function* () {
        for await (const one of changes()) yield [COLUMNS.map((column) => one[column])]
      })()
      await stream(format(how, COLUMNS, rows))
      return EXIT.done
    }
    const shown: Difference[] = []
    for await (const one of changes()) if (args.limit === 0 || shown.length < args.limit) shown.push(one)
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    if (shown.length > 0)
      print(
        `${tableText({
          columns: SHOWN_COLUMNS.map((column) => column.replace('_id', '').replace('at_local', 'time or field')),
          rows: shown.map((one) =>
            SHOWN_COLUMNS.map((column) => (column === 'at_local' ? (one.at_local ?? fieldText(one)) : one[column])),
          ),
        })}\n`,
      )
    print(`${question.from} … ${question.to}: ${total === 0 ? 'nothing changed' : countsText(counts)}.`)
    if (shown.length < total && !args.quiet)
      process.stderr.write(
        `Showing the first ${grouped(shown.length)} of ${grouped(total)}. Use --limit 0 to show all.\n`,
      )
    return EXIT.done
  } finally {
    await reader.close()
  }
}

const fieldText = ({ field, locale, what }: Difference): string => (field ? `${field} (${locale})` : what)
