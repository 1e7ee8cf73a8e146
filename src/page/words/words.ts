import * as archives from './archives.ts'
import * as coverage from './coverage.ts'
import * as common from './everywhere.ts'
import * as explain from './explain.ts'
import * as home from './home.ts'
import * as indicators from './indicators.ts'
import { PAGE_LOCALES, type PageLocale } from './locale.ts'
import * as queues from './queues.ts'
import * as runs from './runs.ts'
import * as search from './search.ts'
import * as series from './series.ts'
import * as sql from './sql.ts'
import * as texts from './texts.ts'
import * as vintages from './vintages.ts'

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

/** The page's own words in one language, by part. */
export type Words = { readonly [P in keyof typeof PARTS]: (typeof PARTS)[P]['en'] }

const wordsIn = (locale: PageLocale): Words =>
  Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [name, part[locale]])) as unknown as Words

/** The page's words by language. */
export const WORDS = Object.fromEntries(PAGE_LOCALES.map((locale) => [locale, wordsIn(locale)])) as Readonly<
  Record<PageLocale, Words>
>
