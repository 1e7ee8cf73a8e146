/** The rows of `before` whose key is not in `after`, and the other way round. The key of a row has all that is compared. */
export function findRowChanges<T>(
  before: readonly T[],
  after: readonly T[],
  toKey: (row: T) => string,
): { readonly removed: readonly T[]; readonly inserted: readonly T[] } {
  const keysBefore = new Set(before.map(toKey))
  const keysAfter = new Set(after.map(toKey))
  return {
    removed: before.filter((row) => !keysAfter.has(toKey(row))),
    inserted: after.filter((row) => !keysBefore.has(toKey(row))),
  }
}
