/**
 * What a process owns in the database (claims, leases), and until when it may be sure of that without looking there: so many
 * milliseconds after it sent what was confirmed, by a clock that nobody sets. A process that was stopped, or heard nothing from the
 * database, is not sure any more when it goes on.
 */
export interface Sure<K> {
  /** Takes it for owned: the database confirmed what was sent at `sentAt` (of `performance.now()`). */
  confirm(owned: K, sentAt: number): void
  isSure(owned: K): boolean
  forget(owned: K): void
}

export function createSure<K>(ms: number): Sure<K> {
  const since = new Map<K, number>()
  return {
    confirm: (owned, sentAt) => void since.set(owned, sentAt),
    isSure: (owned) => performance.now() - (since.get(owned) ?? Number.NEGATIVE_INFINITY) < ms,
    forget: (owned) => void since.delete(owned),
  }
}
