/** The languages of the page, and of the names in it; the first one is the default. */
export const PAGE_LOCALES = ['en', 'es'] as const
export type PageLocale = (typeof PAGE_LOCALES)[number]

export const isLocale = (text: string | null | undefined): text is PageLocale =>
  (PAGE_LOCALES as readonly (string | null | undefined)[]).includes(text)

/** The type of a translation: `es: Translated<typeof en>`. A missing text is a type error. */
export type Translated<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { readonly [K in keyof T]: Translated<T[K]> }
