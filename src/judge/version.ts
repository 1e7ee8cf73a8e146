/** The version of the rules. Stored spans of other versions are judged again by the next sync. */
export const JUDGEMENT = 15
