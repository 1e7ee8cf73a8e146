import { PAGE_LOCALES, type PageLocale } from './locale.ts'
import SENTENCES from './sentences.json' with { type: 'json' }
import TEXTS from './texts.json' with { type: 'json' }
import TRANSLATIONS from './translations.es.json' with { type: 'json' }

type Value = string | number
type Sentence = (...values: readonly Value[]) => string

/** Texts by names that the service may add to. */
type OpenName = 'kinds' | 'steps' | 'targets'

/** The texts of a file in one language. */
type InOneLanguage<T, Text> = {
  readonly [K in keyof T]: T[K] extends readonly string[]
    ? Text
    : K extends OpenName
      ? Readonly<Record<string, Text>>
      : InOneLanguage<T[K], Text>
}

/** The page's own words in one language, by part: texts, and sentences that take values. */
export type Words = InOneLanguage<typeof TEXTS, string> & InOneLanguage<typeof SENTENCES, Sentence>

/** `{0}` is the first value, `{0|row|rows}` a count with its noun, `{0?was|were}` a word that agrees with the count. */
const PLACEHOLDER = /\{(\d)(?:([|?])([^|}]*)\|([^}]*))?\}/g

function sentence(template: string, locale: PageLocale): Sentence {
  const plural = new Intl.PluralRules(locale)
  return (...values) =>
    template.replaceAll(PLACEHOLDER, (_, place: string, kind?: string, one?: string, other?: string) => {
      const value = values[Number(place)]!
      const text = typeof value === 'number' ? value.toLocaleString(locale) : value
      if (kind === undefined) return text
      const word = plural.select(Number(value)) === 'one' ? one! : other!
      return kind === '|' ? `${text} ${word}` : word
    })
}

/** The texts of one part in the language with a number. */
const pick = (texts: object, i: number, make: (text: string) => unknown): object =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Array.isArray(text) ? make(text[i]) : pick(text, i, make)]),
  )

const wordsIn = (locale: PageLocale, i: number): object =>
  Object.fromEntries(
    Object.entries(TEXTS).map(([part, texts]) => {
      const sentences = (SENTENCES as Readonly<Record<string, object>>)[part] ?? {}
      return [part, { ...pick(texts, i, String), ...pick(sentences, i, (text) => sentence(text, locale)) }]
    }),
  )

/** The page's words by language. */
export const WORDS = Object.fromEntries(PAGE_LOCALES.map((locale, i) => [locale, wordsIn(locale, i)])) as Readonly<
  Record<PageLocale, Words>
>

/** The Spanish of a text that the program has in English elsewhere, by its code, name or English text. */
export const translation = (locale = '', part: keyof typeof TRANSLATIONS, key: string | null): string | undefined =>
  locale === 'es' ? (TRANSLATIONS[part] as Readonly<Record<string, string>>)[key ?? ''] : undefined
