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

/** Every view of the database. */
export const VIEWS = { ...VALUE_VIEWS, ...HELD_VIEWS, ...TEXT_VIEWS } as const satisfies Record<string, DatabaseView>
