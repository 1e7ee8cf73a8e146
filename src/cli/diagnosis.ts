/** One finding of `doctor`. */
export interface Diagnosis {
  readonly what: string
  readonly good: boolean
  readonly says: string
  /** Whether it is only a warning: it works, but should be checked. */
  readonly warns?: true
}

export const good = (what: string, says: string): Diagnosis => ({ what, good: true, says })
export const warn = (what: string, says: string): Diagnosis => ({ what, good: true, says, warns: true })
export const bad = (what: string, says: string): Diagnosis => ({ what, good: false, says })
