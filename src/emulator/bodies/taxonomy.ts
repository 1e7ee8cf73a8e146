import type { ParsedQuery } from '../query.ts'
import { type Bilingual, TERMS, VOCABULARIES } from '../world/texts.ts'

/** Terms and vocabularies in one language, as every listing writes them. */
export const taxonomy = (
  terms: readonly number[],
  vocabularies: readonly number[],
  locale: keyof Bilingual,
): object => ({
  taxonomy_terms: terms.map((id) => ({
    id_taxonomy_term: id,
    name: TERMS.get(id)![locale],
    vocabulary_id: TERMS.get(id)!.vocabulary,
  })),
  vocabularies: vocabularies.map((id) => ({ id_vocabulary: id, name: VOCABULARIES.get(id)![locale] })),
})

const isNamed = (filter: ParsedQuery[string], ids: readonly number[], texts: ReadonlyMap<number, Bilingual>): boolean =>
  !Array.isArray(filter) || ids.some((id) => filter.includes(texts.get(id)!.es) || filter.includes(texts.get(id)!.en))

const isNumbered = (filter: ParsedQuery[string], ids: readonly number[]): boolean =>
  !Array.isArray(filter) || ids.some((id) => filter.includes(String(id)))

/** Whether an item with these terms and vocabularies passes the filters of a query, by name or by id. */
export const passes = (terms: readonly number[], vocabularies: readonly number[], query: ParsedQuery): boolean =>
  isNamed(query.taxonomy_terms, terms, TERMS) &&
  isNamed(query.vocabularies, vocabularies, VOCABULARIES) &&
  isNumbered(query.taxonomy_ids, terms) &&
  isNumbered(query.vocabulary_ids, vocabularies)
