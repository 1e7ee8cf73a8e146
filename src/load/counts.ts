import { prepareQuery } from '../db/prepared.ts'

/** Counters of a run, as in `_run`. */
export interface Counts {
  /** Recorded requests, without retries: loaded, failed, split or stopped. */
  readonly requests: number
  /** Requests that failed for good. */
  readonly failed: number
  /** Bytes of all replies, decoded. */
  readonly bytes: number
  /** Rows that were not stored before. */
  readonly rows_new: number
  /** Rows that were stored already with the same values. */
  readonly rows_unchanged: number
  /** Rows whose values changed. */
  readonly rows_revised: number
  /** Rows that the service no longer has. */
  readonly rows_withdrawn: number
  /** Rows that could not be parsed; they are in the quarantine. */
  readonly rows_rejected: number
}

export const NO_COUNTS: Counts = {
  requests: 0,
  failed: 0,
  bytes: 0,
  rows_new: 0,
  rows_unchanged: 0,
  rows_revised: 0,
  rows_withdrawn: 0,
  rows_rejected: 0,
}
/** The names of the counters. */
export const COUNTS = Object.keys(NO_COUNTS) as (keyof Counts)[]

/** Adds to the counters of a run, in the transaction of the reply. */
export const addToRun = prepareQuery((db, parameters: Counts & { runId: number }) =>
  db
    .updateTable('_run')
    .set((row) => Object.fromEntries(COUNTS.map((name) => [name, row(name, '+', parameters[name])])))
    .where('id', '=', parameters.runId),
)
