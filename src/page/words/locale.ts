/** The languages of the page, and of the names in it; the first one is the default. */
export const PAGE_LOCALES = ['en', 'es'] as const
export type PageLocale = (typeof PAGE_LOCALES)[number]

/** The parameter by which the switch of the page chooses a language that the browser keeps; `lang` is that of one address. */
export const LANGUAGE_CHOICE = 'language'

export const isLocale = (text: string | null | undefined): text is PageLocale =>
  (PAGE_LOCALES as readonly (string | null | undefined)[]).includes(text)
