import { HELD_VIEWS } from './heldViews.ts'
import { TEXT_VIEWS } from './textViews.ts'
import { VALUE_VIEWS } from './valueViews.ts'

/**
 * Every view of the database: what a row is, what its columns mean, and its SQL as it stands today. A migration that makes
 * or changes one has a copy of its own, for history does not change; a test compares what the migrations made with this.
 */
export const VIEWS = { ...VALUE_VIEWS, ...HELD_VIEWS, ...TEXT_VIEWS } as const satisfies Record<
  string,
  { about: string; columns: Record<string, string>; sql: string }
>
