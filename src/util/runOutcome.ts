/** How a run may end. */
export type RunOutcome = 'done' | 'partial' | 'stopped' | 'failed'

/** What the record of a run says: how it ended, or that it has not ended. */
export type RecordedOutcome = RunOutcome | 'running'
