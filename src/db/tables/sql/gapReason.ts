/** The reasons of the view `gaps`; `failed`: requested without success, `unverified`: the answer is not trusted, `absent`: missing at the source. */
export const GAP_REASONS = ['never requested', 'failed', 'unverified', 'absent'] as const
export type GapReason = (typeof GAP_REASONS)[number]
