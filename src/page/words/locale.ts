/** The languages of the page, and of the names in it; the first one holds where nothing is asked for. */
export const LOCALES = ['en', 'es'] as const
export type Locale = (typeof LOCALES)[number]

export const isLocale = (text: string | null | undefined): text is Locale =>
  (LOCALES as readonly (string | null | undefined)[]).includes(text)

/** What a language must say that another one says: `es: Translated<typeof en>`. A missing word is a type error. */
export type Translated<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { readonly [K in keyof T]: Translated<T[K]> }
