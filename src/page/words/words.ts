import { archives, indicators, search, texts } from './catalogue.ts'
import { common, coverage, home } from './common.ts'
import { PAGE_LOCALES, type PageLocale } from './locale.ts'
import { queues, runs, sql } from './operation.ts'
import { explain, series, vintages } from './series.ts'

/** The texts of all pages, from the files of this folder. */
const PARTS = {
  common,
  archives,
  coverage,
  explain,
  home,
  indicators,
  runs,
  search,
  series,
  sql,
  texts,
  vintages,
  queues,
}

type Value = string | number

/** A text, or a function if it has placeholders, of which `{2}` is the third. */
type Message<Text extends string> = Text extends `${string}{2${string}`
  ? (first: Value, second: Value, third: Value) => string
  : Text extends `${string}{1${string}`
    ? (first: Value, second: Value) => string
    : Text extends `${string}{0${string}`
      ? (first: Value) => string
      : string

type InOneLanguage<T> = T extends readonly [infer English extends string, string]
  ? Message<English>
  : { readonly [K in keyof T]: InOneLanguage<T[K]> }

/** The page's own words in one language, by part. */
export type Words = InOneLanguage<typeof PARTS>

/** `{0}` is the first value, `{0|row|rows}` a count with its noun, `{0?was|were}` a word that agrees with the count. */
const PLACEHOLDER = /\{(\d)(?:([|?])([^|}]*)\|([^}]*))?\}/g

function message(template: string, locale: PageLocale): string | ((...values: readonly Value[]) => string) {
  if (!template.includes('{0')) return template
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

/** Texts in one language. */
const wordsIn = (parts: object, i: number): unknown =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      Array.isArray(part) ? message(part[i] as string, PAGE_LOCALES[i]!) : wordsIn(part as object, i),
    ]),
  )

/** The page's words by language. */
export const WORDS = Object.fromEntries(PAGE_LOCALES.map((locale, i) => [locale, wordsIn(PARTS, i)])) as Readonly<
  Record<PageLocale, Words>
>
