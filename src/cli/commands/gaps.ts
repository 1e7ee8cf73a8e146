import { openReader } from '../../db/open.ts'
import { findGaps, findProvisional } from '../../reports/gaps.ts'
import { findLackingGeos, storedNamedGeos } from '../../reports/lackingGeos.ts'
import { failedRuns, unfinishedRuns } from '../../reports/lastRuns.ts'
import { pendingText, pendingValues } from '../../reports/pending.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'
import { lackingGeosTexts } from '../text/summary.ts'

export const flags = {
  ...DATABASE_FLAG,
  provisional: { type: 'boolean', default: false, describe: 'Also list missing values that may still be published' },
  fail: { type: 'boolean', default: false, describe: 'Exit 6 if data is missing' },
  ...JSON_FLAG,
} as const
export const examples = ['gaps --database data/demo.db', 'gaps --fail --json --database data/demo.db']

const COLUMNS = [
  'series_id',
  'kind',
  'indicator_id',
  'time_trunc',
  'geo_id',
  'from',
  'to',
  'reason',
  'missing',
  'step_s',
  'expected_in_day',
  'next',
] as const

/** A cell of the table: a request for all geos has no number. */
const gapCell = (column: (typeof COLUMNS)[number], value: unknown): unknown =>
  column === 'geo_id' && value === 0 ? 'all geos' : value

export async function handler(args: Args<typeof flags>): Promise<number> {
  const reader = openReader(readSettings(args).database.value)
  try {
    const incomplete = [...(await failedRuns(reader)), ...(await unfinishedRuns(reader))]
    const gaps = [...(await findGaps(reader)), ...(args.provisional ? await findProvisional(reader) : [])]
    const lacking = await findLackingGeos(reader, await storedNamedGeos(reader))
    if (args.json) print(JSON.stringify(gaps, null, 2))
    else {
      const rows = gaps.map((gap) => COLUMNS.map((column) => gapCell(column, gap[column])))
      if (rows.length > 0) print(tableText({ columns: COLUMNS, rows }))
      else if (incomplete.length + lacking.length > 0) print('No known gaps, but data may be missing:')
      else print('No gaps: every final value that the jobs select is stored.')
      // A run that failed may not even have known what its job selects.
      for (const { what } of incomplete) print(`Warning: ${what}`)
      for (const line of lackingGeosTexts(lacking)) print(line)
      const pending = rows.length === 0 && pendingText(await pendingValues(reader))
      if (pending) print(pending)
    }
    return args.fail && gaps.length + incomplete.length + lacking.length > 0 ? EXIT.check : EXIT.done
  } finally {
    await reader.close()
  }
}
