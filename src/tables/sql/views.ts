import { HELD_VIEWS } from './heldViews.ts'
import { TEXT_VIEWS } from './textViews.ts'
import { VALUE_VIEWS } from './valueViews.ts'

/** A view: what a row is, what its columns mean, its SQL, and that for PostgreSQL where it needs other words to be fast. */
export interface DatabaseView {
  readonly about: string
  readonly columns: Readonly<Record<string, string>>
  readonly sql: string
  readonly postgres?: string
}

/**
 * Every view of the database: what a row is, what its columns mean, and its current SQL. A migration that makes or changes a
 * view has a copy of its own, because migrations are never edited; a test compares what the migrations made with this.
 */
export const VIEWS = { ...VALUE_VIEWS, ...HELD_VIEWS, ...TEXT_VIEWS } as const satisfies Record<string, DatabaseView>
