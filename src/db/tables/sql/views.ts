import type { Column, RowOf } from '../declare.ts'
import { ARCHIVE_VIEWS } from './archiveViews.ts'
import { COVERAGE_VIEWS } from './coverageViews.ts'
import { TEXT_VIEWS } from './textViews.ts'
import { VALUE_VIEWS } from './valueViews.ts'

/** A view with its columns, its SQL, and SQL for PostgreSQL if it differs. */
export interface DatabaseView {
  readonly about: string
  readonly columns: Readonly<Record<string, Column<unknown>>>
  readonly sql: string
  readonly postgres?: string
}

/** Every view of the database. */
export const VIEWS = { ...VALUE_VIEWS, ...COVERAGE_VIEWS, ...TEXT_VIEWS, ...ARCHIVE_VIEWS } as const satisfies Record<
  string,
  DatabaseView
>

/** The rows of every view. */
export type ViewRows = { [V in keyof typeof VIEWS]: Readonly<RowOf<(typeof VIEWS)[V]>> }
