import type { data_dictionary } from './bookkeeping.ts'
import type { RowOf } from './declare.ts'
import { TABLE_NAMES, tableOf, VIEWS } from './schema.ts'
import type { DatabaseView } from './sql/views.ts'

/** Units and formats of columns by name, in every table. */
const COLUMN_UNITS: Readonly<Record<string, string>> = {
  value: 'unit of the indicator',
  min: 'unit of the indicator',
  max: 'unit of the indicator',
  avg: 'unit of the indicator',
  sum: 'unit of the indicator',
  energy: 'MWh',
  hours: 'h',
  seconds: 's',
  ms: 'ms',
  step_s: 's',
  window_s: 's',
  offset_s: 's',
  bytes: 'bytes',
  file_size: 'bytes',
  at_utc: 'UTC, YYYY-MM-DDTHH:MM:SSZ',
  first_utc: 'UTC, YYYY-MM-DDTHH:MM:SSZ',
  last_utc: 'UTC, YYYY-MM-DDTHH:MM:SSZ',
  at_local: 'local time with offset, ISO 8601',
  from_local: 'local time with offset, ISO 8601',
  to_local: 'local time with offset, ISO 8601',
  last_local: 'local time with offset, ISO 8601',
  local_date: 'local day, YYYY-MM-DD',
  local_month: 'local month, YYYY-MM',
}

/** The format in parentheses that a description contains. */
const formatIn = (about: string): string | null =>
  /\((epoch (?:milli)?seconds, UTC|UTC, ISO 8601 to the millisecond|ISO 8601 with offset)\)/.exec(about)?.[1] ?? null

type DictionaryEntry = RowOf<typeof data_dictionary>

/** The data dictionary as rows, from the declarations: every table, view and column with its unit and meaning. */
export function dictionaryRows(): DictionaryEntry[] {
  const objects = [
    ...TABLE_NAMES.map((name) => ({ name, kind: 'table', ...tableOf(name) })),
    ...Object.entries<DatabaseView>(VIEWS).map(([name, view]) => ({ name, kind: 'view', ...view })),
  ]
  return objects.flatMap(({ name, kind, about: meaning, columns }) => [
    { object: name, column_name: '', kind, position: 0, type: null, unit: null, meaning },
    ...Object.entries(columns).map(([column, { store, about }], i) => ({
      object: name,
      column_name: column,
      kind,
      position: i + 1,
      type: kind === 'table' ? store : null,
      unit: COLUMN_UNITS[column] ?? formatIn(about),
      meaning: about.replace(` (${formatIn(about)})`, ''),
    })),
  ])
}
