import { INDICATORS } from './indicators.ts'
import type { Query } from './query.ts'
import { TERMS } from './texts.ts'

/** The answer of `/indicators`. Some have no description, as at the live service. */
export function catalogueAnswer(query: Query): object {
  const english = query.locale === 'en'
  const wanted = Array.isArray(query.taxonomy_terms) ? (query.taxonomy_terms as string[]) : undefined
  const inEnglish = (term: string): string => [...TERMS.values()].find(({ es }) => es === term)?.en ?? term
  const indicators = INDICATORS.filter(
    ({ terms }) => !wanted || terms.some((term) => wanted.includes(term) || wanted.includes(inEnglish(term))),
  ).map(({ id, es, en, short, magnitude }) => {
    const name = english ? en : es
    const text = english
      ? `<p>${en}.</p><p><b>Magnitude:</b> ${magnitude[1]}</p>`
      : `<p>${es}.</p><p><b>Magnitud:</b> ${magnitude[1]}</p>`
    return id % 17 === 0 ? { name, short_name: short, id } : { name, description: text, short_name: short, id }
  })
  return { indicators, meta: { size: indicators.length } }
}
