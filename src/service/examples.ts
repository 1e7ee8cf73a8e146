import type { Service } from './service.ts'

/** What examples in messages are about. */
export interface Examples {
  readonly indicator: number
  readonly second: number
  /** A word of texts, and a term of the catalogue. */
  readonly word: string
  readonly term: string
}

/** Returns examples from the data of a service. */
export function examplesOf({ wellKnown, exampleTexts }: Pick<Service, 'wellKnown' | 'exampleTexts'>): Examples {
  const [indicator = 1, second = 2] = Object.values(wellKnown).flatMap((series) => series.indicator ?? [])
  return { indicator, second, ...(exampleTexts ?? { word: 'word', term: 'term' }) }
}
