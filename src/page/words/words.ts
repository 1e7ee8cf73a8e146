import { archives } from './archives.ts'
import { coverage } from './coverage.ts'
import { common } from './everywhere.ts'
import { explain } from './explain.ts'
import { home } from './home.ts'
import { indicators } from './indicators.ts'
import { PAGE_LOCALES, type PageLocale, type Pair } from './locale.ts'
import { queues } from './queues.ts'
import { runs } from './runs.ts'
import { search } from './search.ts'
import { series } from './series.ts'
import { sql } from './sql.ts'
import { texts } from './texts.ts'
import { vintages } from './vintages.ts'

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

type InOneLanguage<T> = T extends Pair<infer Text> ? Text : { readonly [K in keyof T]: InOneLanguage<T[K]> }

/** The page's own words in one language, by part. */
export type Words = InOneLanguage<typeof PARTS>

/** Texts in one language. */
const wordsIn = (parts: object, i: number): unknown =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, Array.isArray(part) ? part[i] : wordsIn(part as object, i)]),
  )

/** The page's words by language. */
export const WORDS = Object.fromEntries(PAGE_LOCALES.map((locale, i) => [locale, wordsIn(PARTS, i)])) as Readonly<
  Record<PageLocale, Words>
>
