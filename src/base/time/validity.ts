/** Keys that are valid for `ttlMs` after the request that confirmed them was sent, by a monotonic clock: leases, claims. */
export interface Validity<K> {
  /** Takes a key for valid: a request sent at `sentAt` (of `performance.now()`) confirmed it. */
  confirm(key: K, sentAt: number): void
  isValid(key: K): boolean
  forget(key: K): void
}

export function createValidity<K>(ttlMs: number): Validity<K> {
  const confirmed = new Map<K, number>()
  return {
    confirm: (key, sentAt) => void confirmed.set(key, sentAt),
    isValid: (key) => performance.now() - (confirmed.get(key) ?? Number.NEGATIVE_INFINITY) < ttlMs,
    forget: (key) => void confirmed.delete(key),
  }
}
