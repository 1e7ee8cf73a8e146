import type { RecordedOutcome } from '../../../util/eventFields.ts'
import type { GapReason } from '../codes.ts'
import { ARCHIVE_VIEWS } from './archiveViews.ts'
import { COVERAGE_VIEWS } from './coverageViews.ts'
import { TEXT_VIEWS } from './textViews.ts'
import { VALUE_VIEWS } from './valueViews.ts'

/** A view with the descriptions of its columns, its SQL, and faster SQL for PostgreSQL if there is one. */
export interface DatabaseView {
  readonly about: string
  readonly columns: Readonly<Record<string, string>>
  readonly sql: string
  readonly postgres?: string
}

/** Every view of the database. */
export const VIEWS = { ...VALUE_VIEWS, ...COVERAGE_VIEWS, ...TEXT_VIEWS, ...ARCHIVE_VIEWS } as const satisfies Record<
  string,
  DatabaseView
>

type Views = typeof VALUE_VIEWS & typeof COVERAGE_VIEWS & typeof TEXT_VIEWS & typeof ARCHIVE_VIEWS

type Numbers =
  | (
      | 'series_id'
      | 'indicator_id'
      | 'geo_id'
      | 'item_id'
      | 'id'
      | 'at'
      | 'from_at'
      | 'to_at'
      | 'step_s'
      | 'count'
      | 'hours'
      | 'line'
      | 'hour'
    )
  | ('requests' | 'failed' | 'bytes' | `rows_${'new' | 'unchanged' | 'revised' | 'withdrawn' | 'rejected'}`)
type OptionalNumbers =
  | 'value'
  | 'min'
  | 'max'
  | 'avg'
  | 'sum'
  | 'energy'
  | 'missing'
  | 'seconds'
  | 'quarter'
  | 'price_pcb'
  | 'price_cym'
type Flags = 'expired' | 'sticky' | 'is_complete'
type Texts =
  | ('kind' | 'locale' | 'at_utc' | 'at_local' | 'local_date' | 'local_month' | 'from_local' | 'to_local' | 'state')
  | ('fetched_at' | 'first_utc' | 'last_utc' | 'last_local' | 'date' | 'first_seen_at' | 'command' | 'job')
  | 'started_at'

/** Types of columns that differ between views. */
interface Special {
  readonly gaps: { readonly reason: GapReason; readonly step_s: number | null; readonly job: string | null }
  readonly runs: { readonly outcome: RecordedOutcome }
  readonly archive_pvpc: { readonly hours: string }
  readonly archive_publications: { readonly bytes: number | null }
}

type ColumnValue<V, C> = V extends keyof Special
  ? C extends keyof Special[V]
    ? Special[V][C]
    : ValueByName<C>
  : ValueByName<C>

/** Types of columns by name; columns in none of the lists are nullable texts. */
type ValueByName<C> = C extends Numbers
  ? number
  : C extends OptionalNumbers
    ? number | null
    : C extends Flags
      ? 0 | 1
      : C extends Texts
        ? string
        : string | null

/** The rows of every view. */
export type ViewRows = { [V in keyof Views]: { readonly [C in keyof Views[V]['columns']]: ColumnValue<V, C> } }
