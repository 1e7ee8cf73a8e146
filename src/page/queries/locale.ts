/** Picks one of the languages of the same thing: the first of those wanted that there is, else any. */
export function inLanguage<T extends { readonly locale: string }>(
  rows: readonly T[],
  languages: readonly string[],
): T | undefined {
  for (const language of languages) {
    const row = rows.find(({ locale }) => locale === language)
    if (row) return row
  }
  return rows[0]
}
