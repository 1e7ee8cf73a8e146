/**
 * What a process holds in the database (claims, leases), and until when it may be sure of that without looking there: so many
 * milliseconds after it sent what was confirmed, by a clock that nobody sets. A process that was stopped, or heard nothing from the
 * database, is not sure any more when it goes on.
 */
export interface Sure<K> {
  /** Takes it for held: the database confirmed what was sent at `sentAt` (of `performance.now()`). */
  confirm(held: K, sentAt: number): void
  isSure(held: K): boolean
  forget(held: K): void
}

export function createSure<K>(ms: number): Sure<K> {
  const since = new Map<K, number>()
  return {
    confirm: (held, sentAt) => void since.set(held, sentAt),
    isSure: (held) => performance.now() - (since.get(held) ?? Number.NEGATIVE_INFINITY) < ms,
    forget: (held) => void since.delete(held),
  }
}
