import type { Durability } from '../../src/db/store.ts'

/** Steps at which the process dies: before or after a matching statement, or microseconds after its start. */
export const STEPS = {
  'in a migration': { when: 'after', sql: /^\s*(create|alter|pragma user_version)/i },
  'before begin': { when: 'before', sql: /^begin immediate/ },
  'after begin': { when: 'after', sql: /^begin immediate/ },
  'after a row': { when: 'after', sql: /^insert into "/ },
  'after the rows': { when: 'before', sql: /^update "_run" set "requests"/ },
  'before commit': { when: 'before', sql: /^commit/ },
  'in a commit': { when: 'during', sql: /^commit/ },
  'after commit': { when: 'after', sql: /^commit/ },
  'in a checkpoint': { when: 'during', sql: /wal_checkpoint/ },
} as const satisfies Record<string, { when: 'before' | 'after' | 'during'; sql: RegExp }>

export type Step = keyof typeof STEPS

export interface Orders {
  readonly file: string
  readonly url: string
  readonly key: string
  readonly job: string
  readonly now: number
  /** Durability of commits; default: `normal`. */
  readonly durability?: Durability
  /** Dies at the `nth` occurrence of a step; without it the process survives. */
  readonly death: { readonly step: Step; readonly nth: number; readonly micros: number } | null
}
