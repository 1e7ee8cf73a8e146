import type { Reader } from '../db/store.ts'
import type { Instant } from '../util/time/instant.ts'
import { readCatalogue } from './readCatalogue.ts'
import { readPlannerState } from './readPlannerState.ts'

/** All that a planner reads from a database. */
export const readPlanning = async (db: Reader, now: Instant) => ({
  plannerState: await readPlannerState(db, now),
  catalogue: await readCatalogue(db),
})
