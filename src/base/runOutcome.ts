/** How a run may end. */
export const RUN_OUTCOMES = ['done', 'partial', 'stopped', 'failed'] as const
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** What the record of a run says: how it ended, or that it has not ended. */
export type RecordedOutcome = RunOutcome | 'running'
