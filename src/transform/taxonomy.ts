import type { OwnedRows, RowValues, TableRows } from '../db/tables/rows.ts'
import type { TableName } from '../db/tables/schema.ts'
import { isObject, toInteger, toText } from '../util/json.ts'
import { AS } from './fields.ts'
import { type CheckedPart, checkPart, type Rejects } from './rejects.ts'

/** An item with terms and vocabularies. */
export interface ClassifiedItem {
  readonly owner: RowValues
  readonly part: CheckedPart
}

/** The entries of a list with an id, to read their fields. */
const readEntries = (
  part: CheckedPart,
  key: string,
  idKey: string,
  rejects: Rejects,
): { id: number; entry: CheckedPart }[] =>
  part.list(key).flatMap((entry, i) => {
    const id = isObject(entry) ? toInteger(entry[idKey]) : null
    return !isObject(entry) || id === null
      ? []
      : [{ id, entry: checkPart(entry, `${part.path}.${key}[${i}]`, rejects, idKey) }]
  })

const NAME_FIELD = ['name', AS.name] as const

/** The rows of the terms and vocabularies of items, and their links. */
export function taxonomyRows(
  classified: readonly ClassifiedItem[],
  locale: string,
  rejects: Rejects,
  links: { readonly term: TableName; readonly vocabulary: TableName },
): { tables: TableRows[]; owned: OwnedRows[] } {
  const terms = new Map<number, { vocabularyId: number | null; name: string | null }>()
  const vocabularies = new Map<number, string | null>()
  const termLinks: RowValues[] = []
  const vocabularyLinks: RowValues[] = []
  for (const item of classified) {
    for (const { id, entry } of readEntries(item.part, 'taxonomy_terms', 'id_taxonomy_term', rejects)) {
      const { name, vocabulary } = entry.columns({ name: NAME_FIELD, vocabulary: ['vocabulary_id', AS.integer] })
      const vocabularyId = toInteger(vocabulary)
      const earlier = terms.get(id)
      terms.set(id, {
        vocabularyId: vocabularyId ?? earlier?.vocabularyId ?? null,
        name: toText(name) ?? earlier?.name ?? null,
      })
      if (vocabularyId !== null && !vocabularies.has(vocabularyId)) vocabularies.set(vocabularyId, null)
      termLinks.push({ ...item.owner, term_id: id })
    }
    for (const { id, entry } of readEntries(item.part, 'vocabularies', 'id_vocabulary', rejects)) {
      vocabularies.set(id, toText(entry.columns({ name: NAME_FIELD }).name) ?? vocabularies.get(id) ?? null)
      vocabularyLinks.push({ ...item.owner, vocabulary_id: id })
    }
  }
  const named = <T>(entries: Iterable<readonly [number, T]>, name: (value: T) => string | null): RowValues[] =>
    [...entries].flatMap(([id, value]) => (name(value) === null ? [] : [{ id, locale, name: name(value) }]))
  const owners = (list: 'taxonomy_terms' | 'vocabularies'): RowValues[] =>
    classified.filter(({ part }) => part.object[list] !== undefined).map(({ owner }) => owner)
  const owner = Object.keys(classified[0]?.owner ?? {})
  return {
    tables: [
      { table: 'vocabulary', rows: [...vocabularies.keys()].map((id) => ({ id })) },
      { table: 'vocabulary_text', rows: named(vocabularies, (name) => name) },
      {
        table: 'taxonomy_term',
        rows: [...terms].map(([id, { vocabularyId }]) =>
          vocabularyId === null ? { id } : { id, vocabulary_id: vocabularyId },
        ),
      },
      { table: 'taxonomy_term_text', rows: named(terms, ({ name }) => name) },
    ],
    owned: [
      { table: links.term, owner, owners: owners('taxonomy_terms'), rows: termLinks, locale },
      { table: links.vocabulary, owner, owners: owners('vocabularies'), rows: vocabularyLinks, locale },
    ],
  }
}
