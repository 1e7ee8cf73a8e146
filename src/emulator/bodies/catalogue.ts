import { localeOf, type ParsedQuery } from '../query.ts'
import { INDICATORS, type Indicator } from '../world/indicators.ts'
import type { Bilingual } from '../world/texts.ts'
import { encode, TERMS } from '../world/texts.ts'
import type { World } from '../world/world.ts'

const MAGNITUDE_WORD = { es: 'Magnitud', en: 'Magnitude' } as const

const descriptionOf = ({ about, magnitude }: Indicator, locale: keyof Bilingual): string | undefined =>
  about && encode(`<p>${about[locale]}</p><p><b>${MAGNITUDE_WORD[locale]}:</b> ${magnitude[1]}</p>`)

/** Whether an indicator is filed under one of some terms, named in either language. */
const isFiled = ({ terms }: Indicator, wanted: readonly string[]): boolean =>
  [...TERMS.values()].some(({ es, en }) => terms.includes(es) && (wanted.includes(es) || wanted.includes(en)))

/** The answer of `/indicators`. Some have no description, as at the live service. */
export function catalogueAnswer(query: ParsedQuery, world: World): object {
  const locale = localeOf(query)
  const wanted = query.taxonomy_terms as readonly string[] | undefined
  const indicators = INDICATORS.filter((row) => !wanted || isFiled(row, wanted)).map((row) => {
    const description = descriptionOf(row, locale)
    return { name: row[locale], ...(description && { description }), short_name: row.short, id: row.id }
  })
  const scripted = wanted ? [] : world.scripts.filter(({ kind = 'indicator' }) => kind === 'indicator')
  for (const { id, name = `Serie ${id}` } of scripted)
    if (!indicators.some((row) => row.id === id)) indicators.push({ name, short_name: name, id })
  return { indicators, meta: { size: indicators.length } }
}
