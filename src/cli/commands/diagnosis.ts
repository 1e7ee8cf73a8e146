/** One thing that `doctor` looked at. */
export interface Diagnosis {
  readonly what: string
  readonly good: boolean
  readonly says: string
  /** Nothing stands in the way, and it should be looked at all the same. */
  readonly warns?: true
}

export const good = (what: string, says: string): Diagnosis => ({ what, good: true, says })
export const warn = (what: string, says: string): Diagnosis => ({ what, good: true, says, warns: true })
export const bad = (what: string, says: string): Diagnosis => ({ what, good: false, says })
