/** The kinds of findings that need no values to be read. A kind may be the cause of later ones, not of earlier ones. */
export const STATE_KINDS = [
  'job file',
  'same name',
  'alternating',
  'clock',
  'key',
  'service down',
  'last run',
  'unfinished',
  'never run',
  'no run',
  'not judged',
  'unknown id',
  'failure',
  'quarantine',
  'geo',
  'no values',
  'late',
  'gap',
  'off the grid',
  'ahead',
  'cadence changed',
  'id changed meaning',
] as const

/** The kinds of findings for which every value or row is read. */
export const VALUE_KINDS = ['overlap', 'out of range', 'reference'] as const

/** The kinds of findings for which the totals of all days are computed, which takes long. */
export const TOTALS_KINDS = ['daily totals'] as const

export const FINDING_KINDS = [...STATE_KINDS, ...VALUE_KINDS, ...TOTALS_KINDS] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

/** Something that is wrong, with what to do about it. One cause is one finding, whatever follows from it. */
export interface Finding {
  /** The kind, as in docs/monitoring.md. */
  readonly kind: FindingKind
  /** What it is about: a job, a series, a request. */
  readonly subject: string
  /** Since when, UTC; null if that is not known. */
  readonly since_at: string | null
  /** What is wrong, what is missing because of it, and what a person must do if no command helps. */
  readonly message: string
  /** The command that ends the finding, after a person did what the message says; null if none does. */
  readonly command: string | null
  /** Why, in a word for scripts: the reason of missing data, or the error code of a run or request; null without one. */
  readonly cause: string | null
  /** All geos it is about, each once; 0 stands for all geos of a series. Empty if it is not about geos. */
  readonly geo_ids: readonly number[]
  /** The paths of all failed requests it is about. */
  readonly targets: readonly string[]
}
