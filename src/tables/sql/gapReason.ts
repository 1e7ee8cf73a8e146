/** Why a gap is there, as the view `gaps` says it: never requested, requested without success, answered in doubt, or absent at the source. */
export const GAP_REASONS = ['unasked', 'failed', 'doubt', 'absent'] as const
export type GapReason = (typeof GAP_REASONS)[number]
