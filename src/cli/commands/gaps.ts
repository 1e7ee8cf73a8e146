import { findGaps, findProvisional } from '../../reports/findGaps.ts'
import { findLackingGeos, readNamedGeos } from '../../reports/lackingGeos.ts'
import { findFailedRuns, findUnfinishedRuns } from '../../reports/lastRuns.ts'
import { countPendingValues, pendingText } from '../../reports/pending.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print, printResult } from '../terminal/output.ts'
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
  ...(['series_id', 'kind', 'indicator_id', 'time_trunc', 'geo_id', 'from', 'to', 'reason', 'missing'] as const),
  ...(['step_s', 'expected_in_day', 'next'] as const),
] as const

export const handler = (args: Args<typeof flags>): Promise<number> =>
  withReader(readSettings(args).database.value, async (reader) => {
    const incomplete = [...(await findFailedRuns(reader)), ...(await findUnfinishedRuns(reader))]
    const gaps = [...(await findGaps(reader)), ...(args.provisional ? await findProvisional(reader) : [])]
    const lacking = await findLackingGeos(reader, await readNamedGeos(reader))
    const rows = gaps.map((gap) =>
      COLUMNS.map((column) => (column === 'geo_id' && !gap.geo_id ? 'all geos' : gap[column])),
    )
    const isComplete = incomplete.length + lacking.length === 0
    const noGaps = isComplete
      ? 'No gaps: no final value that the jobs select is known to be missing.'
      : 'No known gaps, but data may be missing:'
    printResult(args, gaps, rows.length > 0 ? tableText({ columns: COLUMNS, rows }) : noGaps)
    if (!args.json) {
      // A failed run may not even have known what its job selects.
      for (const { what } of incomplete) print(`Warning: ${what}`)
      for (const line of lackingGeosTexts(lacking)) print(line)
      if (rows.length === 0) print(pendingText(await countPendingValues(reader)))
    }
    return args.fail && !(isComplete && gaps.length === 0) ? EXIT.check : EXIT.done
  })
