import { findGaps } from '../audit/gaps.ts'
import { openReader } from '../db/open.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { print, table } from './output.ts'

const COLUMNS = [
  'indicator_id',
  'time_trunc',
  'geo_id',
  'from',
  'to',
  'reason',
  'missing',
  'step_s',
  'expected_in_day',
] as const

export async function run(
  args: CommonArgs & DatabaseArgs & { readonly fail: boolean; readonly json: boolean },
): Promise<number> {
  const reader = openReader(readSettings(args).database.value)
  try {
    const gaps = findGaps(reader)
    if (args.json) print(JSON.stringify(gaps, null, 2))
    else if (gaps.length === 0)
      print('No gaps: everything between the first and the last instant that was asked for is held.')
    else print(table({ columns: COLUMNS, rows: gaps.map((gap) => COLUMNS.map((column) => gap[column])) }))
    return args.fail && gaps.length > 0 ? EXIT.check : EXIT.done
  } finally {
    await reader.close()
  }
}
