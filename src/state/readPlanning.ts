import type { Reader } from '../db/store.ts'
import { readCatalogue } from './catalogue.ts'
import { readPlannerState } from './readPlannerState.ts'

/** All that a planner reads from a database. */
export const readPlanning = async (db: Reader) => ({
  plannerState: await readPlannerState(db),
  catalogue: await readCatalogue(db),
})
